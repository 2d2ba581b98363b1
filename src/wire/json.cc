#include "wire/json.h"

#include <google/protobuf/message.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/http_status.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;

std::unique_ptr<Message> NewMessage(const Descriptor& type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

}  // namespace

Result<std::string> MessageFromJson(const Descriptor& type, std::string_view json,
                                    MemoryClaim* claim) {
  const size_t before = claim == nullptr ? 0 : claim->bytes();
  const std::unique_ptr<Message> message = NewMessage(type);
  RETURN_IF_ERROR(ReadJson(json, message.get(), "", claim));
  std::string bytes = message->SerializeAsString();
  if (claim != nullptr && !claim->Resize(before + bytes.size())) return NoMemoryForMessage();
  return bytes;
}

Result<std::string> JsonFromMessage(const Descriptor& type, std::string_view message,
                                    const JsonForm& form, MemoryClaim* claim) {
  const size_t before = claim == nullptr ? 0 : claim->bytes();
  if (claim != nullptr) RETURN_IF_ERROR(ClaimParsed(type, message, claim));
  const size_t parsed_bytes = claim == nullptr ? 0 : claim->bytes() - before;
  const std::unique_ptr<Message> parsed = NewMessage(type);
  if (!parsed->ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status(Code::kInternal, "an answer cannot be read as " + type.full_name());
  }
  std::string json;
  RETURN_IF_ERROR(WriteJson(*parsed, form, &json, claim));
  if (claim != nullptr) claim->Shrink(parsed_bytes);
  return json;
}

Result<std::string> JsonFromMessage(const Descriptor& type, std::string_view message,
                                    JsonEnums enums, MemoryClaim* claim) {
  return JsonFromMessage(type, message, JsonForm{.enums = enums}, claim);
}

std::string JsonFromError(const Status& status, JsonLayout layout) {
  return JsonFromError(HttpStatusOf(status.code()), status, layout);
}

std::string JsonFromError(int http_status, const Status& status, JsonLayout layout) {
  const nlohmann::ordered_json error = {
      {"error",
       {{"code", http_status},
        {"message", Beginning(status.message(), kStatusMessageBytesMax)},
        {"status", CodeName(status.code())}}}};
  const int indent = layout == JsonLayout::kCompact ? -1 : 2;
  const bool ensure_ascii = false;
  return error.dump(indent, ' ', ensure_ascii, nlohmann::json::error_handler_t::replace);
}

}  // namespace hearth::wire
