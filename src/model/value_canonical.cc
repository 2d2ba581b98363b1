#include "model/value_canonical.h"

#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "model/value.h"
#include "model/value_wire.h"

namespace hearth::model {
namespace {

std::string CanonicalArray(ArrayView items) {
  std::vector<std::string> canonical;
  while (const std::optional<ValueView> item = items.Next()) {
    canonical.push_back(CanonicalValue(item->encoded()));
  }
  return EncodeArray(canonical);
}

std::map<std::string_view, std::string> CanonicalEntries(MapView fields) {
  std::map<std::string_view, std::string> sorted;
  while (const std::optional<FieldView> field = fields.Next()) {
    sorted[field->name] = CanonicalValue(field->value.encoded());
  }
  return sorted;
}

std::string CanonicalMap(const MapView& fields) {
  std::vector<std::pair<std::string, std::string>> canonical;
  for (auto& [name, value] : CanonicalEntries(fields)) {
    canonical.emplace_back(name, std::move(value));
  }
  return EncodeMap(canonical);
}

}  // namespace

std::string CanonicalFields(std::string_view encoded) {
  std::string canonical;
  for (const auto& [name, value] : CanonicalEntries(MapView(encoded, MapView::Tag::kDocument))) {
    AppendField(MapView::Tag::kDocument, name, value, &canonical);
  }
  return canonical;
}

std::string CanonicalValue(std::string_view encoded) {
  // Reads the tag as a number: ValueView::type() would misread one that is longer than necessary.
  WireReader reader(encoded);
  uint64_t tag;
  CHECK(reader.Varint(&tag));
  const ValueView value(encoded);
  switch (tag) {
    case kNullTag:
      return EncodeNull();
    case kBooleanTag:
      return EncodeBoolean(value.boolean());
    case kIntegerTag:
      return EncodeInteger(value.integer());
    case kTimestampTag:
      return EncodeTimestamp(value.timestamp());
    case kStringTag:
      return EncodeString(value.text());
    case kBytesTag:
      return EncodeBytes(value.text());
    case kReferenceTag:
      return EncodeReference(value.text());
    case kGeoPointTag:
      return EncodeGeoPoint(value.geo_point());
    case kArrayTag:
      return CanonicalArray(value.array());
    case kMapTag:
      return CanonicalMap(value.map());
    default:
      uint64_t bits;
      CHECK(tag == kDoubleTag && reader.Fixed64(&bits));
      return EncodeDouble(std::bit_cast<double>(bits));
  }
}

}  // namespace hearth::model
