#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/value_wire.h"

namespace hearth::model {

// Checks bytes that may be anything against all rules for values, in one pass, and notices whether
// they are canonical. One validator checks one input.
//
// Errors: the functions return false for bytes that Firestore would refuse; status() says why, in
// Firestore's words. Recursion is bounded by kValueDepthMax.
class ValueValidator {
 public:
  // The fields of a document: entries of field number 2.
  [[nodiscard]] bool CheckFields(std::string_view encoded);
  // One value on its own.
  [[nodiscard]] bool CheckValue(std::string_view encoded);

  Status status() const { return status_; }
  // After a successful check: the bytes are in stored form already.
  bool canonical() const { return canonical_; }

 private:
  // Where a value stands. Lists and maps are told apart because Firestore's messages do.
  struct Place {
    size_t depth = 0;  // Maps and arrays around the value.
    bool in_map = false;
    bool in_array = false;  // Directly.
    // Length of the path of the field that holds the value; nullopt for a standalone value.
    std::optional<size_t> path_bytes = std::nullopt;
  };

  bool Fail(std::string message);
  bool FailMalformed();
  bool FailNested();

  bool Value(std::string_view encoded, Place place);
  bool Scalar(uint64_t tag, WireReader* reader);
  bool Text(std::string_view text, Place place);
  bool TimestampValue(std::string_view body);
  bool GeoPointValue(std::string_view body);
  bool Array(std::string_view body, Place place);
  bool Map(std::string_view body, Place place);
  bool Vector(std::string_view body, Place place);
  bool VectorComponents(std::string_view value);
  bool Entry(std::string_view bytes, EntryParts* entry);
  bool TopLevelName(std::string_view name);
  // `path_bytes` goes in as the length of the map's path and comes out as that of the field's.
  bool NestedName(std::string_view name, std::optional<size_t>* path_bytes);
  // Names must come in ascending order, none twice, to be canonical.
  void NoteOrder(std::string_view name, std::string_view* previous);

  Status status_;
  bool canonical_ = true;
  std::string_view property_;  // The document's field that is being checked.
};

}  // namespace hearth::model
