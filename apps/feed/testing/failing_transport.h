#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "client/transport.h"

namespace hearth::feed {

// For tests: a database whose reads fail on demand. Threads: safe for concurrent use.
class FailingTransport final : public client::Transport {
 public:
  explicit FailingTransport(std::shared_ptr<client::Transport> transport)
      : transport_(std::move(transport)) {}

  // Reads return `status` from now on; an OK status makes them work again.
  void FailReads(Status status) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    status_ = std::move(status);
  }

  const model::DatabaseName& database() const override { return transport_->database(); }
  std::string NewDocumentId() override { return transport_->NewDocumentId(); }
  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const client::ReadMoment& moment) override {
    RETURN_IF_ERROR(ReadStatus());
    return transport_->Get(paths, mask, moment);
  }
  Result<model::Timestamp> Query(const query::Query& query, const client::ReadMoment& moment,
                                 const OnResult& on_result) override {
    RETURN_IF_ERROR(ReadStatus());
    return transport_->Query(query, moment, on_result);
  }
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const client::ReadMoment& moment) override {
    RETURN_IF_ERROR(ReadStatus());
    return transport_->Aggregate(query, aggregations, moment);
  }
  Result<client::TransportCommit> Commit(std::vector<request::Write> writes,
                                         const std::string& transaction) override {
    return transport_->Commit(std::move(writes), transaction);
  }
  Result<std::vector<Result<client::TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override {
    return transport_->BatchWrite(std::move(writes));
  }
  Result<std::string> BeginTransaction(const client::BeginOptions& options) override {
    return transport_->BeginTransaction(options);
  }
  Status Rollback(const std::string& transaction) override {
    return transport_->Rollback(transaction);
  }
  Result<std::vector<std::string>> ListCollectionIds(
      const std::string& parent_document_path) override {
    return transport_->ListCollectionIds(parent_document_path);
  }
  Result<std::vector<model::DocumentPath>> ListDocumentPaths(
      const model::CollectionPath& collection) override {
    return transport_->ListDocumentPaths(collection);
  }
  Result<std::unique_ptr<client::TransportListener>> Listen(client::ListenTarget target,
                                                            OnState on_state) override {
    return transport_->Listen(std::move(target), std::move(on_state));
  }

 private:
  Status ReadStatus() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return status_;
  }

  const std::shared_ptr<client::Transport> transport_;  // Shared with the handle it came from.
  mutable Mutex mutex_;                                 // Leaf lock.
  Status status_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
