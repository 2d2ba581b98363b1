#include "model/value.h"

#include <bit>
#include <cmath>

#include "base/check.h"
#include "model/value_wire.h"

namespace hearth::model {
namespace {

// The payload of a string or message field of a Value, without its tag and length.
std::string_view Payload(std::string_view encoded) {
  WireReader reader(encoded);
  uint64_t tag;
  std::string_view payload;
  CHECK(reader.Varint(&tag) && reader.Bytes(&payload));
  return payload;
}

uint64_t VarintPayload(std::string_view encoded) {
  WireReader reader(encoded);
  uint64_t tag;
  uint64_t number;
  CHECK(reader.Varint(&tag) && reader.Varint(&number));
  return number;
}

double DoublePayload(std::string_view encoded) {
  WireReader reader(encoded);
  uint64_t tag;
  uint64_t bits;
  CHECK(reader.Varint(&tag) && reader.Fixed64(&bits));
  return std::bit_cast<double>(bits);
}

// Only vectors have the reserved name, and it comes first in them.
bool IsVector(std::string_view encoded_map) {
  MapView map(Payload(encoded_map), MapView::Tag::kNestedMap);
  const std::optional<FieldView> first = map.Next();
  return first && first->name == kVectorTypeName;
}

std::string EncodeVarintField(uint32_t tag, uint64_t number) {
  std::string out;
  AppendVarint(tag, &out);
  AppendVarint(number, &out);
  return out;
}

std::string EncodeBytesField(uint32_t tag, std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 8);
  AppendBytes(tag, bytes, &out);
  return out;
}

void AppendDoubleField(uint32_t tag, uint64_t bits, std::string* out) {
  AppendVarint(tag, out);
  AppendFixed64(bits, out);
}

uint32_t EntryTag(MapView::Tag tag) {
  return WireTag(static_cast<uint32_t>(tag), WireType::kBytes);
}

}  // namespace

ValueType ValueView::type() const {
  CHECK(!encoded_.empty());
  // All tags differ in the first byte.
  switch (static_cast<uint8_t>(encoded_[0])) {
    case kNullTag:
      return ValueType::kNull;
    case kBooleanTag:
      return ValueType::kBoolean;
    case kIntegerTag:
      return ValueType::kInteger;
    case kDoubleTag:
      return ValueType::kDouble;
    case kTimestampTag:
      return ValueType::kTimestamp;
    case (kStringTag & 0x7f) | 0x80:
      return ValueType::kString;
    case (kBytesTag & 0x7f) | 0x80:
      return ValueType::kBytes;
    case kReferenceTag:
      return ValueType::kReference;
    case kGeoPointTag:
      return ValueType::kGeoPoint;
    case kArrayTag:
      return ValueType::kArray;
    default:
      CHECK(static_cast<uint8_t>(encoded_[0]) == kMapTag);
      return IsVector(encoded_) ? ValueType::kVector : ValueType::kMap;
  }
}

bool ValueView::boolean() const { return VarintPayload(encoded_) != 0; }

int64_t ValueView::integer() const { return static_cast<int64_t>(VarintPayload(encoded_)); }

double ValueView::number() const {
  return type() == ValueType::kInteger ? static_cast<double>(integer()) : DoublePayload(encoded_);
}

bool ValueView::IsNan() const { return type() == ValueType::kDouble && std::isnan(number()); }

