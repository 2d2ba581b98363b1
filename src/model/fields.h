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

// The fields of a document in stored form: canonical entries of google.firestore.v1.Document.fields
// (field number 2). Always well-formed and within the limits on single values. Immutable.
class Fields {
 public:
  Fields() = default;  // No fields.

  // Checks `encoded`, and makes it canonical if needed: protobuf entries of field number 2 in any
  // order. InvalidArgument, with a message that names the field, for anything that Firestore
  // rejects: values without a type, bad UTF-8, names that are reserved, empty or too long, arrays
  // in arrays, excessive depth, times and geo points out of range, malformed references or vectors,
  // values that are too long.
  static Result<Fields> Validate(std::string encoded);

  // Takes bytes that have passed Validate before: from the store, or from an edit of such fields.
  static Fields FromTrusted(std::string encoded) { return Fields(std::move(encoded)); }

  const std::string& encoded() const { return encoded_; }
  MapView view() const { return MapView(encoded_, MapView::Tag::kDocument); }
  // The value at `path`; nullopt if there is none. No path leads into a vector.
  std::optional<ValueView> Find(const FieldPath& path) const;
  // Only the fields in `mask`, with the maps that contain them. `__name__` does not name a field.
  Fields Project(const std::vector<FieldPath>& mask) const;
  // The size by Firestore's documented formula: names and values, without the document's own name.
  size_t SizeBytes() const;
  friend bool operator==(const Fields&, const Fields&) = default;

 private:
  explicit Fields(std::string encoded) : encoded_(std::move(encoded)) {}

  std::string encoded_;
};

// The value at `path` in the stored form of a document's fields, read in place; nullopt if there is
// none. No path leads into a vector.
std::optional<ValueView> FindField(std::string_view encoded_fields, const FieldPath& path);

// Checks a standalone value, such as an operand of a filter or a transform, by the rules for field
// values, and returns its canonical form. InvalidArgument for a value that Firestore rejects.
Result<std::string> ValidateValue(std::string encoded);

// Fields that can be changed: a tree that decodes only the maps along the paths in use.
class FieldEditor {
 public:
  explicit FieldEditor(const Fields& fields);

  // The encoded value at `path`; nullopt if there is none.
  std::optional<std::string> Get(const FieldPath& path) const;
  // The same, and removes the field. Costs no more than a change of the field: Get reads the maps
  // on the way from their beginning.
  std::optional<std::string> Take(const FieldPath& path);
  // Sets the encoded value at `path`. Any value on the way that is not a map is replaced by a map.
  // A vector is not a map.
  void Set(const FieldPath& path, std::string encoded_value);
  // Removes the field at `path`, if it exists. Maps that become empty stay.
  void Remove(const FieldPath& path);
  Fields Finish() const;

 private:
  struct Node;
  using Children = std::map<std::string, Node, std::less<>>;
  struct Node {
    // Encoded, or decoded into children. An empty string only while Set creates the node.
    std::variant<std::string, std::unique_ptr<Children>> content;
  };

  static Children TakeApart(MapView map);
  // The fields of the map in `node`, decoding it if necessary; null if it is not a map.
  static Children* ChildrenOf(Node* node);
  // The map that directly contains the field at `path`, decoding those on the way; null if there is
  // none.
  Children* Containing(const FieldPath& path);
  static std::string Encode(const Node& node);
  static std::string EncodeChildren(const Children& children, MapView::Tag tag);

  Children root_;
};

}  // namespace hearth::model
