#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/transport.h"

namespace hearth::client {

// Performs commits but loses the answers to as many as a test asks for, as when a connection breaks
// at the wrong moment. Threads: safe for concurrent use.
class UnansweredTransport final : public Transport {
 public:
  explicit UnansweredTransport(std::shared_ptr<Transport> transport)
      : transport_(std::move(transport)) {}

  // The answers to lose, of calls that change something.
  void LoseAnswers(int count) { answers_to_lose_ = count; }

  const model::DatabaseName& database() const override { return transport_->database(); }
  std::string NewDocumentId() override { return transport_->NewDocumentId(); }
  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const ReadMoment& moment) override {
    return transport_->Get(paths, mask, moment);
  }
  Result<model::Timestamp> Query(const query::Query& query, const ReadMoment& moment,
                                 const OnResult& on_result) override {
    return transport_->Query(query, moment, on_result);
  }
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const ReadMoment& moment) override {
    return transport_->Aggregate(query, aggregations, moment);
  }
  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override {
    const bool is_change = !writes.empty();
    Result<TransportCommit> commit = transport_->Commit(std::move(writes), transaction);
    if (!commit.ok() || !is_change || answers_to_lose_ <= 0) return commit;
    --answers_to_lose_;
    return Status(Code::kUnavailable, "the connection broke");
  }
  Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override {
    return transport_->BatchWrite(std::move(writes));
  }
  Result<std::string> BeginTransaction(const BeginOptions& options) override {
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
  Result<std::unique_ptr<TransportListener>> Listen(ListenTarget target,
                                                    OnState on_state) override {
    return transport_->Listen(std::move(target), std::move(on_state));
  }

 private:
  const std::shared_ptr<Transport> transport_;  // Shared with the handle that it came from.
  std::atomic<int> answers_to_lose_ = 0;
};

}  // namespace hearth::client
