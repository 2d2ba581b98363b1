#include "model/value_validator.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/utf8.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/reserved_name.h"
#include "model/timestamp.h"

namespace hearth::model {
namespace {

constexpr uint32_t kDocumentFieldTag = WireTag(2, WireType::kBytes);
constexpr uint32_t kNestedFieldTag = WireTag(1, WireType::kBytes);

// Formats a double as Firestore, which is written in Java, does: "90.1", "-91.0", "1.0E10", "NaN".
std::string JavaDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  const bool is_plain = std::abs(value) >= 1e-3 && std::abs(value) < 1e7;
  char buffer[64];
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end);
  std::string exponent;
  if (const size_t at = text.find('e'); at != std::string::npos) {
    int power = 0;
    const char* digits = text.data() + at + (text[at + 1] == '+' ? 2 : 1);
    std::from_chars(digits, text.data() + text.size(), power);
    exponent = "E" + std::to_string(power);
    text.resize(at);
  }
  if (text.find('.') == std::string::npos) text += ".0";
  return text + exponent;
}

// The text of an encoded string value; nullopt for any other value.
std::optional<std::string_view> StringOf(std::string_view value) {
  WireReader reader(value);
  uint64_t tag;
  std::string_view text;
  if (!reader.Varint(&tag) || tag != kStringTag || !reader.Bytes(&text)) return std::nullopt;
  return text;
}

// True if one of the map's names is `__type__`. Malformed input is left to the full check.
bool HasTypeName(std::string_view map_body) {
  WireReader reader(map_body);
  while (!reader.AtEnd()) {
    uint64_t tag;
    std::string_view bytes;
    EntryParts entry;
    if (!reader.Varint(&tag) || !reader.Bytes(&bytes) || !ReadEntry(bytes, &entry)) return false;
    if (entry.name == kVectorTypeName) return true;
  }
  return false;
}

}  // namespace

bool ValueValidator::Fail(std::string message) {
  status_ = InvalidArgument(std::move(message));
  return false;
}

bool ValueValidator::FailMalformed() {
  return Fail("The encoding of property \"" + std::string(property_) + "\" is malformed.");
}

bool ValueValidator::FailNested() {
  return Fail("Property " + std::string(property_) + " contains an invalid nested entity.");
}

bool ValueValidator::CheckFields(std::string_view encoded) {
  WireReader reader(encoded);
  std::string_view previous;
  while (!reader.AtEnd()) {
    uint64_t tag;
    std::string_view bytes;
    EntryParts entry;
    if (!reader.Varint(&tag) || tag != kDocumentFieldTag || !reader.Bytes(&bytes)) {
      return FailMalformed();
    }
    if (!Entry(bytes, &entry) || !TopLevelName(entry.name)) return false;
    property_ = entry.name;
    if (!Value(entry.value, {.path_bytes = entry.name.size()})) return false;
    NoteOrder(entry.name, &previous);
  }
  canonical_ &= reader.minimal();
  return true;
}

bool ValueValidator::CheckValue(std::string_view encoded) { return Value(encoded, Place()); }

bool ValueValidator::Value(std::string_view encoded, Place place) {
  if (encoded.empty()) return Fail("Cannot convert firestore.v1.Value with type unset.");
  WireReader reader(encoded);
  uint64_t tag;
  if (!reader.Varint(&tag)) return FailMalformed();
  std::string_view body;
  bool ok = false;
  switch (tag) {
    case kNullTag:
    case kBooleanTag:
    case kIntegerTag:
    case kDoubleTag:
      ok = Scalar(tag, &reader);
      break;
    case kStringTag:
      if (!reader.Bytes(&body)) return FailMalformed();
      if (!IsValidUtf8(body)) {
        return Fail("The value of property \"" + std::string(property_) + "\" is not valid UTF-8.");
      }
      ok = Text(body, place);
      break;
    case kBytesTag:
      ok = reader.Bytes(&body) ? Text(body, place) : FailMalformed();
      break;
    case kReferenceTag:
      if (!reader.Bytes(&body)) return FailMalformed();
      status_ = ValidateReference(body);
      ok = status_.ok();
      break;
    case kTimestampTag:
      ok = reader.Bytes(&body) ? TimestampValue(body) : FailMalformed();
      break;
    case kGeoPointTag:
      ok = reader.Bytes(&body) ? GeoPointValue(body) : FailMalformed();
      break;
    case kArrayTag:
      ok = reader.Bytes(&body) ? Array(body, place) : FailMalformed();
      break;
    case kMapTag:
      ok = reader.Bytes(&body) ? Map(body, place) : FailMalformed();
      break;
    default:
      // Includes the types that only pipelines know: in a document they count as unset.
      return Fail("Cannot convert firestore.v1.Value with type unset.");
  }
  if (!ok) return false;
  canonical_ &= reader.minimal();
  return reader.AtEnd() || Fail("Cannot convert firestore.v1.Value with more than one type set.");
}

