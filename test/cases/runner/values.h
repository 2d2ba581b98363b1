// Values, paths and times as cases write them.
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

// Something that an earlier step has brought.
struct Variable {
  enum class Kind : uint8_t { kTime, kToken, kTransaction };
  Kind kind = Kind::kTime;
  Time time = {};
  std::string bytes = {};  // Of a token or a transaction.
};

// What a statement can refer to.
struct Scope {
  std::string database;  // "projects/P/databases/D"
  std::map<std::string, Variable> variables;

  std::string root() const { return database + "/documents"; }
  // The full name of the document "rooms/a".
  std::string NameOf(std::string_view path) const { return root() + "/" + std::string(path); }
  // "rooms/a" of a full name in this database, else the name as it is.
  std::string PathOf(std::string_view name) const;
  // "$root", "$database" and variables, as messages write them: times in microseconds.
  std::string Substitute(std::string_view text) const;
};

// "text", repeat("x", 100), and sums of those.
std::string ReadText(Scanner& scanner);
// True where ReadText can go on.
bool NextIsText(Scanner& scanner);

// $name, now or time(...), with an offset such as +1us.
Time ReadTime(Scanner& scanner, const Scope& scope);
// The variable of that kind after a "$".
const Variable* ReadVariable(Scanner& scanner, const Scope& scope, Variable::Kind kind);

// The full name of a document: rooms/a, "rooms/a b", or name("projects/...") as it is.
std::string ReadDocumentName(Scanner& scanner, const Scope& scope);
// The path of a collection, or a document's, relative to the database.
std::string ReadPath(Scanner& scanner);
// a.b, `odd name`.c, or any text in quotes. The path is not checked.
std::string ReadFieldPath(Scanner& scanner);
// Field paths with commas between them, or none.
std::vector<std::string> ReadFieldPaths(Scanner& scanner);

// The field path of a single name, in backticks where it needs them.
std::string QuoteFieldName(const std::string& name);

proto::Value ReadValue(Scanner& scanner, const Scope& scope);

using Transform = proto::DocumentTransform_FieldTransform;
// increment(1) and the like; false, and nothing is read, where something else follows.
bool TryTransform(Scanner& scanner, const Scope& scope, Transform* transform);

// What is written to a document: fields, and what stands in the place of values.
struct DocumentData {
  google::protobuf::Map<std::string, proto::Value> fields;
  std::vector<Transform> transforms;
};
DocumentData ReadDocumentData(Scanner& scanner, const Scope& scope);

inline constexpr int64_t kNanosPerMicro = 1'000;
int64_t Micros(const Time& time);
Time TimeOfMicros(int64_t micros);

}  // namespace hearth::cases