Timestamp ValueView::timestamp() const {
  TimestampParts parts;
  CHECK(ReadTimestamp(Payload(encoded_), &parts));
  return Timestamp::FromMicros(parts.seconds * 1'000'000 + parts.nanos / 1'000);
}

std::string_view ValueView::text() const { return Payload(encoded_); }

GeoPoint ValueView::geo_point() const {
  GeoPointParts parts;
  CHECK(ReadGeoPoint(Payload(encoded_), &parts));
  return {parts.latitude, parts.longitude};
}

ArrayView ValueView::array() const { return ArrayView(Payload(encoded_)); }

ArrayView ValueView::vector() const {
  const std::optional<ValueView> components = map().Find(kVectorValueName);
  CHECK(components.has_value());
  return components->array();
}

MapView ValueView::map() const { return MapView(Payload(encoded_), MapView::Tag::kNestedMap); }

std::optional<ValueView> ArrayView::Next() {
  if (rest_.empty()) return std::nullopt;
  WireReader reader(rest_);
  uint64_t tag;
  std::string_view item;
  CHECK(reader.Varint(&tag) && tag == kArrayItemTag && reader.Bytes(&item));
  rest_ = reader.rest();
  return ValueView(item);
}

std::optional<FieldView> MapView::Next() {
  if (rest_.empty()) return std::nullopt;
  WireReader reader(rest_);
  uint64_t tag;
  std::string_view bytes;
  CHECK(reader.Varint(&tag) && tag == EntryTag(tag_) && reader.Bytes(&bytes));
  rest_ = reader.rest();
  EntryParts entry;
  CHECK(ReadEntry(bytes, &entry));
  return FieldView{entry.name, ValueView(entry.value)};
}

std::optional<ValueView> MapView::Find(std::string_view name) const {
  MapView rest = *this;
  while (const std::optional<FieldView> field = rest.Next()) {
    const int order = field->name.compare(name);
    if (order == 0) return field->value;
    if (order > 0) break;
  }
  return std::nullopt;
}

std::string EncodeNull() { return EncodeVarintField(kNullTag, 0); }

std::string EncodeBoolean(bool value) { return EncodeVarintField(kBooleanTag, value ? 1 : 0); }

std::string EncodeInteger(int64_t value) {
  return EncodeVarintField(kIntegerTag, static_cast<uint64_t>(value));
}

std::string EncodeDouble(double value) {
  std::string out;
  AppendDoubleField(kDoubleTag, std::isnan(value) ? kNanBits : std::bit_cast<uint64_t>(value),
                    &out);
  return out;
}

std::string EncodeTimestamp(Timestamp value) {
  std::string parts;
  if (const int64_t seconds = value.seconds(); seconds != 0) {
    parts += EncodeVarintField(kSecondsTag, static_cast<uint64_t>(seconds));
  }
  if (const int32_t nanos = value.nanos(); nanos != 0) {
    parts += EncodeVarintField(kNanosTag, static_cast<uint64_t>(nanos));
  }
  return EncodeBytesField(kTimestampTag, parts);
}

std::string EncodeString(std::string_view value) { return EncodeBytesField(kStringTag, value); }

std::string EncodeBytes(std::string_view value) { return EncodeBytesField(kBytesTag, value); }

std::string EncodeReference(std::string_view document_name) {
  return EncodeBytesField(kReferenceTag, document_name);
}

std::string EncodeGeoPoint(GeoPoint value) {
  std::string parts;
  // Compared as bits, because protobuf omits 0 but not -0.
  if (const auto bits = std::bit_cast<uint64_t>(value.latitude); bits != 0) {
    AppendDoubleField(kLatitudeTag, bits, &parts);
  }
  if (const auto bits = std::bit_cast<uint64_t>(value.longitude); bits != 0) {
    AppendDoubleField(kLongitudeTag, bits, &parts);
  }
  return EncodeBytesField(kGeoPointTag, parts);
}

std::string EncodeArray(const std::vector<std::string>& items) {
  std::string body;
  for (const std::string& item : items) AppendBytes(kArrayItemTag, item, &body);
  return EncodeBytesField(kArrayTag, body);
}

std::string EncodeMap(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string body;
  for (const auto& [name, value] : fields) {
    AppendField(MapView::Tag::kNestedMap, name, value, &body);
  }
  return EncodeBytesField(kMapTag, body);
}

std::string EncodeVector(const std::vector<double>& components) {
  std::vector<std::string> items;
  items.reserve(components.size());
  for (const double component : components) items.push_back(EncodeDouble(component));
  return EncodeMap({{std::string(kVectorTypeName), EncodeString(kVectorType)},
                    {std::string(kVectorValueName), EncodeArray(items)}});
}

void AppendField(MapView::Tag tag, std::string_view name, std::string_view encoded_value,
                 std::string* out) {
  const size_t entry_bytes = 2 + VarintSize(name.size()) + name.size() +
                             VarintSize(encoded_value.size()) + encoded_value.size();
  AppendVarint(EntryTag(tag), out);
  AppendVarint(entry_bytes, out);
  AppendBytes(kEntryNameTag, name, out);
  AppendBytes(kEntryValueTag, encoded_value, out);
}

}  // namespace hearth::model
