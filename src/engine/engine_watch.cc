// What the engine does for those who listen.
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/keys.h"
#include "model/document.h"

namespace hearth::engine {
namespace {

using model::Timestamp;

// A log that names more changed documents than this is not read to its end: reading the results
// anew is cheaper.
constexpr size_t kLoggedDocumentsMax = 200'000;

}  // namespace

std::shared_ptr<Watcher> Engine::Watch(Database& database, std::unique_ptr<WatchSink> sink) {
  return std::make_shared<Watcher>(*this, database, std::move(sink));
}

void Engine::RunWatch(std::function<void()> task) { CHECK(watch_threads_.Submit(std::move(task))); }

std::string Engine::ResumeToken(Timestamp read_time) const {
  return store_id_ + EncodeUint64(static_cast<uint64_t>(read_time.micros()));
}

std::optional<Timestamp> Engine::ReadResumeToken(std::string_view token) const {
  if (!token.starts_with(store_id_)) return std::nullopt;
  const Result<uint64_t> micros = DecodeUint64(token.substr(store_id_.size()));
  if (!micros.ok()) return std::nullopt;
  return Timestamp::FromMicros(static_cast<int64_t>(*micros));
}

Result<std::unique_ptr<ReadView>> Engine::ViewAtSettled(const Database& database,
                                                        Timestamp read_time) {
  commit_clock_.WaitUntilSettled(read_time);
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  return ViewAt(database, scope, read_time, ReadView::Parts{});
}

Result<std::unique_ptr<QueryRun>> Engine::QueryAt(Database& database, query::NormalizedQuery query,
                                                  Timestamp read_time) {
  ASSIGN_OR_RETURN(const query::Execution::Options options, PrepareQuery(database, query));
  ASSIGN_OR_RETURN(std::unique_ptr<ReadView> view, ViewAtSettled(database, read_time));
  return StartQuery(database, std::move(view), std::move(query), options);
}

Result<std::optional<std::vector<watch::Change>>> Engine::ChangesBetween(
    const Database& database, Timestamp from, Timestamp to,
    const std::function<bool(const model::DocumentPath&)>& concerns, size_t documents_max) {
  using Changes = std::vector<watch::Change>;
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, ViewAtSettled(database, from));
  ASSIGN_OR_RETURN(const auto keys, view->ChangedDocuments(kLoggedDocumentsMax));
  if (!keys) return std::optional<Changes>();
  Changes changes;
  for (const std::string& key : *keys) {
    ASSIGN_OR_RETURN(model::DocumentPath path, DocumentPathOfKey(key));
    if (!concerns(path)) continue;
    ASSIGN_OR_RETURN(Record before, reader_.At(key, from));
    ASSIGN_OR_RETURN(Record after, reader_.At(key, to));
    if (IsSameState(before, after)) continue;
    if (changes.size() == documents_max) return std::optional<Changes>();
    changes.push_back({database.number, std::move(path), std::move(before), std::move(after), to});
  }
  return std::optional<Changes>(std::move(changes));
}

}  // namespace hearth::engine
