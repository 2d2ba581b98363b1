// The engine's side of listening.
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "engine/core.h"
#include "execution/required_index.h"
#include "model/document.h"
#include "model/value.h"
#include "watch/watch_delta.h"
#include "watch/watch_sink.h"
#include "watch/watcher.h"

namespace hearth::engine {
namespace {

using model::Timestamp;

// A log that names more changed documents than this is not read to its end: reading the results
// again is cheaper.
constexpr size_t kLoggedDocumentsMax = 200'000;
// A typical key of a document, in a set.
constexpr size_t kEachKeyBytes = 192;

class RunResults final : public watch::Results {
 public:
  explicit RunResults(std::unique_ptr<QueryRun> run) : run_(std::move(run)) {}

  Result<std::optional<request::QueryResult>> Next() override { return run_->Next(); }

 private:
  const std::unique_ptr<QueryRun> run_;
};

}  // namespace

std::shared_ptr<watch::Watcher> Engine::Core::Watch(const documents::Database& database,
                                                    std::unique_ptr<watch::WatchSink> sink,
                                                    ClientKey client) {
  return std::make_shared<watch::Watcher>(*this, change_feed_, watch_threads_, client, database,
                                          options_.watchers, std::move(sink));
}

Status Engine::Core::Check(const documents::Database& database,
                           const query::NormalizedQuery& query) {
  if (options_.index_mode == indexing::IndexMode::kStrict) {
    RETURN_IF_ERROR(execution::CheckListener(query));
  }
  return PrepareQuery(database, query).status();
}

std::string Engine::Core::ResumeToken(Timestamp read_time) const {
  return store_id_ + model::EncodeUint64(static_cast<uint64_t>(read_time.micros()));
}

std::optional<Timestamp> Engine::Core::ReadResumeToken(std::string_view token) const {
  if (!token.starts_with(store_id_)) return std::nullopt;
  const Result<uint64_t> micros = model::DecodeUint64(token.substr(store_id_.size()));
  if (!micros.ok()) return std::nullopt;
  return Timestamp::FromMicros(static_cast<int64_t>(*micros));
}

Result<std::unique_ptr<watch::Results>> Engine::Core::Query(const documents::Database& database,
                                                            query::NormalizedQuery query,
                                                            Timestamp read_time,
                                                            PauseFunction pause) {
  ASSIGN_OR_RETURN(
      std::unique_ptr<QueryRun> run,
      QueryAt(database, std::move(query), QueryAnswer::kDocuments, read_time, std::move(pause)));
  return std::make_unique<RunResults>(std::move(run));
}

Result<size_t> Engine::Core::Count(const documents::Database& database,
                                   query::NormalizedQuery query, Timestamp read_time,
                                   PauseFunction pause) {
  ASSIGN_OR_RETURN(
      const std::unique_ptr<QueryRun> run,
      QueryAt(database, std::move(query), QueryAnswer::kAggregates, read_time, std::move(pause)));
  ASSIGN_OR_RETURN(const std::vector<std::string> values,
                   run->Aggregate({{query::Aggregation::Kind::kCount, "count"}}));
  return static_cast<size_t>(model::ValueView(values[0]).integer());
}

Result<model::Record> Engine::Core::Get(const documents::Database& database,
                                        const model::DocumentPath& path, Timestamp read_time) {
  RETURN_IF_ERROR(watch_threads_.Pause());
  commit_clock_.WaitUntilSettled(read_time);
  return reader_.At(model::DocumentKey(database.number, path), read_time);
}

Result<std::optional<std::vector<watch::Change>>> Engine::Core::ChangesBetween(
    const documents::Database& database, Timestamp from, Timestamp to,
    const std::function<bool(const model::DocumentPath&)>& concerns, const watch::ChangesMax& max,
    watch::WatchMemory* memory, PauseFunction pause) {
  using Changes = std::vector<watch::Change>;
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view,
                   ViewAtSettled(database, from, std::move(pause)));
  ASSIGN_OR_RETURN(const auto keys, view->ChangedDocuments(kLoggedDocumentsMax));
  if (!keys) return std::optional<Changes>();
  watch::WatchMemory key_memory = memory->Another();
  if (!key_memory.Grow(keys->size() * kEachKeyBytes)) return std::optional<Changes>();
  Changes changes;
  size_t bytes = 0;
  for (const std::string& key : *keys) {
    RETURN_IF_ERROR(view->Pause());
    ASSIGN_OR_RETURN(model::DocumentPath path, model::DocumentPathOfKey(key));
    if (!concerns(path)) continue;
    ASSIGN_OR_RETURN(model::Record before, reader_.At(key, from));
    ASSIGN_OR_RETURN(model::Record after, reader_.At(key, to));
    if (watch::IsSameState(before, after)) continue;
    changes.push_back({database.number, std::move(path), std::move(before), std::move(after), to});
    const size_t more = watch::BytesOf(changes.back());
    bytes += more;
    if (changes.size() > max.count || bytes > max.bytes || !memory->Grow(more)) {
      return std::optional<Changes>();
    }
  }
  return std::optional<Changes>(std::move(changes));
}

}  // namespace hearth::engine
