#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "client/transport.h"
#include "engine/engine.h"
#include "model/names.h"

namespace hearth::client {

// A transport to an engine in this process: calls block on the engine's callbacks.
//
// Threads: safe for concurrent use. Callbacks of listeners run on its own threads, so that a slow
// one holds up neither commits nor the engine's watchers. Ownership: shared by all objects of a
// Firestore; borrows the engine, unless an owner is passed.
class EmbeddedTransport final : public Transport,
                                public std::enable_shared_from_this<EmbeddedTransport> {
 public:
  static constexpr size_t kListenersMax = 10'000;
  static constexpr size_t kListenerThreads = 4;
  static constexpr size_t kCommitsUnderWayMax = 256;  // Per BatchWrite.

  // `owner`: must live as long as the engine is used; may be null. If the last reference is dropped
  // on a listener thread, another thread destroys the transport.
  static std::shared_ptr<EmbeddedTransport> Make(engine::Engine& engine,
                                                 const model::DatabaseName& database,
                                                 std::shared_ptr<void> owner);
  ~EmbeddedTransport() override;

  const model::DatabaseName& database() const override { return database_; }
  std::string NewDocumentId() override { return engine_.NewDocumentId(); }

  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const ReadMoment& moment) override;
  Result<model::Timestamp> Query(const query::Query& query, const ReadMoment& moment,
                                 const OnResult& on_result) override;
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const ReadMoment& moment) override;
  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override;
  Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override;
  Result<std::string> BeginTransaction(const BeginOptions& options) override;
  Status Rollback(const std::string& transaction) override;
  Result<std::vector<std::string>> ListCollectionIds(
      const std::string& parent_document_path) override;
  Result<std::vector<model::DocumentPath>> ListDocumentPaths(
      const model::CollectionPath& collection) override;
  Result<std::unique_ptr<TransportListener>> Listen(ListenTarget target, OnState on_state) override;

 private:
  EmbeddedTransport(engine::Engine& engine, model::DatabaseName database,
                    std::shared_ptr<void> owner);

  // Opened for each call: after a deletion, it is another database.
  documents::DatabaseHandle Open() const { return engine_.OpenDatabase(database_); }
  Result<std::unique_ptr<engine::ReadView>> View(const request::Consistency& consistency,
                                                 const engine::ReadScope& scope);
  Result<std::unique_ptr<engine::QueryRun>> Start(query::NormalizedQuery query,
                                                  engine::QueryAnswer answer,
                                                  const ReadMoment& moment);
  ThreadPool& ListenerThreads() EXCLUDES_LOCK(mutex_);

  const std::shared_ptr<void> owner_;  // The only reference. Its type is erased.
  engine::Engine& engine_;
  const model::DatabaseName database_;
  // Shared with the listeners, some of which may outlive this.
  const std::shared_ptr<std::atomic<size_t>> listeners_;

  Mutex mutex_;  // Leaf lock.
  std::unique_ptr<ThreadPool> listener_threads_
      GUARDED_BY(mutex_);  // Created with the first listener.
};

}  // namespace hearth::client
