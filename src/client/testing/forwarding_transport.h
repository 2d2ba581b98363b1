#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/transport.h"

namespace hearth::client {

// Passes every call on to another transport. Derived test transports override the calls that they
// observe or disturb. Threads: as safe as the transport behind it.
class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::shared_ptr<Transport> transport)
      : transport_(std::move(transport)) {}

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
    return transport_->Commit(std::move(writes), transaction);
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
};

}  // namespace hearth::client