bool ValueValidator::Scalar(uint64_t tag, WireReader* reader) {
  uint64_t bits;
  if (!(tag == kDoubleTag ? reader->Fixed64(&bits) : reader->Varint(&bits))) {
    return FailMalformed();
  }
  if (tag == kDoubleTag) {
    canonical_ &= !std::isnan(std::bit_cast<double>(bits)) || bits == kNanBits;
  } else if (tag == kBooleanTag) {
    canonical_ &= bits <= 1;
  } else if (tag == kNullTag) {
    canonical_ &= bits == 0;
  }
  return true;
}

bool ValueValidator::Text(std::string_view text, Place place) {
  if (text.size() <= kFieldValueBytesMax) return true;
  if (place.in_map) return FailNested();
  return Fail("The value of property \"" + std::string(property_) +
              "\" is longer than 1048487 bytes.");
}

bool ValueValidator::TimestampValue(std::string_view body) {
  TimestampParts parts;
  if (!ReadTimestamp(body, &parts)) return FailMalformed();
  const Result<Timestamp> time = Timestamp::FromParts(parts.seconds, parts.nanos);
  if (!time.ok()) return Fail(time.status().message());
  canonical_ &= parts.canonical && parts.nanos % 1'000 == 0;
  return true;
}

bool ValueValidator::GeoPointValue(std::string_view body) {
  GeoPointParts parts;
  if (!ReadGeoPoint(body, &parts)) return FailMalformed();
  // Written so that NaN fails the check.
  if (!(std::abs(parts.latitude) <= 90)) {
    return Fail("Geo point latitude '" + JavaDouble(parts.latitude) +
                "' outside permitted range -90.0 to 90.0.");
  }
  if (!(std::abs(parts.longitude) <= 180)) {
    return Fail("Geo point longitude '" + JavaDouble(parts.longitude) +
                "' outside permitted range -180.0 to 180.0.");
  }
  canonical_ &= parts.canonical;
  return true;
}

bool ValueValidator::Array(std::string_view body, Place place) {
  if (place.in_array) return Fail("Cannot convert an array value in an array value.");
  // An empty array does not count, because nothing is nested in it.
  if (place.depth == kValueDepthMax && !body.empty()) return FailNested();
  Place inside = place;
  ++inside.depth;
  inside.in_array = true;
  WireReader reader(body);
  while (!reader.AtEnd()) {
    uint64_t tag;
    std::string_view item;
    if (!reader.Varint(&tag) || tag != kArrayItemTag || !reader.Bytes(&item)) {
      return FailMalformed();
    }
    if (!Value(item, inside)) return false;
  }
  canonical_ &= reader.minimal();
  return true;
}

bool ValueValidator::Map(std::string_view body, Place place) {
  if (HasTypeName(body)) return Vector(body, place);
  if (place.depth == kValueDepthMax) return FailNested();
  WireReader reader(body);
  std::string_view previous;
  while (!reader.AtEnd()) {
    uint64_t tag;
    std::string_view bytes;
    EntryParts entry;
    if (!reader.Varint(&tag) || tag != kNestedFieldTag || !reader.Bytes(&bytes)) {
      return FailMalformed();
    }
    Place inside = {.depth = place.depth + 1, .in_map = true, .path_bytes = place.path_bytes};
    if (!Entry(bytes, &entry) || !NestedName(entry.name, &inside.path_bytes)) return false;
    if (!Value(entry.value, inside)) return false;
    NoteOrder(entry.name, &previous);
  }
  canonical_ &= reader.minimal();
  return true;
}

