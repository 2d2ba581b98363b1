#include "cases/runner/values.h"

#include <google/protobuf/util/time_util.h>

#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/base64.h"
#include "cases/runner/case_file.h"

namespace hearth::cases {
namespace {

constexpr size_t kTextBytesMax = 20 * 1024 * 1024;
constexpr int64_t kMicrosPerSecond = 1'000'000;

// Where transforms inside a map are collected.
struct TransformPlace {
  std::string prefix;
  std::vector<Transform>* list;
};

proto::Value ReadAny(Scanner& scanner, const Scope& scope, const TransformPlace* place);

bool IsSimpleName(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

void ReadMapInto(Scanner& scanner, const Scope& scope, const TransformPlace* place,
                 google::protobuf::Map<std::string, proto::Value>* fields) {
  scanner.Expect('{');
  if (scanner.Try('}')) return;
  do {
    const std::string key = ReadText(scanner);
    scanner.Expect(':');
    if (place == nullptr) {
      (*fields)[key] = ReadAny(scanner, scope, nullptr);
      continue;
    }
    TransformPlace inner = {place->prefix + QuoteFieldName(key), place->list};
    Transform transform;
    if (TryTransform(scanner, scope, &transform)) {
      transform.set_field_path(inner.prefix);
      place->list->push_back(transform);
      continue;
    }
    inner.prefix += '.';
    const size_t before = place->list->size();
    proto::Value value = ReadAny(scanner, scope, &inner);
    // A map that contains only transforms is not a value, only a path to them.
    const bool is_only_path = place->list->size() > before && value.map_value().fields().empty();
    if (!is_only_path) (*fields)[key] = std::move(value);
  } while (scanner.Try(',') && scanner.ok());
  scanner.Expect('}');
}

void ReadArray(Scanner& scanner, const Scope& scope, char end, proto::ArrayValue* array) {
  if (scanner.Try(end)) return;
  do {
    *array->add_values() = ReadValue(scanner, scope);
  } while (scanner.Try(',') && scanner.ok());
  scanner.Expect(end);
}

// 1 is an integer; 1.0, 1e3, NaN and Infinity are doubles.
proto::Value ReadNumber(Scanner& scanner) {
  proto::Value value;
  scanner.Peek();
  std::string text;
  while (scanner.HasRaw() &&
         (std::isalnum(static_cast<unsigned char>(scanner.PeekRaw())) ||
          std::string_view("+-.").find(scanner.PeekRaw()) != std::string_view::npos)) {
    text += scanner.TakeRaw();
  }
  int64_t integer = 0;
  if (ParseInteger(text, &integer)) {
    value.set_integer_value(integer);
    return value;
  }
  char* end = nullptr;
  value.set_double_value(std::strtod(text.c_str(), &end));
  if (text.empty() || *end != '\0') scanner.Fail("'" + text + "' is not a value");
  return value;
}

double ReadDouble(Scanner& scanner) {
  if (scanner.TryWord("NaN")) return std::numeric_limits<double>::quiet_NaN();
  const proto::Value number = ReadNumber(scanner);
  return number.has_integer_value() ? static_cast<double>(number.integer_value())
                                    : number.double_value();
}

Time ReadTimeLiteral(Scanner& scanner) {
  Time time;
  scanner.Expect('(');
  if (scanner.Peek() == '"') {
    const std::string text = ReadText(scanner);
    if (!google::protobuf::util::TimeUtil::FromString(text, &time)) {
      scanner.Fail("'" + text + "' is not a time");
    }
  } else {
    time.set_seconds(scanner.Integer());
    if (scanner.Try(',')) time.set_nanos(static_cast<int32_t>(scanner.Integer()));
  }
  scanner.Expect(')');
  return time;
}

int64_t ReadUnitMicros(Scanner& scanner) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"us", 1}, {"ms", 1'000}, {"s", 1'000'000}, {"m", 60'000'000}, {"h", 3'600'000'000}};
  for (const auto& [unit, micros] : kUnits) {
    if (scanner.TryWord(unit)) return micros;
  }
  scanner.FailExpecting("us, ms, s, m or h");
  return 0;
}

