#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/value_wire.h"

namespace hearth::model {

// Checks arbitrary bytes against all rules for values in one pass, and records whether they are
// canonical. One validator checks one input.
//
// Errors: the functions return false for bytes that Firestore would reject; status() has the
// reason, with Firestore's message. kValueDepthMax bounds the recursion.
class ValueValidator {
 public:
  // The fields of a document: entries of field number 2.
  [[nodiscard]] bool CheckFields(std::string_view encoded);
  // One standalone value.
  [[nodiscard]] bool CheckValue(std::string_view encoded);

  Status status() const { return status_; }
  // After a successful check: whether the bytes are already in stored form.
  bool canonical() const { return canonical_; }

 private:
  // The position of a value. Arrays and maps are distinguished because Firestore's messages do so.
  struct Place {
    size_t depth = 0;  // Number of maps and arrays around the value.
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
  // `path_bytes` is the length of the map's path on entry and of the field's path on return.
  bool NestedName(std::string_view name, std::optional<size_t>* path_bytes);
  // To be canonical, names must be in ascending order, without duplicates.
  void NoteOrder(std::string_view name, std::string_view* previous);

  Status status_;
  bool canonical_ = true;
  std::string_view property_;  // The document field being checked.
};

}  // namespace hearth::model
