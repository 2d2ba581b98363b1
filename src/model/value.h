// Values in their stored form: the protobuf encoding of google.firestore.v1.Value, canonical
// (map keys sorted and unique, timestamps in microseconds, one NaN), read in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/timestamp.h"

namespace hearth::model {

enum class ValueType : uint8_t {
  kNull,
  kBoolean,
  kInteger,
  kDouble,
  kTimestamp,
  kString,
  kBytes,
  kReference,
  kGeoPoint,
  kArray,
  kVector,  // A map {"__type__": "__vector__", "value": [doubles]}.
  kMap,
};

struct GeoPoint {
  double latitude;
  double longitude;
};

class ArrayView;
class MapView;

// A Value's bytes, read in place. Requires well-formed bytes: those of a Fields, or made by an
// encoder below. Borrows the bytes, which must outlive the view. The accessors require their type.
class ValueView {
 public:
  explicit ValueView(std::string_view encoded) : encoded_(encoded) {}

  ValueType type() const;
  bool boolean() const;
  int64_t integer() const;
  double number() const;  // Of an integer or a double.
  Timestamp timestamp() const;
  std::string_view text() const;  // Of a string, bytes or a reference.
  GeoPoint geo_point() const;
  ArrayView array() const;   // Of an array.
  ArrayView vector() const;  // The components of a vector.
  MapView map() const;       // Of a map or a vector.
  std::string_view encoded() const { return encoded_; }
  bool IsNull() const { return type() == ValueType::kNull; }
  bool IsNumber() const { return type() == ValueType::kInteger || type() == ValueType::kDouble; }
  bool IsNan() const;

 private:
  std::string_view encoded_;
};

// Walks the values of an array: `for (ArrayView rest = value.array(); auto item = rest.Next();)`.
class ArrayView {
 public:
  explicit ArrayView(std::string_view encoded) : rest_(encoded) {}
  std::optional<ValueView> Next();

 private:
  std::string_view rest_;
};

struct FieldView {
  std::string_view name;
  ValueView value;
};

// Walks the fields of a map in the order of their names. `tag` is the field number of the entries:
// 2 in a document, 1 in a nested map.
class MapView {
 public:
  enum class Tag : uint8_t { kNestedMap = 1, kDocument = 2 };
  MapView(std::string_view encoded, Tag tag) : rest_(encoded), tag_(tag) {}
  std::optional<FieldView> Next();
  // The field called `name`, from anywhere in the part not walked yet.
  std::optional<ValueView> Find(std::string_view name) const;

 private:
  std::string_view rest_;
  Tag tag_;
};

// Encoders: each returns the bytes of one Value.
std::string EncodeNull();
std::string EncodeBoolean(bool value);
std::string EncodeInteger(int64_t value);
std::string EncodeDouble(double value);  // Every NaN becomes the one canonical NaN.
std::string EncodeTimestamp(Timestamp value);
std::string EncodeString(std::string_view value);
std::string EncodeBytes(std::string_view value);
std::string EncodeReference(std::string_view document_name);
std::string EncodeGeoPoint(GeoPoint value);
// `items`: encoded values.
std::string EncodeArray(const std::vector<std::string>& items);
// `fields`: names and encoded values, sorted by name, without duplicate names.
std::string EncodeMap(const std::vector<std::pair<std::string, std::string>>& fields);
std::string EncodeVector(const std::vector<double>& components);

// Appends one field, in the form that MapView walks, to `out`. The caller keeps the names sorted.
void AppendField(MapView::Tag tag, std::string_view name, std::string_view encoded_value,
                 std::string* out);

}  // namespace hearth::model
