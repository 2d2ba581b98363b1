#include "client/value.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/status_macros.h"

namespace hearth::client {
namespace {

using model::ValueType;
using model::ValueView;

// All NaNs are equal: a value that is written and read back must compare equal.
bool AreEqual(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <typename T>
bool AreEqual(const T& a, const T& b) {
  return a == b;
}

bool AreEqual(const GeoPoint& a, const GeoPoint& b) {
  return AreEqual(a.latitude, b.latitude) && AreEqual(a.longitude, b.longitude);
}

bool AreEqual(const Vector& a, const Vector& b) {
  if (a.components.size() != b.components.size()) return false;
  for (size_t i = 0; i < a.components.size(); ++i) {
    if (!AreEqual(a.components[i], b.components[i])) return false;
  }
  return true;
}

Result<std::string> EncodeItems(const Array& array) {
  std::vector<std::string> items;
  items.reserve(array.size());
  for (const Value& item : array) {
    ASSIGN_OR_RETURN(std::string encoded, Encode(item));
    items.push_back(std::move(encoded));
  }
  return model::EncodeArray(items);
}

Result<std::string> EncodeEntries(const Map& map) {
  std::vector<std::pair<std::string, std::string>> entries;
  entries.reserve(map.size());
  for (const auto& [name, value] : map) {
    ASSIGN_OR_RETURN(std::string encoded, Encode(value));
    entries.emplace_back(name, std::move(encoded));
  }
  return model::EncodeMap(entries);
}

struct Encoder {
  Result<std::string> operator()(std::nullptr_t) const { return model::EncodeNull(); }
  Result<std::string> operator()(bool value) const { return model::EncodeBoolean(value); }
  Result<std::string> operator()(int64_t value) const { return model::EncodeInteger(value); }
  Result<std::string> operator()(double value) const { return model::EncodeDouble(value); }
  Result<std::string> operator()(Timestamp value) const { return model::EncodeTimestamp(value); }
  Result<std::string> operator()(const std::string& value) const {
    return model::EncodeString(value);
  }
  Result<std::string> operator()(const Bytes& value) const {
    return model::EncodeBytes(value.bytes);
  }
  Result<std::string> operator()(const Reference& value) const {
    return model::EncodeReference(value.name);
  }
  Result<std::string> operator()(GeoPoint value) const { return model::EncodeGeoPoint(value); }
  Result<std::string> operator()(const Array& value) const { return EncodeItems(value); }
  Result<std::string> operator()(const Vector& value) const {
    return model::EncodeVector(value.components);
  }
  Result<std::string> operator()(const Map& value) const { return EncodeEntries(value); }
  Result<std::string> operator()(const FieldValue& value) const {
    return InvalidArgument(
        std::string(value.name()) +
        " can only be the value of a field in a write, not in an array or a query.");
  }
};

Array DecodeItems(model::ArrayView view) {
  Array items;
  while (const auto item = view.Next()) items.push_back(Decode(*item));
  return items;
}

Vector DecodeVector(model::ArrayView view) {
  Vector vector;
  while (const auto component = view.Next()) vector.components.push_back(component->number());
  return vector;
}

void AppendQuoted(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out->push_back('\\');
    if (c == '\n') {
      out->append("\\n");
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

// With a point or an exponent if it could be taken for an integer.
std::string NumberText(double number) {
  if (!std::isfinite(number)) return std::isnan(number) ? "NaN" : number > 0 ? "inf" : "-inf";
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, number);
  std::string text(buffer, written.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct Printer {
  std::string* out;

  void operator()(std::nullptr_t) const { out->append("null"); }
  void operator()(bool value) const { out->append(value ? "true" : "false"); }
  void operator()(int64_t value) const { out->append(std::to_string(value)); }
  void operator()(double value) const { out->append(NumberText(value)); }
  void operator()(Timestamp value) const { out->append("time(" + value.ToString() + ")"); }
  void operator()(const std::string& value) const { AppendQuoted(value, out); }
  void operator()(const Bytes& value) const {
    out->append("bytes(" + EncodeBase64Url(value.bytes) + ")");
  }
  void operator()(const Reference& value) const { out->append("ref(" + value.name + ")"); }
  void operator()(GeoPoint value) const {
    out->append("geo(" + NumberText(value.latitude) + ", " + NumberText(value.longitude) + ")");
  }
  void operator()(const Array& value) const { Items("[", value, "]"); }
  void operator()(const Vector& value) const {
    Items("vector(", Array(value.components.begin(), value.components.end()), ")");
  }
  void operator()(const Map& value) const {
    const char* separator = "{";
    for (const auto& [name, field] : value) {
      out->append(std::exchange(separator, ", "));
      AppendQuoted(name, out);
      out->append(": " + ToString(field));
    }
    out->append(value.empty() ? "{}" : "}");
  }
  void operator()(const FieldValue& value) const {
    out->append(value.name());
    Items(" of [", value.operands(), "]");
  }
  void Items(const char* begin, const Array& items, const char* end) const {
    out->append(begin);
    const char* separator = "";
    for (const Value& item : items) {
      out->append(std::exchange(separator, ", "));
      out->append(ToString(item));
    }
    out->append(end);
  }
};

}  // namespace

FieldValue::FieldValue(Kind kind, std::vector<Value> operands)
    : kind_(kind), operands_(std::move(operands)) {}

FieldValue FieldValue::Delete() { return FieldValue(Kind::kDelete, {}); }

FieldValue FieldValue::ServerTimestamp() { return FieldValue(Kind::kServerTimestamp, {}); }

FieldValue FieldValue::Increment(Value number) {
  return FieldValue(Kind::kIncrement, {std::move(number)});
}

FieldValue FieldValue::Maximum(Value number) {
  return FieldValue(Kind::kMaximum, {std::move(number)});
}

FieldValue FieldValue::Minimum(Value number) {
  return FieldValue(Kind::kMinimum, {std::move(number)});
}

FieldValue FieldValue::ArrayUnion(Array items) {
  return FieldValue(Kind::kArrayUnion, std::move(items));
}

FieldValue FieldValue::ArrayRemove(Array items) {
  return FieldValue(Kind::kArrayRemove, std::move(items));
}

std::string_view FieldValue::name() const {
  switch (kind_) {
    case Kind::kDelete:
      return "FieldValue::Delete()";
    case Kind::kServerTimestamp:
      return "FieldValue::ServerTimestamp()";
    case Kind::kIncrement:
      return "FieldValue::Increment()";
    case Kind::kMaximum:
      return "FieldValue::Maximum()";
    case Kind::kMinimum:
      return "FieldValue::Minimum()";
    case Kind::kArrayUnion:
      return "FieldValue::ArrayUnion()";
    case Kind::kArrayRemove:
      return "FieldValue::ArrayRemove()";
  }
  return "FieldValue";
}

bool operator==(const FieldValue& a, const FieldValue& b) {
  return a.kind_ == b.kind_ && a.operands_ == b.operands_;
}

std::optional<double> Value::number() const {
  if (const auto* integer = std::get_if<int64_t>(&value_)) return static_cast<double>(*integer);
  return Copy<double>();
}

bool operator==(const Value& a, const Value& b) {
  if (a.value_.index() != b.value_.index()) return false;
  return std::visit(
      [&b](const auto& left) {
        return AreEqual(left, std::get<std::remove_cvref_t<decltype(left)>>(b.value_));
      },
      a.value_);
}

Result<std::string> Encode(const Value& value) { return std::visit(Encoder{}, value.value_); }

Value Decode(ValueView view) {
  switch (view.type()) {
    case ValueType::kNull:
      return nullptr;
    case ValueType::kBoolean:
      return view.boolean();
    case ValueType::kInteger:
      return view.integer();
    case ValueType::kDouble:
      return view.number();
    case ValueType::kTimestamp:
      return view.timestamp();
    case ValueType::kString:
      return view.text();
    case ValueType::kBytes:
      return Bytes{std::string(view.text())};
    case ValueType::kReference:
      return Reference{std::string(view.text())};
    case ValueType::kGeoPoint:
      return view.geo_point();
    case ValueType::kArray:
      return DecodeItems(view.array());
    case ValueType::kVector:
      return DecodeVector(view.vector());
    case ValueType::kMap:
      return Decode(view.map());
  }
  return nullptr;
}

Map Decode(model::MapView view) {
  Map map;
  // Stored names are sorted, so each goes to the end.
  while (const auto field = view.Next()) {
    map.emplace_hint(map.end(), field->name, Decode(field->value));
  }
  return map;
}

std::string ToString(const Value& value) {
  std::string text;
  std::visit(Printer{&text}, value.value_);
  return text;
}

void PrintTo(const Value& value, std::ostream* out) { *out << ToString(value); }

}  // namespace hearth::client
