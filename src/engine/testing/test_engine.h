// For tests: an engine with blocking calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/testing/fake_clock.h"
#include "base/testing/gate.h"
#include "base/testing/inline_executor.h"
#include "base/testing/outcome.h"
#include "base/testing/test_time.h"
#include "documents/document_cursor.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "model/path_encoding.h"
#include "request/testing/writes.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::engine {

// An engine on a store in memory, with a clock that stands still until it is moved. "Start…" does
// not wait for the answer.
class TestEngine {
 public:
  using Commits = Outcome<Result<request::CommitResult>>;
  using Views = Outcome<Result<std::unique_ptr<ReadView>>>;
  using Runs = Outcome<Result<std::unique_ptr<QueryRun>>>;

  explicit TestEngine(EngineOptions options = {},
                      storage::FaultyStore::Values values = storage::FaultyStore::Values::kInMemory)
      : options_(options), store_(*memory_, values) {
    Restart();
  }
  // The engine commits once more when it closes, and by now the hooks' references are dangling.
  ~TestEngine() { store_.RemoveHooks(); }

  FakeClock& clock() { return clock_; }
  storage::FaultyStore& store() { return store_; }
  Engine& engine() { return *engine_; }
  documents::Database& database() { return *database_; }
  int64_t now() const { return clock_.WallMicros(); }

  // Closes the engine and reopens it on the same store.
  void Restart() {
    Close();
    Result<std::unique_ptr<Engine>> opened = Engine::Open(store_, clock_, random_, options_);
    CHECK(opened.ok());
    engine_ = *std::move(opened);
    database_ = engine_->OpenDatabase(NameDatabase());
  }
  void Close() {
    engine_.reset();
    database_.reset();
  }

  // Opens the database again, after it was deleted.
  void ReopenDatabase() { database_ = engine_->OpenDatabase(NameDatabase()); }

  // Moves the clock and runs the maintenance that is due.
  void Pass(std::chrono::microseconds time) {
    clock_.Advance(time);
    engine_->Maintain();
  }

  Commits StartCommit(std::vector<request::Write> writes, std::string_view transaction = "") {
    Commits outcome;
    engine_->Commit(*database_, std::move(writes), transaction, InlineExecutor::Get(),
                    outcome.Callback());
    return outcome;
  }
  Result<request::CommitResult> Commit(std::vector<request::Write> writes,
                                       std::string_view transaction = "") {
    return StartCommit(std::move(writes), transaction).Take();
  }
  Result<request::CommitResult> Commit(request::Write write, std::string_view transaction = "") {
    return Commit(std::vector<request::Write>{std::move(write)}, transaction);
  }
  // A commit that must succeed.
  model::Timestamp MustCommit(std::vector<request::Write> writes,
                              std::string_view transaction = "") {
    Result<request::CommitResult> result = Commit(std::move(writes), transaction);
    CHECK(result.ok());
    return result->commit_time;
  }
  model::Timestamp MustCommit(request::Write write, std::string_view transaction = "") {
    return MustCommit(std::vector<request::Write>{std::move(write)}, transaction);
  }

  Views StartRead(const request::Consistency& consistency, const ReadScope& scope,
                  Caller caller = {}) {
    Views outcome;
    engine_->Read(*database_, consistency, scope, InlineExecutor::Get(), outcome.Callback(),
                  std::move(caller));
    return outcome;
  }
  Runs StartQuery(query::NormalizedQuery query, request::Consistency consistency = request::Now{},
                  QueryAnswer answer = QueryAnswer::kDocuments, Caller caller = {}) {
    Runs outcome;
    engine_->Query(*database_,
                   {std::move(query), answer, std::move(consistency), std::move(caller)},
                   InlineExecutor::Get(), outcome.Callback());
    return outcome;
  }
  Result<std::unique_ptr<ReadView>> Read(const request::Consistency& consistency,
                                         const ReadScope& scope) {
    return StartRead(consistency, scope).Take();
  }
  Result<model::Record> Get(const request::Consistency& consistency, std::string_view path) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, Read(consistency, Documents({path})));
    return view->Get(Path(path));
  }
  Result<model::Record> GetNewest(std::string_view path) {
    return engine_->GetNewest(*database_, Path(path));
  }

  std::string Begin(const request::TransactionOptions& options = {}) {
    Result<std::string> id = engine_->BeginTransaction(*database_, options);
    CHECK(id.ok());
    return *std::move(id);
  }
  Status Rollback(std::string_view transaction) {
    return engine_->Rollback(*database_, transaction);
  }

  static ReadScope Documents(const std::vector<std::string_view>& paths) {
    ReadScope scope;
    for (const std::string_view path : paths) scope.documents.push_back(Path(path));
    return scope;
  }
  // All documents of one collection.
  static ReadScope Collection(std::string_view path) {
    ReadScope scope = Everything();
    scope.path_prefixes = {model::EncodeCollectionPrefix(*model::CollectionPath::Parse(path))};
    return scope;
  }
  // Scans without locks.
  static ReadScope Everything() {
    ReadScope scope;
    scope.access = ReadScope::Access::kScans;
    return scope;
  }

 private:
  const EngineOptions options_;
  FakeClock clock_{kTestStartMicros};
  RandomSource random_{1};
  std::unique_ptr<storage::Store> memory_ = storage::NewMemoryStore();
  storage::FaultyStore store_;
  std::unique_ptr<Engine> engine_;
  documents::DatabaseHandle database_;
};

// Paths and records of all documents in `view`.
inline Result<std::map<std::string, std::string>> ScanAll(const ReadView& view) {
  std::map<std::string, std::string> documents;
  const std::unique_ptr<documents::DocumentCursor> cursor =
      view.Scan(storage::PrefixRange(model::DatabaseKeyPrefix(view.database().number)));
  for (; cursor->Valid(); cursor->Next()) {
    ASSIGN_OR_RETURN(const model::DocumentPath path, model::DocumentPathOfKey(cursor->key()));
    documents[path.path()] = cursor->record();
  }
  RETURN_IF_ERROR(cursor->status());
  return documents;
}

}  // namespace hearth::engine
