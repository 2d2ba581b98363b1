// Sort keys: byte strings that sort as a query's results do. Streams, merges, sorts and bounds
// compare only these.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "index/definition.h"
#include "model/fields.h"
#include "model/names.h"
#include "query/normalize.h"
#include "storage/store.h"

namespace hearth::execution {

// The components of a sort key: the ordered fields, then the name. Canonical: the first of them is
// ascending. A query that wants it descending reads the keys from the greatest to the least.
struct Layout {
  std::vector<query::Order> fields;  // Without `__name__`.
  bool name_descending = false;
  bool backward = false;
  // kCollection: keys end with the document's id. kCollectionGroup: with the whole path.
  index::QueryScope scope = index::QueryScope::kCollection;
  std::string collection;  // For scope kCollection: the collection's path.

  // True if `left` comes before `right` in the results.
  bool Before(std::string_view left, std::string_view right) const {
    return backward ? right < left : left < right;
  }
};
Layout LayoutOf(const query::NormalizedQuery& query);

// A sort key, and the offset of the name in it.
struct SortKey {
  std::string bytes;
  size_t name_at = 0;
};
// nullopt if the document lacks one of the fields.
std::optional<SortKey> SortKeyOf(const Layout& layout, const model::DocumentPath& path,
                                 std::string_view fields);
Result<model::DocumentPath> PathOf(const Layout& layout, const SortKey& key);

// A position among byte strings: before or after all that begin with `prefix`.
struct Position {
  std::string prefix;
  bool after = false;

  // The first string at or after this position; empty if there is none and `after` is set.
  std::string ToKey() const;
  friend bool operator==(const Position&, const Position&) = default;
};
// The position that results from complementing all bytes, which reverses the order.
Position Complemented(Position position);

// Between two positions, in byte order; unbounded on a side that has no position.
struct Range {
  std::optional<Position> lower;
  std::optional<Position> upper;

  void RaiseLower(Position position);
  void ReduceUpper(Position position);
  bool Contains(std::string_view bytes) const;
};
// The keys that begin with `prefix` and continue within the range.
storage::KeyRange ToKeyRange(std::string_view prefix, const Range& range);

// Fields that have the same value in all relevant documents, with their encoded keys
// (index/value_key.h).
using Constants = std::map<model::FieldPath, std::string>;

enum class Cut : uint8_t { kNo, kAsInIndexes };

// The range of sort keys that the query's cursors allow, without the components of `constants`: if
// a constant decides, the range has everything or nothing. With Cut::kAsInIndexes the range is
// widened as truncated components require.
Range CursorRange(const Layout& layout, const query::NormalizedQuery& query,
                  const Constants& constants, Cut cut);

// The values of one field that its filters allow, as ascending encodings.
struct ValueRange {
  Range range;
  std::vector<std::string> excluded;  // Complete encodings.
};
// For kLess … kGreater, kNotEqual and kNotIn; other operators are ignored.
ValueRange ValuesThatPass(const std::vector<const query::FieldFilter*>& filters);

// The position of a document's name at the end of sort keys. `reference`: encoded.
Position NamePosition(const Layout& layout, std::string_view reference, bool after);

}  // namespace hearth::execution
