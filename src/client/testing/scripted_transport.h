// For tests.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "client/transport.h"

namespace hearth::client {

// A transport that does what a test scripts, and records its calls. By default there are no
// documents and every call succeeds.
//
// Threads: safe for concurrent use, after the functions are set.
class ScriptedTransport final : public Transport {
 public:
  std::function<Result<TransportCommit>(const std::vector<request::Write>&)> on_commit;
  std::function<Result<std::vector<Result<TransportWriteResult>>>(
      const std::vector<request::Write>&)>
      on_batch_write;
  std::function<Status()> on_get;
  std::function<Result<std::string>()> on_begin;

  const model::DatabaseName& database() const override { return database_; }
  std::string NewDocumentId() override { return std::to_string(random_.Next()); }

  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>&,
                        const ReadMoment&) override {
    Note("get");
    if (on_get) RETURN_IF_ERROR(on_get());
    Documents answer;
    for (const model::DocumentPath& path : paths) answer.documents.push_back({path, nullptr});
    return answer;
  }
  Result<model::Timestamp> Query(const query::Query& query, const ReadMoment&,
                                 const OnResult&) override {
    Note("query");
    MutexLock lock(mutex_);
    last_query_ = query;
    return model::Timestamp();
  }
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const ReadMoment&) override {
    Note("aggregate");
    MutexLock lock(mutex_);
    last_query_ = query;
    return Aggregates{std::vector<Value>(aggregations.size()), {}};
  }
  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override {
    Note("commit " + transaction);
    if (on_commit) return on_commit(writes);
    return TransportCommit{{}, std::vector<TransportWriteResult>(writes.size())};
  }
  Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override {
    Note("batch " + std::to_string(writes.size()));
    if (on_batch_write) return on_batch_write(writes);
    return std::vector<Result<TransportWriteResult>>(writes.size(), TransportWriteResult{});
  }
  Result<std::string> BeginTransaction(const BeginOptions& options) override {
    Note(options.retry_transaction.empty() ? "begin" : "begin after " + options.retry_transaction);
    if (on_begin) return on_begin();
    MutexLock lock(mutex_);
    return "t" + std::to_string(++transactions_);
  }
  Status Rollback(const std::string& transaction) override {
    Note("rollback " + transaction);
    return Status();
  }
  Result<std::vector<std::string>> ListCollectionIds(const std::string&) override {
    return std::vector<std::string>();
  }
  Result<std::vector<model::DocumentPath>> ListDocumentPaths(
      const model::CollectionPath&) override {
    return std::vector<model::DocumentPath>();
  }
  Result<std::unique_ptr<TransportListener>> Listen(ListenTarget, OnState) override {
    return Status(Code::kUnimplemented, "no listeners");
  }

  // The calls so far, in order.
  std::vector<std::string> calls() const {
    MutexLock lock(mutex_);
    return calls_;
  }
  query::Query last_query() const {
    MutexLock lock(mutex_);
    return last_query_.value();
  }

 private:
  void Note(std::string call) {
    MutexLock lock(mutex_);
    calls_.push_back(std::move(call));
  }

  const model::DatabaseName database_ =
      *model::DatabaseName::Parse("projects/p/databases/(default)");
  RandomSource random_{1};
  mutable Mutex mutex_;  // Leaf lock.
  std::vector<std::string> calls_ GUARDED_BY(mutex_);
  std::optional<query::Query> last_query_ GUARDED_BY(mutex_);
  int transactions_ GUARDED_BY(mutex_) = 0;
};

}  // namespace hearth::client
