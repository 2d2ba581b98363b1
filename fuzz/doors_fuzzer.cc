// Input from browsers and curl, as arbitrary bytes: JSON, REST paths and parameters, WebChannel
// forms. Every message that is accepted must survive a round trip through JSON.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doors/rest/bindings.h"
#include "doors/rest/query_parameters.h"
#include "doors/rest/transcoder.h"
#include "doors/webchannel/channel_request.h"
#include "doors/webchannel/form.h"
#include "google/firestore/v1/firestore.pb.h"
#include "wire/json.h"
#include "wire/requests.h"

namespace hearth::doors {
namespace {

namespace proto = ::google::firestore::v1;

void FuzzJson(const google::protobuf::Descriptor& type, std::string_view text) {
  const Result<std::string> message = wire::MessageFromJson(type, text);
  if (!message.ok()) return;
  const Result<std::string> json = wire::JsonFromMessage(type, *message, wire::JsonEnums::kNames);
  if (!json.ok()) return;  // Times can be outside the range of JSON.
  const Result<std::string> again = wire::MessageFromJson(type, *json);
  CHECK(again.ok());
}

// A request line, "METHOD path?query", then the body.
void FuzzRest(std::string_view text) {
  static const rest::Bindings bindings(*proto::ListenRequest::descriptor()->file()->service(0));
  const size_t line_end = text.find('\n');
  const std::string_view line = text.substr(0, line_end);
  const std::string_view body =
      line_end == std::string_view::npos ? std::string_view() : text.substr(line_end + 1);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view target = line.substr(space + 1);
  const size_t mark = target.find('?');
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  const std::optional<rest::QueryParameters> parameters = rest::ParseQuery(query);
  if (!parameters) return;
  (void)rest::ReadAnswerForm(*parameters);
  const std::optional<rest::Match> match =
      bindings.Find(line.substr(0, space), target.substr(0, mark));
  if (match) (void)rest::MakeRequest(*match, *parameters, body);
}

void FuzzChannel(std::string_view text) {
  const std::optional<webchannel::Form> query =
      webchannel::Form::Parse(text, webchannel::kQueryFieldsMax);
  if (query) {
    (void)webchannel::ParseChannelQuery("GET", *query);
    (void)webchannel::ParseChannelQuery("POST", *query);
  }
  const std::optional<webchannel::Form> body =
      webchannel::Form::Parse(text, webchannel::BodyFieldsMax());
  if (!body) return;
  (void)webchannel::ReadMaps(*body, *proto::ListenRequest::descriptor());
  http::RequestHead head;
  (void)webchannel::MakeCallHead(head, "/google.firestore.v1.Firestore/Listen", *body, *body);
}

}  // namespace
}  // namespace hearth::doors

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hearth::doors::FuzzJson;
  if (size == 0) return 0;
  static const bool is_silent = [] {
    hearth::wire::SilenceProtobufLog();
    return true;
  }();
  (void)is_silent;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      FuzzJson(*hearth::doors::proto::Document::descriptor(), text);
      break;
    case 1:
      FuzzJson(*hearth::doors::proto::RunQueryRequest::descriptor(), text);
      break;
    case 2:
      hearth::doors::FuzzRest(text);
      break;
    default:
      hearth::doors::FuzzChannel(text);
      break;
  }
  return 0;
}