proto::Value ReadBytes(Scanner& scanner) {
  proto::Value value;
  scanner.Expect('(');
  if (scanner.TryWord("repeat")) {
    scanner.Expect('(');
    const std::string piece = ReadText(scanner);
    scanner.Expect(',');
    const size_t count = scanner.Count();
    std::string bytes;
    for (size_t i = 0; i < count && bytes.size() < kTextBytesMax; ++i) bytes += piece;
    scanner.Expect(')');
    value.set_bytes_value(bytes);
  } else {
    const auto bytes = DecodeAnyBase64(ReadText(scanner));
    if (!bytes) scanner.Fail("bytes(...) takes base64");
    value.set_bytes_value(bytes.value_or(""));
  }
  scanner.Expect(')');
  return value;
}

proto::Value ReadGeoPoint(Scanner& scanner) {
  proto::Value value;
  scanner.Expect('(');
  value.mutable_geo_point_value()->set_latitude(ReadDouble(scanner));
  scanner.Expect(',');
  value.mutable_geo_point_value()->set_longitude(ReadDouble(scanner));
  scanner.Expect(')');
  return value;
}

// A vector is a map with a type marker.
proto::Value VectorValue(const std::vector<double>& components) {
  proto::Value value;
  auto& fields = *value.mutable_map_value()->mutable_fields();
  fields["__type__"].set_string_value("__vector__");
  proto::ArrayValue* array = fields["value"].mutable_array_value();
  for (const double component : components) array->add_values()->set_double_value(component);
  return value;
}

// vector(1, 2), vector() or vector(2048 of 0.5)
proto::Value ReadVector(Scanner& scanner) {
  std::vector<double> components;
  scanner.Expect('(');
  if (scanner.Try(')')) return VectorValue({});
  do {
    const double number = ReadDouble(scanner);
    if (scanner.TryWord("of")) {
      components.assign(static_cast<size_t>(number), ReadDouble(scanner));
    } else {
      components.push_back(number);
    }
  } while (scanner.Try(',') && scanner.ok());
  scanner.Expect(')');
  return VectorValue(components);
}

// nest(3, 1) is {"n": {"n": {"n": 1}}}.
proto::Value ReadNest(Scanner& scanner, const Scope& scope) {
  scanner.Expect('(');
  const size_t levels = scanner.Count();
  scanner.Expect(',');
  proto::Value value = ReadValue(scanner, scope);
  scanner.Expect(')');
  for (size_t i = 0; i < levels && scanner.ok(); ++i) {
    proto::Value outer;
    (*outer.mutable_map_value()->mutable_fields())["n"] = std::move(value);
    value = std::move(outer);
  }
  return value;
}

// list(3, 1) is [1, 1, 1].
proto::Value ReadList(Scanner& scanner, const Scope& scope) {
  proto::Value list;
  scanner.Expect('(');
  const size_t count = scanner.Count();
  scanner.Expect(',');
  const proto::Value value = ReadValue(scanner, scope);
  scanner.Expect(')');
  list.mutable_array_value();
  for (size_t i = 0; i < count && scanner.ok(); ++i) {
    *list.mutable_array_value()->add_values() = value;
  }
  return list;
}

// fields(3, "f", 1) is {"f0": 1, "f1": 1, "f2": 1}.
void ReadManyFields(Scanner& scanner, const Scope& scope, const TransformPlace* place,
                    google::protobuf::Map<std::string, proto::Value>* fields) {
  scanner.Expect('(');
  const size_t count = scanner.Count();
  scanner.Expect(',');
  const std::string name = ReadText(scanner);
  scanner.Expect(',');
  Transform transform;
  const bool is_transform = place != nullptr && TryTransform(scanner, scope, &transform);
  const proto::Value value = is_transform ? proto::Value() : ReadValue(scanner, scope);
  scanner.Expect(')');
  for (size_t i = 0; i < count && scanner.ok(); ++i) {
    const std::string key = name + std::to_string(i);
    if (is_transform) {
      transform.set_field_path(place->prefix + QuoteFieldName(key));
      place->list->push_back(transform);
    } else {
      (*fields)[key] = value;
    }
  }
}

