// Values, paths and times in the notation of cases.
#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cases/runner/scanner.h"
#include "google/firestore/v1/document.pb.h"
#include "google/firestore/v1/write.pb.h"

namespace hearth::cases {

namespace proto = google::firestore::v1;
using Time = google::protobuf::Timestamp;

// A value that an earlier step has stored.
struct Variable {
  enum class Kind : uint8_t { kTime, kToken, kTransaction };
  Kind kind = Kind::kTime;
  Time time = {};
  std::string bytes = {};  // Of a token or a transaction.
};

// The names that a statement can refer to.
struct Scope {
  std::string database;  // "projects/P/databases/D"
  std::map<std::string, Variable> variables;

  std::string root() const { return database + "/documents"; }
  // The full name of the document "rooms/a".
  std::string NameOf(std::string_view path) const { return root() + "/" + std::string(path); }
  // "rooms/a" for a full name in this database, otherwise the name unchanged.
  std::string PathOf(std::string_view name) const;
  // Replaces "$root", "$database" and variables, in the form that messages use: times in
  // microseconds.
  std::string Substitute(std::string_view text) const;
};

// "text", repeat("x", 100), and sums of these.
std::string ReadText(Scanner& scanner);
// True if ReadText can continue.
bool NextIsText(Scanner& scanner);

// $name, now or time(...), with an offset such as +1us.
Time ReadTime(Scanner& scanner, const Scope& scope);
// The variable of that kind after a "$".
const Variable* ReadVariable(Scanner& scanner, const Scope& scope, Variable::Kind kind);

// The full name of a document: rooms/a, "rooms/a b", or name("projects/...") unchanged.
std::string ReadDocumentName(Scanner& scanner, const Scope& scope);
// The path of a collection or document, relative to the database.
std::string ReadPath(Scanner& scanner);
// a.b, `odd name`.c, or any quoted text. The path is not validated.
std::string ReadFieldPath(Scanner& scanner);
// Field paths separated by commas, possibly none.
std::vector<std::string> ReadFieldPaths(Scanner& scanner);

// The field path of a single name, in backticks if necessary.
std::string QuoteFieldName(const std::string& name);

proto::Value ReadValue(Scanner& scanner, const Scope& scope);

using Transform = proto::DocumentTransform_FieldTransform;
// Reads increment(1) and similar transforms; false, without reading, if something else follows.
bool TryTransform(Scanner& scanner, const Scope& scope, Transform* transform);

// The data written to a document: fields, and the transforms in place of values.
struct DocumentData {
  google::protobuf::Map<std::string, proto::Value> fields;
  std::vector<Transform> transforms;
};
DocumentData ReadDocumentData(Scanner& scanner, const Scope& scope);

inline constexpr int64_t kNanosPerMicro = 1'000;
int64_t Micros(const Time& time);
Time TimeOfMicros(int64_t micros);

}  // namespace hearth::cases
