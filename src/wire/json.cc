#include "wire/json.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>

namespace hearth::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;

std::unique_ptr<Message> NewMessage(const Descriptor& type) {
  return std::unique_ptr<Message>(MessageFactory::generated_factory()->GetPrototype(&type)->New());
}

}  // namespace

Result<std::string> MessageFromJson(const Descriptor& type, std::string_view json) {
  const std::unique_ptr<Message> message = NewMessage(type);
  const auto parsed =
      google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, message.get());
  if (!parsed.ok()) {
    return InvalidArgument("Invalid JSON payload received. " +
                           std::string(parsed.message().data(), parsed.message().size()));
  }
  return message->SerializeAsString();
}

Result<std::string> JsonFromMessage(const Descriptor& type, std::string_view message,
                                    JsonEnums enums) {
  const std::unique_ptr<Message> parsed = NewMessage(type);
  if (!parsed->ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status(Code::kInternal, "an answer cannot be read as " + type.full_name());
  }
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_enums_as_ints = enums == JsonEnums::kNumbers;
  std::string json;
  const auto printed = google::protobuf::util::MessageToJsonString(*parsed, &json, options);
  if (!printed.ok()) {
    return Status(Code::kInternal, std::string(printed.message().data(), printed.message().size()));
  }
  return json;
}

int HttpStatusOf(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      return 500;
  }
  return 500;
}

std::string JsonFromError(const Status& status) {
  const nlohmann::ordered_json error = {{"error",
                                         {{"code", HttpStatusOf(status.code())},
                                          {"message", status.message()},
                                          {"status", CodeName(status.code())}}}};
  return error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hearth::wire
