#include "watch/live_query.h"

#include <utility>

#include "model/document.h"
#include "query/matcher.h"

namespace hearth::watch {

LiveQuery::LiveQuery(const model::DatabaseName& database, query::NormalizedQuery query)
    : database_(database),
      query_(std::move(query)),
      layout_(execution::LayoutOf(query_)),
      cursors_(execution::CursorRange(layout_, query_, {}, execution::Cut::kNo)) {}

bool LiveQuery::Contains(const model::DocumentPath& path, const model::Record& record) const {
  if (!record) return false;
  const std::string_view fields = model::RecordFields(*record);
  if (!query::Matches(query_, {database_, path, fields})) return false;
  if (!cursors_.lower && !cursors_.upper) return true;
  const std::optional<execution::SortKey> key = execution::SortKeyOf(layout_, path, fields);
  return key && cursors_.Contains(key->bytes);
}

std::optional<std::string> LiveQuery::PlaceOf(const model::DocumentPath& path,
                                              const model::Record& record) const {
  if (!Contains(path, record)) return std::nullopt;
  std::optional<execution::SortKey> key =
      execution::SortKeyOf(layout_, path, model::RecordFields(*record));
  if (!key) return std::nullopt;
  return std::move(key->bytes);
}

}  // namespace hearth::watch
