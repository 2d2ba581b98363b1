// The wire format of the messages below google.firestore.v1.Value: tags, and readers of the small
// messages that accept any bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/wire_format.h"

namespace hearth::model {

// Fields of Value.
inline constexpr uint32_t kBooleanTag = WireTag(1, WireType::kVarint);
inline constexpr uint32_t kIntegerTag = WireTag(2, WireType::kVarint);
inline constexpr uint32_t kDoubleTag = WireTag(3, WireType::kFixed64);
inline constexpr uint32_t kReferenceTag = WireTag(5, WireType::kBytes);
inline constexpr uint32_t kMapTag = WireTag(6, WireType::kBytes);
inline constexpr uint32_t kGeoPointTag = WireTag(8, WireType::kBytes);
inline constexpr uint32_t kArrayTag = WireTag(9, WireType::kBytes);
inline constexpr uint32_t kTimestampTag = WireTag(10, WireType::kBytes);
inline constexpr uint32_t kNullTag = WireTag(11, WireType::kVarint);
inline constexpr uint32_t kStringTag = WireTag(17, WireType::kBytes);
inline constexpr uint32_t kBytesTag = WireTag(18, WireType::kBytes);

inline constexpr uint32_t kArrayItemTag = WireTag(1, WireType::kBytes);
inline constexpr uint32_t kEntryNameTag = WireTag(1, WireType::kBytes);
inline constexpr uint32_t kEntryValueTag = WireTag(2, WireType::kBytes);
inline constexpr uint32_t kSecondsTag = WireTag(1, WireType::kVarint);
inline constexpr uint32_t kNanosTag = WireTag(2, WireType::kVarint);
inline constexpr uint32_t kLatitudeTag = WireTag(1, WireType::kFixed64);
inline constexpr uint32_t kLongitudeTag = WireTag(2, WireType::kFixed64);

// A vector is the map {kVectorTypeName: kVectorType, kVectorValueName: [doubles]}.
inline constexpr std::string_view kVectorTypeName = "__type__";
inline constexpr std::string_view kVectorType = "__vector__";
inline constexpr std::string_view kVectorValueName = "value";

// The name and the encoded value of a map entry; empty if the entry lacks one.
struct EntryParts {
  std::string_view name;
  std::string_view value;
  bool canonical = true;  // Each once, in this order, with minimal lengths.
};

struct TimestampParts {
  int64_t seconds = 0;
  int64_t nanos = 0;
  bool canonical = true;  // Zeros omitted, in this order; the numbers may still need rounding.
};

struct GeoPointParts {
  double latitude = 0;
  double longitude = 0;
  bool canonical = true;
};

// Each returns false for malformed bytes and for fields that the message does not have. If a field
// occurs twice the last one counts, as in protobuf.
[[nodiscard]] inline bool ReadEntry(std::string_view bytes, EntryParts* parts);
[[nodiscard]] bool ReadTimestamp(std::string_view bytes, TimestampParts* parts);
[[nodiscard]] bool ReadGeoPoint(std::string_view bytes, GeoPointParts* parts);

// The slow path of ReadEntry, for any other form of an entry.
[[nodiscard]] bool ReadUnusualEntry(std::string_view bytes, EntryParts* parts);

inline bool ReadEntry(std::string_view bytes, EntryParts* parts) {
  // Every walk through a document calls this, and practically every entry is a name and a value.
  WireReader reader(bytes);
  uint64_t name_tag;
  uint64_t value_tag;
  if (reader.Varint(&name_tag) && name_tag == kEntryNameTag && reader.Bytes(&parts->name) &&
      reader.Varint(&value_tag) && value_tag == kEntryValueTag && reader.Bytes(&parts->value) &&
      reader.AtEnd() && reader.minimal()) {
    return true;
  }
  return ReadUnusualEntry(bytes, parts);
}

// The canonical NaN, stored in place of every NaN.
inline constexpr uint64_t kNanBits = 0x7ff8000000000000;

}  // namespace hearth::model
