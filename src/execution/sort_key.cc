#include "execution/sort_key.h"

#include <utility>

#include "index/entries.h"
#include "index/value_key.h"
#include "model/path_encoding.h"

namespace hearth::execution {
namespace {

using index::QueryScope;
using model::DocumentPath;
using model::ValueType;
using model::ValueView;

query::SortDirection Reverse(query::SortDirection direction) {
  return direction == query::SortDirection::kAscending ? query::SortDirection::kDescending
                                                       : query::SortDirection::kAscending;
}

std::string ValueKey(std::string_view encoded) {
  std::string key;
  index::AppendValueKey(ValueView(encoded), &key);
  return key;
}

// A document's path in its reference: the part after "projects/P/databases/D/documents/".
std::string_view PathOfReference(std::string_view reference) {
  constexpr int kSegmentsBefore = 5;
  for (int i = 0; i < kSegmentsBefore; ++i) reference.remove_prefix(reference.find('/') + 1);
  return reference;
}

// The whole path as encoded segments, so that paths compare as names do.
std::string PathKey(std::string_view path) {
  std::string key;
  model::AppendSegments(path, &key);
  return key;
}

// Builds the position of a cursor component by component.
struct PositionBuilder {
  const Layout& layout;
  const Constants& constants;
  Cut cut;

  struct Built {
    Position position;
    bool is_cut = false;  // Keys with the prefix may be on either side.
  };

  // `before`: the cursor's side in the order of results.
  Built Build(const query::Bound& bound) const {
    // If keys are read backwards, the position before the equal ones in the results is after them
    // in key order.
    const bool after = bound.before == layout.backward;
    std::string prefix;
    for (size_t i = 0; i < bound.values.size(); ++i) {
      if (i == layout.fields.size()) return {AtName(std::move(prefix), bound.values[i], after)};
      const query::Order& order = layout.fields[i];
      std::string component = ValueKey(bound.values[i]);
      if (const auto constant = constants.find(order.path); constant != constants.end()) {
        if (constant->second == component) continue;
        const bool constant_is_less =
            (constant->second < component) == (order.direction == query::SortDirection::kAscending);
        // All keys with this prefix are before the position, or all are after it.
        return {{std::move(prefix), constant_is_less}};
      }
      const bool is_cut = cut == Cut::kAsInIndexes && component.size() > index::kComponentBytesMax;
      if (is_cut) component.resize(index::kComponentBytesMax);
      if (order.direction == query::SortDirection::kDescending) index::Complement(0, &component);
      prefix += component;
      if (is_cut) return {{std::move(prefix), after}, true};
    }
    return {{std::move(prefix), after}};
  }

