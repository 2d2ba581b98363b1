#include "wire/json_writer.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "wire/json_scalar.h"
#include "wire/map_fields.h"
#include "wire/parse_memory.h"

namespace hearth::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::util::TimeUtil;

constexpr size_t kIndentSpaces = 2;
constexpr size_t kNumberBytesMax = 32;
constexpr size_t kEscapeBytesMax = 6;  // \u0000

// Writes one message with its contents.
class Writer {
 public:
  Writer(const JsonForm& form, std::string* out, MemoryClaim* claim)
      : form_(form), json_(*out), claim_(claim), begin_(out->size()) {}

  const Status& status() const { return status_; }
  // Not written completely, because it would be too long with white space.
  bool is_too_long() const { return is_too_long_; }

  void Object(const Message& message);

 private:
  // For a field, at `index` if it is repeated.
  void Value(const Message& message, const FieldDescriptor& field, int index);
  void MessageValue(const Message& message);
  void Field(const Message& message, const FieldDescriptor& field);
  void Map(const Message& message, const FieldDescriptor& field);
  void List(const Message& message, const FieldDescriptor& field);
  void Enum(const FieldDescriptor& field, int number);
  void Key(std::string_view key);
  void Text(std::string_view text);
  void Bytes(std::string_view bytes) {
    if (MakeRoom(2 * bytes.size())) Quote(EncodeBase64(bytes));
  }
  // For text that needs no escapes.
  void Quote(std::string_view text) { json_.append("\"").append(text).append("\""); }
  template <typename T>
  void Number(T number);
  template <typename T>
  void Real(T number);
  template <typename T>
  void QuotedNumber(T number);
  template <typename T>
  void Time(const T& time);
  void StructValue(const google::protobuf::Value& value);

  void Open(char bracket) {
    json_ += bracket;
    ++depth_;
    is_first_ = true;
  }
  void Close(char bracket) {
    --depth_;
    if (!is_first_) NewLine();
    is_first_ = false;
    json_ += bracket;
    MakeRoom(0);
  }
  // Before each element of an object or a list. False if there will be none, because the message
  // cannot be written.
  bool Next() {
    if (!std::exchange(is_first_, false)) json_ += ',';
    NewLine();
    return MakeRoom(kNumberBytesMax);
  }
  // Claims memory for `bytes` more, and for what has been written before, if need be. False if the
  // message cannot be written.
  bool MakeRoom(size_t bytes) {
    if (json_.size() - begin_ + bytes > room_bytes_) ClaimRoom(json_.size() - begin_ + bytes);
    return status_.ok() && !is_too_long_;
  }
  void ClaimRoom(size_t bytes);
  void NewLine() {
    if (form_.layout == JsonLayout::kCompact) return;
    json_ += '\n';
    json_.append(depth_ * kIndentSpaces, ' ');
  }

  const JsonForm form_;
  std::string& json_;
  MemoryClaim* const claim_;  // Null: no limit.
  const size_t begin_;
  size_t room_bytes_ = kUnclaimedBytesMax;
  size_t depth_ = 0;
  bool is_first_ = true;
  bool is_too_long_ = false;
  Status status_;
};

void Writer::ClaimRoom(size_t bytes) {
  const bool is_indented = form_.layout == JsonLayout::kIndented;
  if (is_indented && bytes > kIndentedBytesMax) {
    is_too_long_ = true;
    return;
  }
  size_t room = std::max(bytes, 2 * room_bytes_);
  if (is_indented) room = std::min(room, kIndentedBytesMax);
  if (claim_ != nullptr && !claim_->Grow(room - room_bytes_)) {
    status_ = NoMemoryForMessage();
    return;
  }
  room_bytes_ = room;
  json_.reserve(begin_ + room);
}

void Writer::Object(const Message& message) {
  Open('{');
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (!Next()) return;
    Key(field->json_name());
    Field(message, *field);
  }
  Close('}');
}

void Writer::Field(const Message& message, const FieldDescriptor& field) {
  if (field.is_map()) return Map(message, field);
  if (field.is_repeated()) return List(message, field);
  Value(message, field, -1);
}

void Writer::Map(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const FieldDescriptor& key_field = *field.message_type()->map_key();
  const FieldDescriptor& value_field = *field.message_type()->map_value();
  if (key_field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    status_ = Status(Code::kInternal, "the keys of " + field.full_name() + " are not strings");
    return;
  }
  if (IsMapOfMessages(field)) {
    Open('{');
    for (const auto& [key, value] : SortedMap(message, field)) {
      if (!Next()) return;
      Key(key);
      MessageValue(*value);
    }
    return Close('}');
  }
  std::vector<std::pair<std::string, const Message*>> entries;
  const int count = reflection.FieldSize(message, &field);
  entries.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    entries.emplace_back(entry.GetReflection()->GetString(entry, &key_field), &entry);
  }
  std::ranges::sort(entries);
  Open('{');
  for (const auto& [key, entry] : entries) {
    if (!Next()) return;
    Key(key);
    Field(*entry, value_field);
  }
  Close('}');
}