proto::Value ReadReference(Scanner& scanner, const Scope& scope) {
  proto::Value value;
  scanner.Expect('(');
  value.set_reference_value(ReadDocumentName(scanner, scope));
  scanner.Expect(')');
  return value;
}

// Keywords that begin a value; false if something else follows.
bool TryWordValue(Scanner& scanner, const Scope& scope, proto::Value* value) {
  if (scanner.TryWord("null")) {
    value->set_null_value(google::protobuf::NULL_VALUE);
  } else if (scanner.TryWord("true")) {
    value->set_boolean_value(true);
  } else if (scanner.TryWord("false")) {
    value->set_boolean_value(false);
  } else if (scanner.TryWord("unset")) {
    value->clear_value_type();
  } else if (scanner.TryWord("bytes")) {
    *value = ReadBytes(scanner);
  } else if (scanner.TryWord("geo")) {
    *value = ReadGeoPoint(scanner);
  } else if (scanner.TryWord("vector")) {
    *value = ReadVector(scanner);
  } else if (scanner.TryWord("ref")) {
    *value = ReadReference(scanner, scope);
  } else if (scanner.TryWord("nest")) {
    *value = ReadNest(scanner, scope);
  } else if (scanner.TryWord("list")) {
    *value = ReadList(scanner, scope);
  } else if (scanner.NextIsWord("time") || scanner.Peek() == '$') {
    *value->mutable_timestamp_value() = ReadTime(scanner, scope);
  } else {
    return false;
  }
  return true;
}

proto::Value ReadAny(Scanner& scanner, const Scope& scope, const TransformPlace* place) {
  proto::Value value;
  if (scanner.Peek() == '{') {
    ReadMapInto(scanner, scope, place, value.mutable_map_value()->mutable_fields());
  } else if (scanner.TryWord("fields")) {
    ReadManyFields(scanner, scope, place, value.mutable_map_value()->mutable_fields());
  } else if (scanner.Try('[')) {
    ReadArray(scanner, scope, ']', value.mutable_array_value());
  } else if (NextIsText(scanner)) {
    value.set_string_value(ReadText(scanner));
  } else if (!TryWordValue(scanner, scope, &value)) {
    value = ReadNumber(scanner);
  }
  return value;
}

// The operand of increment(...) and similar transforms.
void ReadOperand(Scanner& scanner, const Scope& scope, proto::Value* value) {
  scanner.Expect('(');
  *value = ReadValue(scanner, scope);
  scanner.Expect(')');
}

}  // namespace

std::string QuoteFieldName(const std::string& name) {
  if (IsSimpleName(name)) return name;
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "`";
}

int64_t Micros(const Time& time) {
  return time.seconds() * kMicrosPerSecond + time.nanos() / kNanosPerMicro;
}

Time TimeOfMicros(int64_t micros) {
  Time time;
  int64_t seconds = micros / kMicrosPerSecond;
  if (micros % kMicrosPerSecond < 0) --seconds;
  time.set_seconds(seconds);
  time.set_nanos(static_cast<int32_t>((micros - seconds * kMicrosPerSecond) * kNanosPerMicro));
  return time;
}

std::string Scope::PathOf(std::string_view name) const {
  const std::string prefix = root() + "/";
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
}

std::string Scope::Substitute(std::string_view text) const {
  std::map<std::string, std::string> names = {{"root", root()}, {"database", database}};
  for (const auto& [name, variable] : variables) {
    if (variable.kind == Variable::Kind::kTime) names[name] = std::to_string(Micros(variable.time));
  }
  return Expand(text, names);
}

bool NextIsText(Scanner& scanner) { return scanner.Peek() == '"' || scanner.NextIsWord("repeat"); }

std::string ReadText(Scanner& scanner) {
  std::string text;
  do {
    if (!scanner.TryWord("repeat")) {
      text += scanner.QuotedString();
      continue;
    }
    scanner.Expect('(');
    const std::string piece = ReadText(scanner);
    scanner.Expect(',');
    const size_t count = scanner.Count();
    scanner.Expect(')');
    if (piece.size() * count > kTextBytesMax) scanner.Fail("this text is too long");
    for (size_t i = 0; i < count && scanner.ok(); ++i) text += piece;
  } while (scanner.Try('+') && scanner.ok());
  return text;
}

