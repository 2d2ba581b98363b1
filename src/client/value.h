// Values as programs write and read them: `Map{{"topic", "fire"}, {"size", 3}}`.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "model/timestamp.h"
#include "model/value.h"

namespace hearth::client {

using model::GeoPoint;
using model::Timestamp;

class Value;
using Array = std::vector<Value>;
using Map = std::map<std::string, Value, std::less<>>;

// A byte string that is not text.
struct Bytes {
  std::string bytes;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

// The full name of a document: what DocumentReference::name() returns.
struct Reference {
  std::string name;
  friend bool operator==(const Reference&, const Reference&) = default;
};

// An embedding, for nearest neighbours.
struct Vector {
  std::vector<double> components;
  friend bool operator==(const Vector&, const Vector&) = default;
};

// A change of a field that the database computes at commit. Takes the place of a value in writes;
// never returned by reads.
class FieldValue {
 public:
  enum class Kind : uint8_t {
    kDelete,
    kServerTimestamp,
    kIncrement,
    kMaximum,
    kMinimum,
    kArrayUnion,
    kArrayRemove,
  };

  static FieldValue Delete();
  static FieldValue ServerTimestamp();
  // `number`: an integer or a double; anything else fails when it is written.
  static FieldValue Increment(Value number);
  static FieldValue Maximum(Value number);
  static FieldValue Minimum(Value number);
  static FieldValue ArrayUnion(Array items);
  static FieldValue ArrayRemove(Array items);

  Kind kind() const { return kind_; }
  const std::vector<Value>& operands() const { return operands_; }
  std::string_view name() const;  // As written in code: "FieldValue::Increment()".
  friend bool operator==(const FieldValue&, const FieldValue&);

 private:
  FieldValue(Kind kind, std::vector<Value> operands);

  Kind kind_;
  std::vector<Value> operands_;
};

// One value of a document: null, a boolean, an integer, a double, a moment, text, bytes, a
// reference, a geographical point, a list, a vector or a map; in writes also a FieldValue.
//
// Threads: a plain value; shares nothing. Errors: the getters return null or nullopt for another
// type.
class Value {
 public:
  Value() : value_(nullptr) {}  // Null.
  Value(std::nullptr_t) : value_(nullptr) {}
  Value(std::same_as<bool> auto value) : value_(value) {}  // Pointers do not convert to booleans.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T value) : value_(static_cast<int64_t>(value)) {}
  Value(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  Value(const char* text) : value_(std::string(text)) {}
  Value(std::string_view text) : value_(std::string(text)) {}
  Value(std::string text) : value_(std::move(text)) {}
  Value(Timestamp value) : value_(value) {}
  Value(Bytes value) : value_(std::move(value)) {}
  Value(Reference value) : value_(std::move(value)) {}
  Value(GeoPoint value) : value_(value) {}
  Value(Array value) : value_(std::move(value)) {}
  Value(Vector value) : value_(std::move(value)) {}
  Value(Map value) : value_(std::move(value)) {}
  Value(FieldValue value) : value_(std::move(value)) {}

  bool IsNull() const { return std::holds_alternative<std::nullptr_t>(value_); }
  std::optional<bool> boolean() const { return Copy<bool>(); }
  std::optional<int64_t> integer() const { return Copy<int64_t>(); }
  std::optional<double> number() const;  // Of an integer or a double.
  std::optional<Timestamp> timestamp() const { return Copy<Timestamp>(); }
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const Bytes* bytes() const { return std::get_if<Bytes>(&value_); }
  const Reference* reference() const { return std::get_if<Reference>(&value_); }
  std::optional<GeoPoint> geo_point() const { return Copy<GeoPoint>(); }
  const Array* array() const { return std::get_if<Array>(&value_); }
  const Vector* vector() const { return std::get_if<Vector>(&value_); }
  const Map* map() const { return std::get_if<Map>(&value_); }
  const FieldValue* field_value() const { return std::get_if<FieldValue>(&value_); }

  // Same type and same value: 1 is not 1.0. NaN equals NaN.
  friend bool operator==(const Value& a, const Value& b);
  friend Result<std::string> Encode(const Value& value);
  friend std::string ToString(const Value& value);

 private:
  template <typename T>
  std::optional<T> Copy() const {
    const T* value = std::get_if<T>(&value_);
    return value ? std::optional<T>(*value) : std::nullopt;
  }

  std::variant<std::nullptr_t, bool, int64_t, double, Timestamp, std::string, Bytes, Reference,
               GeoPoint, Array, Vector, Map, FieldValue>
      value_;
};

// To the stored form. InvalidArgument for a FieldValue, which has no stored form.
Result<std::string> Encode(const Value& value);
// From the stored form.
Value Decode(model::ValueView view);
Map Decode(model::MapView view);

// JSON-like, for test failures and logs.
std::string ToString(const Value& value);
void PrintTo(const Value& value, std::ostream* out);

}  // namespace hearth::client
