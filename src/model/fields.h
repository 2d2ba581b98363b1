#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "model/field_path.h"
#include "model/value.h"

namespace hearth::model {

// The fields of a document in stored form: entries of google.firestore.v1.Document.fields (field
// number 2), canonical. Always well-formed and within the limits that hold for a single value.
// Immutable.
class Fields {
 public:
  Fields() = default;  // No fields.

  // Checks and, where needed, canonicalises `encoded`: protobuf entries of field number 2 in any
  // order. InvalidArgument, with a message that names the field, for anything Firestore refuses:
  // values without a type, bad UTF-8, reserved or empty or long names, arrays in arrays, depth,
  // times and geo points out of range, malformed references, malformed vectors, long values.
  static Result<Fields> Validate(std::string encoded);

  // Takes bytes that passed Validate before: from the store, or from an edit of such fields.
  static Fields FromTrusted(std::string encoded) { return Fields(std::move(encoded)); }

  const std::string& encoded() const { return encoded_; }
  MapView view() const { return MapView(encoded_, MapView::Tag::kDocument); }
  // The value at `path`; nullopt where the path leads nowhere. No path leads into a vector.
  std::optional<ValueView> Find(const FieldPath& path) const;
  // Only the fields in `mask`, with the maps that hold them. `__name__` names no field.
  Fields Project(const std::vector<FieldPath>& mask) const;
  // Bytes by Firestore's documented formula: names and values, without the document's own name.
  size_t SizeBytes() const;
  friend bool operator==(const Fields&, const Fields&) = default;

 private:
  explicit Fields(std::string encoded) : encoded_(std::move(encoded)) {}

  std::string encoded_;
};

// The value at `path` in the stored form of a document's fields, read in place; nullopt where the
// path leads nowhere. No path leads into a vector.
std::optional<ValueView> FindField(std::string_view encoded_fields, const FieldPath& path);

// Checks one value on its own, as a filter or a transform brings it, by the rules for a field's
// value, and returns its canonical form. InvalidArgument for what Firestore refuses.
Result<std::string> ValidateValue(std::string encoded);

// Fields that can be changed: a tree whose maps are taken apart only along the paths in use.
class FieldEditor {
 public:
  explicit FieldEditor(const Fields& fields);

  // The encoded value at `path`; nullopt where the path leads nowhere.
  std::optional<std::string> Get(const FieldPath& path) const;
  // Sets the encoded value at `path`. Whatever stands in the way and is no map becomes one; a
  // vector is no map.
  void Set(const FieldPath& path, std::string encoded_value);
  // Removes the field at `path`, if it is there. Maps that become empty stay.
  void Remove(const FieldPath& path);
  Fields Finish() const;

 private:
  struct Node;
  using Children = std::map<std::string, Node, std::less<>>;
  struct Node {
    // Encoded, or taken apart. Empty and encoded only while Set makes the node.
    std::variant<std::string, std::unique_ptr<Children>> content;
  };

  static Children TakeApart(MapView map);
  // The fields of the map in `node`, which is taken apart if it was not yet; null if it is no map.
  static Children* ChildrenOf(Node* node);
  static std::string Encode(const Node& node);
  static std::string EncodeChildren(const Children& children, MapView::Tag tag);

  Children root_;
};

}  // namespace hearth::model
