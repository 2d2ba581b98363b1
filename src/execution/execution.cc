#include "execution/execution.h"

#include <limits>
#include <utility>

#include "base/status_macros.h"

namespace hearth::execution {
namespace {

constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

size_t ResultsMax(const query::Query& query) {
  if (!query.limit) return kNoLimit;
  return *query.limit > kNoLimit - query.offset ? kNoLimit : query.offset + *query.limit;
}

}  // namespace

Execution::Execution(const Source& source, query::NormalizedQuery query, ExecutionOptions options)
    : source_(source),
      query_(std::move(query)),
      layout_(LayoutOf(query_)),
      options_(std::move(options)),
      tally_(options_.memory) {}

Result<std::unique_ptr<Execution>> Execution::Start(const Source& source,
                                                    query::NormalizedQuery query, Wants wants,
                                                    ExecutionOptions options) {
  std::unique_ptr<Execution> execution(new Execution(source, std::move(query), std::move(options)));
  Execution& self = *execution;
  const Context context{source,
                        self.query_,
                        self.layout_,
                        &self.tally_,
                        wants == Wants::kKeys,
                        self.options_.documents_max,
                        &self.options_.pause,
                        self.options_.memory};
  ASSIGN_OR_RETURN(self.plan_, MakePlan(context));
  ASSIGN_OR_RETURN(self.stream_, OpenPlan(context, self.plan_, ResultsMax(self.query_.query)));
  return execution;
}

Status Execution::Pause(size_t bytes) {
  return tally_.IsTimeToPause(bytes) && options_.pause ? options_.pause() : Status();
}

Result<bool> Execution::NextItem(Item* item) {
  const query::Query& query = query_.query;
  if (query.limit && statistics().results_returned >= *query.limit) return false;
  while (true) {
    // The stream pauses for what it reads. It may have sorted all of it already.
    RETURN_IF_ERROR(Pause());
    ASSIGN_OR_RETURN(const bool found, stream_->Next(item));
    if (!found) return false;
    if (statistics().results_skipped == query.offset) break;
    tally_.AddSkipped();
  }
  tally_.AddReturned();
  return true;
}

Result<model::Record> Execution::Read(const model::DocumentPath& path, const Item& item) {
  ASSIGN_OR_RETURN(model::Record record, source_.Get(path));
  if (!item.was_read) tally_.AddResultDocument(path);
  if (record) {
    RETURN_IF_ERROR(Pause(record->size()));
    return record;
  }
  return Status(Code::kDataLoss,
                "an index has an entry for a document that does not exist: " + path.path());
}

Result<std::optional<request::QueryResult>> Execution::Next() {
  Item item;
  ASSIGN_OR_RETURN(const bool found, NextItem(&item));
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(model::DocumentPath path, PathOf(layout_, item.key));
  if (!item.record) {
    ASSIGN_OR_RETURN(item.record, Read(path, item));
  }
  return std::optional<request::QueryResult>(
      request::QueryResult{std::move(path), std::move(item.record), item.distance});
}

}  // namespace hearth::execution
