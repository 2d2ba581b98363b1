#include "cases/runner/webchannel.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "google/firestore/v1/firestore.pb.h"
#include "http/percent.h"

namespace hearth::cases {
namespace {

// The number of UTF-8 bytes that hold this many UTF-16 units; npos if `text` has fewer.
size_t BytesOfUnits(std::string_view text, size_t units) {
  size_t bytes = 0;
  while (units > 0) {
    if (bytes >= text.size()) return std::string_view::npos;
    const auto first = static_cast<unsigned char>(text[bytes]);
    const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const size_t its_units = size == 4 ? 2 : 1;
    bytes += size;
    units -= std::min(units, its_units);
  }
  return bytes <= text.size() ? bytes : std::string_view::npos;
}

Status StatusOf(const nlohmann::json& error) {
  const std::string name = error.value("status", "");
  for (int i = 0; i <= static_cast<int>(Code::kUnauthenticated); ++i) {
    if (CodeName(static_cast<Code>(i)) == name) {
      return Status(static_cast<Code>(i), error.value("message", ""));
    }
  }
  return Status(Code::kUnknown, "an error of no known form: " + error.dump());
}

const google::protobuf::Message* ResponseOf(const std::string& method) {
  return method == "Listen" ? static_cast<const google::protobuf::Message*>(
                                  &proto::ListenResponse::default_instance())
                            : &proto::WriteResponse::default_instance();
}

}  // namespace

bool TakeChunk(std::string* text, std::string* json) {
  const size_t line_end = text->find('\n');
  if (line_end == std::string::npos) return false;
  size_t units = 0;
  std::from_chars(text->data(), text->data() + line_end, units);
  const std::string_view rest = std::string_view(*text).substr(line_end + 1);
  const size_t bytes = BytesOfUnits(rest, units);
  if (bytes == std::string_view::npos) return false;
  *json = std::string(rest.substr(0, bytes));
  text->erase(0, line_end + 1 + bytes);
  return true;
}

WebChannelStream::WebChannelStream(HttpClient& http, uint16_t port, const std::string& method,
                                   const std::string& database)
    : http_(http),
      url_("http://127.0.0.1:" + std::to_string(port) + "/google.firestore.v1.Firestore/" + method +
           "/channel?VER=8&database=" + http::EncodePercent(database) + "&zx=a&t=1&"),
      response_(ResponseOf(method)) {}

WebChannelStream::~WebChannelStream() {
  back_channel_.reset();
  if (!session_id_.empty()) Post("TYPE=terminate", "");
}

std::string WebChannelStream::Post(const std::string& query, const std::string& form) {
  const std::string session =
      session_id_.empty() ? "" : "SID=" + http::EncodePercent(session_id_) + "&";
  const auto transfer =
      http_.Start({"POST",
                   url_ + session + "RID=" + std::to_string(request_id_++) + "&" + query,
                   {"Content-Type: application/x-www-form-urlencoded"},
                   form});
  const bool came = http_.Until([&] { return transfer->is_done(); });
  if (!came && end_.ok()) end_ = OutOfPatience();
  return came && transfer->http_status() == 200 ? transfer->body() : "";
}

void WebChannelStream::Open(const std::string& form) {
  std::string answer =
      Post("CVER=22&X-HTTP-Session-Id=gsessionid",
           "headers=" + http::EncodePercent("Authorization:Bearer owner\r\n") + "&" + form);
  std::string json;
  const auto arrays =
      TakeChunk(&answer, &json) ? nlohmann::json::parse(json, nullptr, false) : nlohmann::json();
  // [[0, ["c", SID, "", 8, ...]]]
  if (!arrays.is_array() || arrays.empty() || arrays[0].size() < 2 || arrays[0][1].size() < 2 ||
      !arrays[0][1][1].is_string()) {
    end_ = Status(Code::kUnavailable, "the channel was not opened: " + json);
    return;
  }
  session_id_ = arrays[0][1][1];
  OpenBackChannel();
}

void WebChannelStream::OpenBackChannel() {
  back_channel_ =
      http_.Start({"GET", url_ + "SID=" + http::EncodePercent(session_id_) +
                              "&RID=rpc&CI=0&TYPE=xmlhttp&AID=" + std::to_string(last_array_)});
}

void WebChannelStream::Send(const google::protobuf::Message& message) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json);
  if (!status.ok()) end_ = Status(Code::kInternal, std::string(status.message()));
  if (!end_.ok()) return;
  const std::string form =
      "count=1&ofs=" + std::to_string(sent_++) + "&req0___data__=" + http::EncodePercent(json);
  if (session_id_.empty()) return Open(form);
  Post("AID=" + std::to_string(last_array_), form);
}

void WebChannelStream::TakeArrays(std::string_view json) {
  const auto arrays = nlohmann::json::parse(json, nullptr, false);
  for (const nlohmann::json& array : arrays) {
    last_array_ = array.at(0);
    const nlohmann::json& content = array.at(1);
    if (content == nlohmann::json::array({"noop"})) continue;
    if (content == nlohmann::json::array({"close"})) {
      if (end_.ok()) end_ = Status(Code::kOutOfRange, "the stream has ended");
      continue;
    }
    const nlohmann::json& message = content.at(0);
    if (message.contains("error")) {
      end_ = StatusOf(message["error"]);
      continue;
    }
    const std::unique_ptr<google::protobuf::Message> parsed(response_->New());
    const auto status = google::protobuf::util::JsonStringToMessage(message.dump(), parsed.get());
    if (status.ok()) {
      messages_.push_back(parsed->SerializeAsString());
    } else {
      end_ = Status(Code::kInternal, "an invalid message: " + std::string(status.message()));
    }
  }
}

void WebChannelStream::TakeChunks() {
  std::string json;
  while (TakeChunk(&back_channel_->body(), &json)) TakeArrays(json);
}

bool WebChannelStream::HasNews() {
  if (back_channel_) TakeChunks();
  return !messages_.empty() || !end_.ok();
}

Result<std::string> WebChannelStream::Receive() {
  while (messages_.empty()) {
    if (!end_.ok() || !back_channel_) return end_.ok() ? OutOfPatience() : end_;
    const bool came = http_.Until([this] {
      TakeChunks();
      return !messages_.empty() || !end_.ok() || back_channel_->is_done();
    });
    if (!came) return OutOfPatience();
    // A back channel may end while the call continues; the next one starts where it ended.
    if (messages_.empty() && end_.ok()) OpenBackChannel();
  }
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

}  // namespace hearth::cases