void Writer::List(const Message& message, const FieldDescriptor& field) {
  Open('[');
  const int count = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < count; ++i) {
    if (!Next()) return;
    Value(message, field, i);
  }
  Close(']');
}

void Writer::Value(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) {
    return index < 0 ? (reflection.*single)(message, &field)
                     : (reflection.*repeated)(message, &field, index);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return Number(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_UINT32:
      return Number(get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return QuotedNumber(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT64:
      return QuotedNumber(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return Real(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Real(get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      json_ += get(&Reflection::GetBool, &Reflection::GetRepeatedBool) ? "true" : "false";
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      return Enum(field, get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue));
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string scratch;
      const std::string& text =
          index < 0 ? reflection.GetStringReference(message, &field, &scratch)
                    : reflection.GetRepeatedStringReference(message, &field, index, &scratch);
      return field.type() == FieldDescriptor::TYPE_BYTES ? Bytes(text) : Text(text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageValue(index < 0 ? reflection.GetMessage(message, &field)
                                    : reflection.GetRepeatedMessage(message, &field, index));
  }
}

void Writer::MessageValue(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  if (!type.full_name().starts_with("google.protobuf.")) return Object(message);
  if (const auto* time = dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return Time(*time);
  }
  if (const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return Time(*duration);
  }
  if (const auto* value = dynamic_cast<const google::protobuf::Value*>(&message)) {
    return StructValue(*value);
  }
  const FieldDescriptor* only_field = type.FindFieldByNumber(1);
  const bool is_transparent = IsWrapperType(type) || type.full_name() == "google.protobuf.Struct" ||
                              type.full_name() == "google.protobuf.ListValue";
  if (is_transparent) return Field(message, *only_field);
  Object(message);
}

template <typename T>
void Writer::Time(const T& time) {
  const bool is_valid = time.seconds() >= TimeUtil::kTimestampMinSeconds &&
                        time.seconds() <= TimeUtil::kTimestampMaxSeconds &&
                        std::abs(time.nanos()) < 1'000'000'000;
  if (!is_valid) {
    status_ = Status(Code::kInternal, "JSON has no form for a time of " +
                                          std::to_string(time.seconds()) + " seconds");
    return;
  }
  Quote(TimeUtil::ToString(time));
}

void Writer::StructValue(const google::protobuf::Value& value) {
  std::vector<const FieldDescriptor*> fields;
  value.GetReflection()->ListFields(value, &fields);
  if (fields.empty()) {
    json_ += "null";
    return;
  }
  Value(value, *fields.front(), -1);
}

void Writer::Enum(const FieldDescriptor& field, int number) {
  if (field.enum_type()->full_name() == "google.protobuf.NullValue") {
    json_ += "null";
    return;
  }
  const auto* named = field.enum_type()->FindValueByNumber(number);
  if (form_.enums == JsonEnums::kNumbers || named == nullptr) return Number(number);
  Quote(named->name());
}

void Writer::Key(std::string_view key) {
  Text(key);
  json_ += form_.layout == JsonLayout::kCompact ? ":" : ": ";
}

template <typename T>
void Writer::Number(T number) {
  std::array<char, kNumberBytesMax> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  json_.append(digits.data(), end);
}

template <typename T>
void Writer::QuotedNumber(T number) {
  json_ += '"';
  Number(number);
  json_ += '"';
}

template <typename T>
void Writer::Real(T number) {
  if (std::isnan(number)) return Quote("NaN");
  if (std::isinf(number)) return Quote(number > 0 ? "Infinity" : "-Infinity");
  // Without a fraction or an exponent, JSON readers would lose the sign of a zero.
  if (number == 0 && std::signbit(number)) {
    json_ += "-0.0";
    return;
  }
  Number(number);
}

void Writer::Text(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  if (!MakeRoom(text.size())) return;
  json_ += '"';
  size_t copied = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
    json_.append(text.substr(copied, i - copied));
    copied = i + 1;
    if (!MakeRoom(kEscapeBytesMax + text.size() - copied)) return;
    if (byte == '"' || byte == '\\') {
      json_.append({'\\', text[i]});
    } else if (byte == '\n') {
      json_ += "\\n";
    } else if (byte == '\r') {
      json_ += "\\r";
    } else if (byte == '\t') {
      json_ += "\\t";
    } else {
      json_.append("\\u00").append({kHexDigits[byte >> 4], kHexDigits[byte & 15]});
    }
  }
  json_.append(text.substr(copied)).append("\"");
}

}  // namespace

Status WriteJson(const Message& message, const JsonForm& form, std::string* json,
                 MemoryClaim* claim) {
  const size_t begin = json->size();
  Writer writer(form, json, claim);
  writer.Object(message);
  if (!writer.is_too_long()) return writer.status();
  json->resize(begin);
  return WriteJson(message, {.enums = form.enums, .layout = JsonLayout::kCompact}, json, claim);
}

}  // namespace hearth::wire
