#include "transactions/write_effect.h"

#include <algorithm>
#include <optional>

#include "model/fields.h"
#include "query/matcher.h"

namespace hearth::transactions {
namespace {

using model::FieldPath;
using model::ValueView;

bool Overlap(const FieldPath& left, const FieldPath& right) {
  return left.IsPrefixOf(right) || right.IsPrefixOf(left);
}

// Whether the write alone determines the value at `path`: its own value, or no value.
bool Determines(const request::Write& write, const FieldPath& path) {
  const bool is_transformed = std::ranges::any_of(
      write.transforms,
      [&path](const model::FieldTransform& transform) { return Overlap(transform.path, path); });
  if (is_transformed) return false;
  return !write.mask || std::ranges::any_of(*write.mask, [&path](const FieldPath& masked) {
    return masked.IsPrefixOf(path);
  });
}

}  // namespace

bool MayEnter(const watch::LiveQuery& query, const model::DatabaseName& database,
              const request::Write& write) {
  const query::NormalizedQuery& normalized = query.query();
  if (write.kind != request::WriteKind::kUpdate) return false;
  if (!query::IsInScope(normalized.query, write.path)) return false;
  for (const query::Order& order : normalized.orders) {
    if (order.path.IsName() || !Determines(write, order.path)) continue;
    if (!write.fields.Find(order.path)) return false;
  }
  const query::Candidate candidate{database, write.path, write.fields.encoded()};
  const auto may_pass = [&](const query::FieldFilter& filter) {
    const bool is_known = filter.path.IsName() || Determines(write, filter.path);
    return !is_known || query::Matches(filter, candidate);
  };
  return std::ranges::any_of(normalized.disjuncts, [&](const query::Conjunction& conjunction) {
    return std::ranges::all_of(conjunction.filters, may_pass);
  });
}

}  // namespace hearth::transactions
