// Sort keys: byte strings that sort as a query's results do. Streams, merges, sorts and bounds
// compare nothing else.
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

// What a sort key consists of: the ordered fields, then the name. Canonical: the first of them is
// ascending; a query that wants it descending takes the keys from the greatest to the least.
struct Layout {
  std::vector<query::Order> fields;  // Without `__name__`.
  bool name_descending = false;
  bool backward = false;
  // kCollection: keys end with the document's id. kCollectionGroup: with the whole path.
  index::QueryScope scope = index::QueryScope::kCollection;
  std::string collection;  // Of scope kCollection: the collection's path.

  // True when `left` comes before `right` in the results.
  bool Before(std::string_view left, std::string_view right) const {
    return backward ? right < left : left < right;
  }
};
Layout LayoutOf(const query::NormalizedQuery& query);

// A sort key, and where the name begins in it.
struct SortKey {
  std::string bytes;
  size_t name_at = 0;
};
// nullopt where the document lacks one of the fields.
std::optional<SortKey> SortKeyOf(const Layout& layout, const model::DocumentPath& path,
                                 std::string_view fields);
Result<model::DocumentPath> PathOf(const Layout& layout, const SortKey& key);

// A place among byte strings: before or after all that begin with `prefix`.
struct Position {
  std::string prefix;
  bool after = false;

  // The first string at or after this place; empty after `after` when there is none.
  std::string ToKey() const;
  friend bool operator==(const Position&, const Position&) = default;
};
// The place that this one becomes when all bytes are complemented and so the order turns round.
Position Complemented(Position position);

// Between two places, in byte order; no bound where there is no position.
struct Range {
  std::optional<Position> lower;
  std::optional<Position> upper;

  void RaiseLower(Position position);
  void ReduceUpper(Position position);
  bool Contains(std::string_view bytes) const;
};
// The keys that begin with `prefix`, and then are within the range.
storage::KeyRange ToKeyRange(std::string_view prefix, const Range& range);

// Fields that have one value in all documents concerned: their encoded keys (index/value_key.h).
using Constants = std::map<model::FieldPath, std::string>;

enum class Cut : uint8_t { kNo, kAsInIndexes };

// The part of the sort keys that the query's cursors leave. Without the components of `constants`:
// where those decide, everything is in or out. With Cut::kAsInIndexes the range is as wide as cut
// components make it.
Range CursorRange(const Layout& layout, const query::NormalizedQuery& query,
                  const Constants& constants, Cut cut);

// What the filters on one field leave of its values, as ascending encodings.
struct ValueRange {
  Range range;
  std::vector<std::string> excluded;  // Whole encodings.
};
// Of kLess … kGreater, kNotEqual and kNotIn; other operators are ignored.
ValueRange ValuesThatPass(const std::vector<const query::FieldFilter*>& filters);

// The place of a document's name at the end of sort keys. `reference`: encoded.
Position NamePosition(const Layout& layout, std::string_view reference, bool after);

}  // namespace hearth::execution