const Variable* ReadVariable(Scanner& scanner, const Scope& scope, Variable::Kind kind) {
  scanner.Expect('$');
  const std::string name = scanner.Word();
  const auto found = scope.variables.find(name);
  if (found != scope.variables.end() && found->second.kind == kind) return &found->second;
  scanner.Fail(found == scope.variables.end() ? "nothing was kept as $" + name
                                              : "$" + name + " is of another kind");
  return nullptr;
}

Time ReadTime(Scanner& scanner, const Scope& scope) {
  Time time;
  if (scanner.TryWord("time")) {
    time = ReadTimeLiteral(scanner);
  } else if (scanner.TryWord("now")) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    time = TimeOfMicros(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  } else if (const Variable* variable = ReadVariable(scanner, scope, Variable::Kind::kTime)) {
    time = variable->time;
  }
  if (scanner.ok() && (scanner.PeekRaw() == '+' || scanner.PeekRaw() == '-')) {
    const int64_t count = scanner.Integer();
    time = TimeOfMicros(Micros(time) + count * ReadUnitMicros(scanner));
  }
  return time;
}

std::string ReadPath(Scanner& scanner) {
  return NextIsText(scanner) ? ReadText(scanner) : scanner.Token();
}

std::string ReadDocumentName(Scanner& scanner, const Scope& scope) {
  if (!scanner.NextIsWord("name") || !scanner.RestRaw().starts_with("name(")) {
    return scope.NameOf(ReadPath(scanner));
  }
  scanner.TryWord("name");
  scanner.Expect('(');
  const std::string name = scope.Substitute(ReadText(scanner));
  scanner.Expect(')');
  return name;
}

std::string ReadFieldPath(Scanner& scanner) {
  if (NextIsText(scanner)) return ReadText(scanner);
  std::string path;
  bool is_quoted = false;
  while (scanner.HasRaw()) {
    const char c = scanner.PeekRaw();
    if (!is_quoted && std::string_view(" \t,()").find(c) != std::string_view::npos) break;
    path += scanner.TakeRaw();
    if (c == '`') is_quoted = !is_quoted;
    if (c == '\\' && scanner.HasRaw()) path += scanner.TakeRaw();
  }
  if (path.empty()) scanner.FailExpecting("a field path");
  return path;
}

std::vector<std::string> ReadFieldPaths(Scanner& scanner) {
  std::vector<std::string> paths;
  if (scanner.TryWord("none")) return paths;
  do {
    paths.push_back(ReadFieldPath(scanner));
  } while (scanner.Try(',') && scanner.ok());
  return paths;
}

proto::Value ReadValue(Scanner& scanner, const Scope& scope) {
  return ReadAny(scanner, scope, nullptr);
}

bool TryTransform(Scanner& scanner, const Scope& scope, Transform* transform) {
  if (scanner.TryWord("increment")) {
    ReadOperand(scanner, scope, transform->mutable_increment());
  } else if (scanner.TryWord("maximum")) {
    ReadOperand(scanner, scope, transform->mutable_maximum());
  } else if (scanner.TryWord("minimum")) {
    ReadOperand(scanner, scope, transform->mutable_minimum());
  } else if (scanner.TryWord("union")) {
    scanner.Expect('(');
    ReadArray(scanner, scope, ')', transform->mutable_append_missing_elements());
  } else if (scanner.TryWord("remove")) {
    scanner.Expect('(');
    ReadArray(scanner, scope, ')', transform->mutable_remove_all_from_array());
  } else if (scanner.TryWord("server_time")) {
    scanner.Expect('(');
    scanner.Expect(')');
    transform->set_set_to_server_value(proto::DocumentTransform_FieldTransform::REQUEST_TIME);
  } else {
    return false;
  }
  return true;
}

DocumentData ReadDocumentData(Scanner& scanner, const Scope& scope) {
  DocumentData data;
  const TransformPlace place = {"", &data.transforms};
  proto::Value value = ReadAny(scanner, scope, &place);
  if (!value.has_map_value()) scanner.Fail("a document is an object: {...}");
  data.fields.swap(*value.mutable_map_value()->mutable_fields());
  return data;
}

}  // namespace hearth::cases
