#include "doors/webchannel/channel_request.h"

#include <algorithm>
#include <charconv>

#include "base/status_macros.h"
#include "base/text.h"
#include "doors/webchannel/options.h"
#include "wire/json.h"

namespace hearth::doors::webchannel {
namespace {

constexpr std::string_view kMapPrefix = "req";
constexpr std::string_view kDataSuffix = "___data__";
constexpr std::string_view kResourcePrefix = "google-cloud-resource-prefix";
// The fields of a body besides the maps: headers, count, ofs and possible future ones.
constexpr size_t kOtherBodyFieldsMax = 16;
// No client reaches a greater index: no sum of two of them overflows.
constexpr uint64_t kIndexMax = uint64_t{1} << 53;

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number > kIndexMax) return std::nullopt;
  return number;
}

// An optional number; `otherwise` if it is missing.
Result<uint64_t> NumberField(const Form& form, std::string_view name, uint64_t otherwise) {
  const std::optional<std::string_view> text = form.Find(name);
  if (!text) return otherwise;
  const std::optional<uint64_t> number = ParseNumber(*text);
  if (!number) return InvalidArgument(std::string(name) + " is not a number");
  return *number;
}

// The number in "req7___data__"; nullopt for other fields.
std::optional<uint64_t> MapNumber(std::string_view name) {
  if (!name.starts_with(kMapPrefix) || !name.ends_with(kDataSuffix)) return std::nullopt;
  name.remove_prefix(kMapPrefix.size());
  if (name.size() <= kDataSuffix.size()) return std::nullopt;
  name.remove_suffix(kDataSuffix.size());
  return ParseNumber(name);
}

// The client must not try again, as it does after ResourceExhausted: it would send the same message
// for ever, and none of those behind it.
Status TooLarge() {
  return InvalidArgument(
      "Request payload size exceeds the limit: " + std::to_string(kMessageBytesMax) + " bytes.");
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

bool IsHeaderValue(std::string_view value) {
  return std::ranges::none_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

// Adds the lines "Name: value" of `block`. Other lines are skipped: if a method needs a field and
// does not find it, it reports the error itself.
void AddHeaderBlock(std::string_view block, http::RequestHead* head) {
  if (block.size() > kHeaderBlockBytesMax) return;
  while (!block.empty()) {
    std::string_view line = block.substr(0, block.find('\n'));
    block.remove_prefix(std::min(line.size() + 1, block.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = Trim(line.substr(0, colon));
    const std::string_view value = Trim(line.substr(colon + 1));
    if (IsHeaderName(name) && IsHeaderValue(value)) head->AddHeader(name, value);
  }
}

Result<ChannelQuery> ParseBackChannel(const Form& query, ChannelQuery parsed) {
  parsed.kind = RequestKind::kBack;
  const std::string_view type = query.Find("TYPE").value_or("xmlhttp");
  if (type != "xmlhttp") return InvalidArgument("this TYPE of back channel is not supported");
  const std::string_view buffered = query.Find("CI").value_or("0");
  if (buffered != "0" && buffered != "1") return InvalidArgument("CI is neither 0 nor 1");
  parsed.mode = buffered == "1" ? BackChannelMode::kPolling : BackChannelMode::kStreaming;
  if (query.Find("TO")) {
    ASSIGN_OR_RETURN(const uint64_t milliseconds, NumberField(query, "TO", 0));
    parsed.poll_timeout = std::chrono::milliseconds(milliseconds);
  }
  return parsed;
}

}  // namespace

Result<ChannelQuery> ParseChannelQuery(std::string_view method, const Form& query) {
  if (method != "GET" && method != "POST") return InvalidArgument("the method must be GET or POST");
  ChannelQuery parsed;
  if (const auto version = query.Find("VER"); version && version != "8") {
    return InvalidArgument("this version of the protocol is not supported");
  }
  const std::string_view session_id = query.Find("SID").value_or("");
  if (session_id != "null") parsed.session_id = session_id;
  if (query.Find("AID")) {
    ASSIGN_OR_RETURN(parsed.acknowledged, NumberField(query, "AID", 0));
  }
  // A page that is being closed can only send a request without a body, or a GET.
  if (query.Find("TYPE") == "terminate") {
    parsed.kind = RequestKind::kTerminate;
    return parsed;
  }
  const std::string_view request_id = query.Find("RID").value_or("");
  if (request_id == "rpc") {
    if (method != "GET") return InvalidArgument("a back channel must use GET");
    return ParseBackChannel(query, std::move(parsed));
  }
  if (method != "POST") return InvalidArgument("a GET must open a back channel");
  if (!ParseNumber(request_id)) return InvalidArgument("RID is not a number");
  parsed.kind = parsed.session_id.empty() ? RequestKind::kHandshake : RequestKind::kForward;
  parsed.wants_session_header = query.Find("X-HTTP-Session-Id").has_value();
  return parsed;
}

size_t BodyFieldsMax() { return kMapsPerRequestMax + kOtherBodyFieldsMax; }

Result<std::vector<IncomingMap>> ReadMaps(const Form& body,
                                          const google::protobuf::Descriptor& type,
                                          MemoryClaim* claim) {
  ASSIGN_OR_RETURN(const uint64_t count, NumberField(body, "count", 0));
  ASSIGN_OR_RETURN(const uint64_t first, NumberField(body, "ofs", 0));
  if (count > kMapsPerRequestMax) return InvalidArgument("too many maps in one request");
  std::vector<IncomingMap> maps;
  for (const auto& [name, value] : body.fields()) {
    if (const std::optional<uint64_t> number = MapNumber(name)) {
      Result<std::string> message = wire::MessageFromJson(type, value, claim);
      if (message.ok() && message->size() > kMessageBytesMax) message = TooLarge();
      maps.push_back({.index = first + *number, .message = std::move(message)});
    }
  }
  if (maps.size() != count) return InvalidArgument("count is not the number of maps");
  std::ranges::sort(maps, {}, &IncomingMap::index);
  const auto repeated = std::ranges::adjacent_find(maps, {}, &IncomingMap::index);
  if (repeated != maps.end()) return InvalidArgument("a map occurs twice");
  return maps;
}

http::RequestHead MakeCallHead(const http::RequestHead& request, std::string_view method_path,
                               const Form& query, const Form& body) {
  http::RequestHead head;
  head.set_method("POST");
  head.set_target(method_path);
  head.set_authority(request.authority());
  head.set_scheme(request.scheme());
  head.set_version(request.version());
  AddHeaderBlock(body.Find("headers").value_or(""), &head);
  AddHeaderBlock(query.Find("$httpHeaders").value_or(""), &head);
  for (size_t i = 0; i < request.header_count(); ++i) {
    const http::Header header = request.header(i);
    if (!head.Find(header.name)) head.AddHeader(header.name, header.value);
  }
  const std::optional<std::string_view> database = query.Find("database");
  if (database && IsHeaderValue(*database) && !head.Find(kResourcePrefix)) {
    head.AddHeader(kResourcePrefix, *database);
  }
  return head;
}

}  // namespace hearth::doors::webchannel
