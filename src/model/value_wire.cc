#include "model/value_wire.h"

#include <bit>

namespace hearth::model {

bool ReadUnusualEntry(std::string_view bytes, EntryParts* parts) {
  *parts = EntryParts();
  WireReader reader(bytes);
  uint64_t previous = 0;
  while (!reader.AtEnd()) {
    uint64_t tag;
    if (!reader.Varint(&tag)) return false;
    if (tag != kEntryNameTag && tag != kEntryValueTag) return false;
    if (!reader.Bytes(tag == kEntryNameTag ? &parts->name : &parts->value)) return false;
    if (tag <= previous) parts->canonical = false;
    previous = tag;
  }
  parts->canonical &= reader.minimal();
  return true;
}

bool ReadTimestamp(std::string_view bytes, TimestampParts* parts) {
  WireReader reader(bytes);
  uint64_t previous = 0;
  while (!reader.AtEnd()) {
    uint64_t tag;
    uint64_t number;
    if (!reader.Varint(&tag) || !reader.Varint(&number)) return false;
    if (tag == kSecondsTag) {
      parts->seconds = static_cast<int64_t>(number);
    } else if (tag == kNanosTag) {
      parts->nanos = static_cast<int64_t>(number);
    } else {
      return false;
    }
    if (tag <= previous || number == 0) parts->canonical = false;
    previous = tag;
  }
  parts->canonical &= reader.minimal();
  return true;
}

bool ReadGeoPoint(std::string_view bytes, GeoPointParts* parts) {
  WireReader reader(bytes);
  uint64_t previous = 0;
  while (!reader.AtEnd()) {
    uint64_t tag;
    uint64_t bits;
    if (!reader.Varint(&tag) || !reader.Fixed64(&bits)) return false;
    if (tag == kLatitudeTag) {
      parts->latitude = std::bit_cast<double>(bits);
    } else if (tag == kLongitudeTag) {
      parts->longitude = std::bit_cast<double>(bits);
    } else {
      return false;
    }
    if (tag <= previous || bits == 0) parts->canonical = false;
    previous = tag;
  }
  parts->canonical &= reader.minimal();
  return true;
}

}  // namespace hearth::model