bool ValueValidator::Vector(std::string_view body, Place place) {
  WireReader reader(body);
  std::string_view previous;
  std::string_view type;
  std::string_view components;
  bool has_components = false;
  bool has_others = false;
  while (!reader.AtEnd()) {
    uint64_t tag;
    std::string_view bytes;
    EntryParts entry;
    if (!reader.Varint(&tag) || tag != kNestedFieldTag || !reader.Bytes(&bytes)) {
      return FailMalformed();
    }
    if (!Entry(bytes, &entry)) return false;
    if (entry.name == kVectorTypeName) {
      type = entry.value;
    } else if (entry.name == kVectorValueName) {
      components = entry.value;
      has_components = true;
    } else {
      has_others = true;
    }
    NoteOrder(entry.name, &previous);
  }
  canonical_ &= reader.minimal();

  const std::optional<std::string_view> type_text = StringOf(type);
  if (!type_text) return Fail("Field __type__ is not a string.");
  if (*type_text != kVectorType) return FailNested();
  if (!Value(type, Place())) return false;  // It might have a second type.
  if (place.in_array) return Fail("Cannot convert a vector value in an array value.");
  if (!has_components) return Fail("Vector map is missing key 'value'.");
  if (has_others) return Fail("Vector Value map has extraneous entries.");
  return VectorComponents(components);
}

bool ValueValidator::VectorComponents(std::string_view value) {
  WireReader value_reader(value);
  uint64_t tag;
  std::string_view body;
  if (!value_reader.Varint(&tag) || tag != kArrayTag) {
    return Fail("Vector Value type must be an array.");
  }
  if (!value_reader.Bytes(&body) || !value_reader.AtEnd()) return FailMalformed();
  if (body.empty()) return Fail("Cannot have a zero length vector.");

  WireReader reader(body);
  size_t dimensions = 0;
  while (!reader.AtEnd()) {
    std::string_view item;
    uint64_t bits;
    if (!reader.Varint(&tag) || tag != kArrayItemTag || !reader.Bytes(&item)) {
      return FailMalformed();
    }
    WireReader item_reader(item);
    if (!item_reader.Varint(&tag) || tag != kDoubleTag || !item_reader.Fixed64(&bits) ||
        !item_reader.AtEnd()) {
      return Fail("Vector must only contain values of type 'double'");
    }
    if (std::isnan(std::bit_cast<double>(bits))) return Fail("Vector cannot contain NaN values.");
    canonical_ &= item_reader.minimal();
    ++dimensions;
  }
  canonical_ &= value_reader.minimal() && reader.minimal();
  return dimensions <= kVectorDimensionsMax || Fail("Vectors must be at most 2048 dimensions.");
}

bool ValueValidator::Entry(std::string_view bytes, EntryParts* entry) {
  if (!ReadEntry(bytes, entry)) return FailMalformed();
  canonical_ &= entry->canonical;
  return IsValidUtf8(entry->name) || Fail("A field name is not valid UTF-8.");
}

bool ValueValidator::TopLevelName(std::string_view name) {
  if (name.empty()) return Fail("The property.name is the empty string.");
  if (name.size() > kFieldNameBytesMax) return Fail("The property.name is longer than 1500 bytes.");
  if (!IsReservedName(name)) return true;
  return Fail("field name " + std::string(name) + " is reserved");
}

bool ValueValidator::NestedName(std::string_view name, std::optional<size_t>* path_bytes) {
  if (name.empty() || name.size() > kFieldNameBytesMax) return FailNested();
  if (*path_bytes) {
    **path_bytes += 1 + name.size();
    if (**path_bytes > kFieldPathBytesMax) return FailNested();
  }
  if (!IsReservedName(name)) return true;
  return Fail("field name '" + std::string(name) + "' is reserved.");
}

void ValueValidator::NoteOrder(std::string_view name, std::string_view* previous) {
  if (name <= *previous) canonical_ = false;  // `previous` starts empty; no valid name is empty.
  *previous = name;
}

}  // namespace hearth::model
