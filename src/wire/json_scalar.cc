#include "wire/json_scalar.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/base64.h"
#include "base/text.h"

namespace hearth::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T number = {};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<double> ParseDouble(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const std::optional<double> number = ParseNumber<double>(text);
  // from_chars accepts other spellings of these.
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// The integer value of `value`, in whichever form it is written; nullopt if T cannot hold it.
template <typename T>
std::optional<T> ToInteger(const JsonScalar& value) {
  const auto from_double = [](double number) -> std::optional<T> {
    // The bounds are exact powers of two; the maximum value of the type is not.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double begin = std::numeric_limits<T>::is_signed ? -end : 0;
    if (!(number >= begin && number < end) || number != std::trunc(number)) return std::nullopt;
    return static_cast<T>(number);
  };
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return std::in_range<T>(*number) ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
  if (const auto* number = std::get_if<uint64_t>(&value)) {
    return std::in_range<T>(*number) ? std::optional<T>(static_cast<T>(*number)) : std::nullopt;
  }
  if (const auto* number = std::get_if<double>(&value)) return from_double(*number);
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (const std::optional<T> number = ParseNumber<T>(*text)) return number;
    const std::optional<double> number = ParseDouble(*text);  // "1e3"
    return number ? from_double(*number) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> ToDouble(const JsonScalar& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return ParseDouble(*text);
  return std::nullopt;
}

std::optional<bool> ToBool(const JsonScalar& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && *text == "true") return true;
  if (text != nullptr && *text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> ToText(const FieldDescriptor& field, JsonScalar& value) {
  auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return std::nullopt;
  if (field.type() == FieldDescriptor::TYPE_BYTES) return DecodeAnyBase64(*text);
  return std::move(*text);
}

std::optional<int> ToEnum(const FieldDescriptor& field, const JsonScalar& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    const EnumValueDescriptor* named = field.enum_type()->FindValueByName(*text);
    if (named != nullptr) return named->number();
  }
  return ToInteger<int32_t>(value);
}

std::string Quoted(const JsonScalar& value) {
  struct Visitor {
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(int64_t number) const { return std::to_string(number); }
    std::string operator()(uint64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const {
      char digits[32];
      return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
    }
    std::string operator()(const std::string& text) const {
      return "\"" + std::string(Beginning(text, kQuotedBytesMax)) + "\"";
    }
  };
  return std::visit(Visitor(), value);
}

template <typename T>
void Put(Message* message, const FieldDescriptor& field, T value,
         void (Reflection::*set)(Message*, const FieldDescriptor*, T) const,
         void (Reflection::*add)(Message*, const FieldDescriptor*, T) const) {
  const auto put = field.is_repeated() ? add : set;
  (message->GetReflection()->*put)(message, &field, std::move(value));
}

// Parses `text` as a time or a duration into the message that `field` holds.
template <typename T>
bool SetTime(Message* message, const FieldDescriptor& field, const JsonScalar& value) {
  const auto* text = std::get_if<std::string>(&value);
  T parsed;
  if (text == nullptr || !TimeUtil::FromString(*text, &parsed)) return false;
  const Reflection& reflection = *message->GetReflection();
  Message* target = field.is_repeated() ? reflection.AddMessage(message, &field)
                                        : reflection.MutableMessage(message, &field);
  target->CopyFrom(parsed);
  return true;
}

bool SetMessage(Message* message, const FieldDescriptor& field, JsonScalar& value) {
  const Descriptor& type = *field.message_type();
  if (type.full_name() == "google.protobuf.Timestamp") {
    return SetTime<google::protobuf::Timestamp>(message, field, value);
  }
  if (type.full_name() == "google.protobuf.Duration") {
    return SetTime<google::protobuf::Duration>(message, field, value);
  }
  if (!IsWrapperType(type) || field.is_repeated()) return false;
  Message* wrapper = message->GetReflection()->MutableMessage(message, &field);
  return SetJsonScalar(wrapper, *type.FindFieldByNumber(1), value);
}

}  // namespace

bool SetJsonScalar(Message* message, const FieldDescriptor& field, JsonScalar& value) {
  const auto put = [&](auto converted, auto set, auto add) {
    if (converted) Put(message, field, *std::move(converted), set, add);
    return converted.has_value();
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return put(ToInteger<int32_t>(value), &Reflection::SetInt32, &Reflection::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return put(ToInteger<int64_t>(value), &Reflection::SetInt64, &Reflection::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return put(ToInteger<uint32_t>(value), &Reflection::SetUInt32, &Reflection::AddUInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return put(ToInteger<uint64_t>(value), &Reflection::SetUInt64, &Reflection::AddUInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return put(ToDouble(value), &Reflection::SetDouble, &Reflection::AddDouble);
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const std::optional<double> number = ToDouble(value);
      if (!number) return false;
      Put(message, field, static_cast<float>(*number), &Reflection::SetFloat,
          &Reflection::AddFloat);
      return true;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      return put(ToBool(value), &Reflection::SetBool, &Reflection::AddBool);
    case FieldDescriptor::CPPTYPE_ENUM:
      return put(ToEnum(field, value), &Reflection::SetEnumValue, &Reflection::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING:
      return put(ToText(field, value), &Reflection::SetString, &Reflection::AddString);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return SetMessage(message, field, value);
  }
  return false;
}

Status UnknownJsonName(std::string_view name, std::string_view location, std::string_view why) {
  std::string text = "Invalid JSON payload received. Unknown name \"";
  text.append(Beginning(name, kQuotedBytesMax)).append("\"");
  if (!location.empty()) text.append(" at '").append(location).append("'");
  return InvalidArgument(text.append(": ").append(why));
}

Status InvalidJsonValue(std::string_view location, std::string_view type, std::string_view value) {
  std::string text = "Invalid value";
  if (!location.empty()) text.append(" at '").append(location).append("'");
  text.append(" (").append(type).append("), ").append(value);
  return InvalidArgument(std::move(text));
}

std::string JsonTypeName(const FieldDescriptor& field) {
  constexpr std::string_view kDomain = "type.googleapis.com/";
  if (field.message_type() != nullptr) {
    return std::string(kDomain) + field.message_type()->full_name();
  }
  if (field.enum_type() != nullptr) return std::string(kDomain) + field.enum_type()->full_name();
  using Proto = google::protobuf::FieldDescriptorProto;
  return Proto::Type_Name(static_cast<Proto::Type>(field.type()));
}

const FieldDescriptor* FindJsonField(const Descriptor& type, std::string_view name) {
  const std::string text(name);
  // Equal to the JSON name of every field without an explicit json_name.
  const FieldDescriptor* field = type.FindFieldByCamelcaseName(text);
  return field != nullptr ? field : type.FindFieldByName(text);
}

Status InvalidJsonScalar(std::string_view location, const FieldDescriptor& field,
                         const JsonScalar& value) {
  return InvalidJsonValue(location, JsonTypeName(field), Quoted(value));
}

bool IsWrapperType(const Descriptor& type) {
  return type.file()->name() == "google/protobuf/wrappers.proto";
}

bool IsJsonScalarType(const Descriptor& type) {
  return IsWrapperType(type) || type.full_name() == "google.protobuf.Timestamp" ||
         type.full_name() == "google.protobuf.Duration";
}

}  // namespace hearth::wire