  Position AtName(std::string prefix, std::string_view value, bool after) const {
    Position name = NamePosition(layout, ValueView(value).text(), after);
    return {std::move(prefix) + name.prefix, name.after};
  }
};

// The range of the values of one type. NaN is not among the numbers.
Range RangeOfType(const ValueView& value) {
  const std::string type = index::TypeKey(value);
  return {Position{value.IsNumber() ? index::LeastNumberKey() : type, false}, Position{type, true}};
}

}  // namespace

Layout LayoutOf(const query::NormalizedQuery& query) {
  Layout layout;
  layout.fields.assign(query.orders.begin(), query.orders.end() - 1);
  layout.name_descending = query.orders.back().direction == query::SortDirection::kDescending;
  layout.backward = query.orders.front().direction == query::SortDirection::kDescending;
  if (layout.backward) {
    for (query::Order& order : layout.fields) order.direction = Reverse(order.direction);
    layout.name_descending = !layout.name_descending;
  }
  if (query.query.all_descendants || query.query.collection_id.empty()) {
    layout.scope = QueryScope::kCollectionGroup;
  } else {
    const std::string& parent = query.query.parent.document_path;
    layout.collection = (parent.empty() ? "" : parent + "/") + query.query.collection_id;
  }
  return layout;
}

std::optional<SortKey> SortKeyOf(const Layout& layout, const DocumentPath& path,
                                 std::string_view fields) {
  SortKey key;
  for (const query::Order& order : layout.fields) {
    const std::optional<ValueView> value = model::FindField(fields, order.path);
    if (!value) return std::nullopt;
    const size_t begin = key.bytes.size();
    index::AppendValueKey(*value, &key.bytes);
    if (order.direction == query::SortDirection::kDescending) index::Complement(begin, &key.bytes);
  }
  key.name_at = key.bytes.size();
  index::AppendName(path, layout.scope, layout.name_descending, &key.bytes);
  return key;
}

Result<DocumentPath> PathOf(const Layout& layout, const SortKey& key) {
  return index::DecodeName(std::string_view(key.bytes).substr(key.name_at), layout.scope,
                           layout.name_descending, layout.collection);
}

std::string Position::ToKey() const { return after ? storage::PrefixRange(prefix).last : prefix; }

Position Complemented(Position position) {
  index::Complement(0, &position.prefix);
  position.after = !position.after;
  return position;
}

namespace {

// True if `position` is at or before `bytes`.
bool IsAtOrBefore(const Position& position, std::string_view bytes) {
  return position.after ? position.prefix < bytes && !bytes.starts_with(position.prefix)
                        : position.prefix <= bytes;
}

// True if `left` comes before `right`.
bool ComesBefore(const Position& left, const Position& right) {
  const std::string left_key = left.ToKey();
  const std::string right_key = right.ToKey();
  if (left_key.empty() && left.after) return false;  // After everything.
  if (right_key.empty() && right.after) return true;
  return left_key < right_key;
}

}  // namespace

void Range::RaiseLower(Position position) {
  if (!lower || ComesBefore(*lower, position)) lower = std::move(position);
}

void Range::ReduceUpper(Position position) {
  if (!upper || ComesBefore(position, *upper)) upper = std::move(position);
}

bool Range::Contains(std::string_view bytes) const {
  return (!lower || IsAtOrBefore(*lower, bytes)) && (!upper || !IsAtOrBefore(*upper, bytes));
}

storage::KeyRange ToKeyRange(std::string_view prefix, const Range& range) {
  storage::KeyRange keys = storage::PrefixRange(prefix);
  const auto key_of = [prefix](const Position& position) {
    return Position{std::string(prefix) + position.prefix, position.after}.ToKey();
  };
  if (range.lower) keys.first = key_of(*range.lower);
  if (range.upper) keys.last = key_of(*range.upper);
  // A range that ends before it begins is empty.
  if (!keys.last.empty() && keys.last < keys.first) keys.last = keys.first;
  return keys;
}

Range CursorRange(const Layout& layout, const query::NormalizedQuery& query,
                  const Constants& constants, Cut cut) {
  const PositionBuilder builder{layout, constants, cut};
  Range range;
  const auto add = [&](const std::optional<query::Bound>& bound, bool is_lower) {
    if (!bound) return;
    PositionBuilder::Built built = builder.Build(*bound);
    if (built.is_cut) built.position.after = !is_lower;
    if (is_lower) {
      range.RaiseLower(std::move(built.position));
    } else {
      range.ReduceUpper(std::move(built.position));
    }
  };
  add(query.query.start, !layout.backward);
  add(query.query.end, layout.backward);
  return range;
}

ValueRange ValuesThatPass(const std::vector<const query::FieldFilter*>& filters) {
  ValueRange result;
  const auto exclude = [&result](std::string_view encoded) {
    result.excluded.push_back(ValueKey(encoded));
    result.range.RaiseLower({ValueKey(model::EncodeNull()), true});
  };
  for (const query::FieldFilter* filter : filters) {
    const ValueView value(filter->value);
    const auto within_type = [&] {
      Range type = RangeOfType(value);
      result.range.RaiseLower(*std::move(type.lower));
      result.range.ReduceUpper(*std::move(type.upper));
    };
    switch (filter->op) {
      case query::Operator::kLess:
        within_type();
        result.range.ReduceUpper({ValueKey(filter->value), false});
        break;
      case query::Operator::kLessOrEqual:
        within_type();
        result.range.ReduceUpper({ValueKey(filter->value), true});
        break;
      case query::Operator::kGreater:
        within_type();
        result.range.RaiseLower({ValueKey(filter->value), true});
        break;
      case query::Operator::kGreaterOrEqual:
        within_type();
        result.range.RaiseLower({ValueKey(filter->value), false});
        break;
      case query::Operator::kNotEqual:
        exclude(filter->value);
        break;
      case query::Operator::kNotIn:
        for (model::ArrayView rest = value.array(); const auto item = rest.Next();) {
          exclude(item->encoded());
        }
        break;
      default:
        break;
    }
  }
  return result;
}

Position NamePosition(const Layout& layout, std::string_view reference, bool after) {
  const std::string_view path = PathOfReference(reference);
  Position position{"", after};
  if (layout.scope == QueryScope::kCollectionGroup) {
    position.prefix = PathKey(path) + std::string("\x00\x00", 2);
  } else {
    const std::string collection = PathKey(layout.collection);
    const std::string key = PathKey(path);
    if (!key.starts_with(collection)) {
      // Another collection: all ids of this one are on the same side.
      position.after = collection < key;
      if (layout.name_descending) position.after = !position.after;
      return position;
    }
    std::string_view rest = std::string_view(key).substr(collection.size());
    const Result<std::string> id = model::TakeSegment(&rest);
    if (id.ok()) model::AppendSegment(*id, &position.prefix);
    // Below a document: right after it, if names ascend.
    if (!rest.empty()) position.after = !layout.name_descending;
  }
  if (layout.name_descending) index::Complement(0, &position.prefix);
  return position;
}

}  // namespace hearth::execution
