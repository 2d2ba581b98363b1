#include "index/value_key.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "model/path_encoding.h"

namespace hearth::index {
namespace {

using model::ArrayView;
using model::FieldView;
using model::MapView;
using model::ValueType;
using model::ValueView;

// The first byte of an encoding. In the order of types, with gaps between them.
enum Tag : uint8_t {
  kNull = 0x08,
  kBoolean = 0x10,
  kNumber = 0x18,
  kTimestamp = 0x20,
  kString = 0x28,
  kBytes = 0x30,
  kReference = 0x38,
  kGeoPoint = 0x40,
  kArray = 0x48,
  kVector = 0x50,
  kMap = 0x58,
};
constexpr char kEnd = '\x00';    // Ends an array or map: below all tags and kEntry.
constexpr char kEntry = '\x01';  // Before each entry of a map.
constexpr uint64_t kSignBit = uint64_t{1} << 63;
// From here on not every integer is a double: the remainder follows the double.
constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53
constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr size_t kRemainderBytes = 2;  // Doubles below 2^63 are at most 1024 apart.

template <typename Number>
void AppendBigEndian(Number number, std::string* out) {
  for (int shift = (static_cast<int>(sizeof(Number)) - 1) * 8; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(number >> shift));
  }
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

// Maps doubles to unsigned numbers that sort in the same order. NaN is 0, and -0 equals 0.
uint64_t OrderedBits(double number) {
  if (std::isnan(number)) return 0;
  if (number == 0) number = 0;
  const auto bits = std::bit_cast<uint64_t>(number);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

double FromOrderedBits(uint64_t ordered) {
  if (ordered == 0) return std::nan("");
  return std::bit_cast<double>((ordered & kSignBit) != 0 ? ordered & ~kSignBit : ~ordered);
}

bool HasRemainder(double number) {
  return std::abs(number) >= kExactIntegerMax && number >= -kTwoTo63 && number < kTwoTo63;
}

// The largest double that is not above the integer.
double RoundDown(int64_t integer) {
  const auto nearest = static_cast<double>(integer);
  const bool is_above = nearest >= kTwoTo63 || static_cast<int64_t>(nearest) > integer;
  return is_above ? std::nextafter(nearest, -HUGE_VAL) : nearest;
}

void AppendDouble(double number, uint64_t remainder, std::string* out) {
  AppendBigEndian(OrderedBits(number), out);
  if (HasRemainder(number)) AppendBigEndian(static_cast<uint16_t>(remainder), out);
}

void AppendNumber(const ValueView& value, std::string* out) {
  if (value.type() == ValueType::kDouble) return AppendDouble(value.number(), 0, out);
  const int64_t integer = value.integer();
  const double floor = RoundDown(integer);
  AppendDouble(floor, static_cast<uint64_t>(integer - static_cast<int64_t>(floor)), out);
}

void AppendText(std::string_view text, std::string* out) {
  for (size_t zero; (zero = text.find('\0')) != std::string_view::npos;) {
    out->append(text.substr(0, zero)).append("\x00\xff", 2);
    text.remove_prefix(zero + 1);
  }
  out->append(text).append("\x00\x01", 2);
}

void AppendReference(std::string_view name, std::string* out) {
  model::AppendSegments(name, out);
  out->append("\x00\x00", 2);
}

void AppendVector(ArrayView components, std::string* out) {
  const size_t count_at = out->size();
  out->append(sizeof(uint32_t), '\0');
  uint32_t count = 0;
  for (; const std::optional<ValueView> component = components.Next(); ++count) {
    AppendBigEndian(OrderedBits(component->number()), out);
  }
  std::string count_bytes;
  AppendBigEndian(count, &count_bytes);
  out->replace(count_at, count_bytes.size(), count_bytes);
}

// The maximum depth of validated values bounds the recursion.
void AppendArray(ArrayView items, std::string* out) {
  while (const std::optional<ValueView> item = items.Next()) AppendValueKey(*item, out);
  out->push_back(kEnd);
}

void AppendMap(MapView map, std::string* out) {
  while (const std::optional<FieldView> field = map.Next()) {
    out->push_back(kEntry);
    AppendText(field->name, out);
    AppendValueKey(field->value, out);
  }
  out->push_back(kEnd);
}

Tag TagOf(ValueType type) {
  switch (type) {
    case ValueType::kNull:
      return kNull;
    case ValueType::kBoolean:
      return kBoolean;
    case ValueType::kInteger:
    case ValueType::kDouble:
      return kNumber;
    case ValueType::kTimestamp:
      return kTimestamp;
    case ValueType::kString:
      return kString;
    case ValueType::kBytes:
      return kBytes;
    case ValueType::kReference:
      return kReference;
    case ValueType::kGeoPoint:
      return kGeoPoint;
    case ValueType::kArray:
      return kArray;
    case ValueType::kVector:
      return kVector;
    case ValueType::kMap:
      return kMap;
  }
  CHECK(false);
  return kNull;
}

// Skips encodings. Every function returns false if the bytes end before the encoding does, or are
// not an encoding.
class Stepper {
 public:
  Stepper(std::string_view bytes, ByteOrder order)
      : bytes_(bytes), mask_(order == ByteOrder::kAscending ? 0x00 : 0xff) {}

  size_t position() const { return position_; }

  bool Value() {
    uint8_t tag;
    if (!Byte(&tag)) return false;
    switch (tag) {
      case kNull:
        return true;
      case kBoolean:
        return Skip(1);
      case kNumber:
        return Number();
      case kTimestamp:
        return Skip(sizeof(uint64_t));
      case kString:
      case kBytes:
        return Text();
      case kReference:
        return Reference();
      case kGeoPoint:
        return Skip(2 * sizeof(uint64_t));
      case kArray:
        return Array();
      case kVector:
        return Vector();
      case kMap:
        return Map();
      default:
        return false;
    }
  }

 private:
  bool Byte(uint8_t* byte) {
    if (position_ >= bytes_.size()) return false;
    *byte = static_cast<uint8_t>(static_cast<uint8_t>(bytes_[position_++]) ^ mask_);
    return true;
  }
  bool Peek(uint8_t* byte) {
    if (!Byte(byte)) return false;
    --position_;
    return true;
  }
  bool Skip(size_t count) {
    if (bytes_.size() - position_ < count) return false;
    position_ += count;
    return true;
  }
  bool Integer(size_t size, uint64_t* number) {
    *number = 0;
    for (size_t i = 0; i < size; ++i) {
      uint8_t byte;
      if (!Byte(&byte)) return false;
      *number = *number << 8 | byte;
    }
    return true;
  }
  bool Number() {
    uint64_t ordered;
    if (!Integer(sizeof(uint64_t), &ordered)) return false;
    return !HasRemainder(FromOrderedBits(ordered)) || Skip(kRemainderBytes);
  }
  // Up to and including 00 01.
  bool Text() {
    const char zero = static_cast<char>(mask_);
    while (true) {
      const size_t found = bytes_.find(zero, position_);
      if (found == std::string_view::npos || found + 1 >= bytes_.size()) return false;
      position_ = found + 2;
      if ((static_cast<uint8_t>(bytes_[found + 1]) ^ mask_) == 0x01) return true;
    }
  }
  bool Reference() {
    while (true) {
      uint8_t byte;
      if (!Peek(&byte)) return false;
      if (byte == 0) {
        ++position_;
        if (!Byte(&byte)) return false;
        if (byte == 0x00) return true;
        if (byte == 0x02) {  // A numeric id.
          if (!Skip(sizeof(uint64_t))) return false;
          continue;
        }
      }
      if (!Text()) return false;
    }
  }
  bool Array() {
    uint8_t tag;
    while (Peek(&tag)) {
      if (tag == kEnd) return Skip(1);
      if (!Value()) return false;
    }
    return false;
  }
  bool Vector() {
    uint64_t count;
    return Integer(sizeof(uint32_t), &count) && Skip(count * sizeof(uint64_t));
  }
  bool Map() {
    uint8_t mark;
    while (Byte(&mark)) {
      if (mark == kEnd) return true;
      if (mark != kEntry || !Text() || !Value()) return false;
    }
    return false;
  }

  const std::string_view bytes_;
  const uint8_t mask_;
  size_t position_ = 0;
};

}  // namespace

void AppendFieldNameKey(std::string_view name, std::string* out) { AppendText(name, out); }

void AppendValueKey(const ValueView& value, std::string* out) {
  out->push_back(static_cast<char>(TagOf(value.type())));
  switch (value.type()) {
    case ValueType::kNull:
      return;
    case ValueType::kBoolean:
      return out->push_back(value.boolean() ? '\x01' : '\x00');
    case ValueType::kInteger:
    case ValueType::kDouble:
      return AppendNumber(value, out);
    case ValueType::kTimestamp:
      return AppendBigEndian(static_cast<uint64_t>(value.timestamp().micros()) ^ kSignBit, out);
    case ValueType::kString:
    case ValueType::kBytes:
      return AppendText(value.text(), out);
    case ValueType::kReference:
      return AppendReference(value.text(), out);
    case ValueType::kGeoPoint:
      AppendBigEndian(OrderedBits(value.geo_point().latitude), out);
      return AppendBigEndian(OrderedBits(value.geo_point().longitude), out);
    case ValueType::kArray:
      return AppendArray(value.array(), out);
    case ValueType::kVector:
      return AppendVector(value.vector(), out);
    case ValueType::kMap:
      return AppendMap(value.map(), out);
  }
}

std::string TypeKey(const ValueView& value) {
  return std::string(1, static_cast<char>(TagOf(value.type())));
}

std::string LeastNumberKey() {
  std::string key(1, static_cast<char>(kNumber));
  AppendBigEndian(OrderedBits(-HUGE_VAL), &key);
  return key;
}

void Complement(size_t from, std::string* bytes) {
  for (size_t i = from; i < bytes->size(); ++i) (*bytes)[i] = static_cast<char>(~(*bytes)[i]);
}

std::optional<size_t> ComponentLength(std::string_view bytes, ByteOrder order) {
  Stepper stepper(bytes.substr(0, kComponentBytesMax), order);
  if (stepper.Value()) return stepper.position();
  if (bytes.size() >= kComponentBytesMax) return kComponentBytesMax;
  return std::nullopt;
}

std::optional<NumberKey> DecodeNumberKey(std::string_view component) {
  if (component.size() < 1 + sizeof(uint64_t) || static_cast<uint8_t>(component[0]) != kNumber) {
    return std::nullopt;
  }
  NumberKey result{FromOrderedBits(ReadBigEndian(component.substr(1, sizeof(uint64_t)))), {}};
  const double floor = result.number;
  if (std::isnan(floor) || floor < -kTwoTo63 || floor >= kTwoTo63 || floor != std::trunc(floor)) {
    return result;
  }
  const uint64_t remainder =
      HasRemainder(floor) ? ReadBigEndian(component.substr(1 + sizeof(uint64_t))) : 0;
  result.integer = static_cast<int64_t>(floor) + static_cast<int64_t>(remainder);
  return result;
}

}  // namespace hearth::index
