#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/testing/forwarding_transport.h"

namespace hearth::client {

// Counts a client's operations as they would be billed. Threads: safe for concurrent use.
class CountingTransport final : public ForwardingTransport {
 public:
  explicit CountingTransport(std::shared_ptr<Transport> transport)
      : ForwardingTransport(std::move(transport)) {}

  // Documents read, by name or as results, including missing ones. A query without results counts
  // as one, as it is billed.
  uint64_t reads() const { return reads_; }
  uint64_t writes() const { return writes_; }
  uint64_t queries() const { return queries_; }
  void Reset() { reads_ = writes_ = queries_ = 0; }

  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const ReadMoment& moment) override {
    reads_ += paths.size();
    return ForwardingTransport::Get(paths, mask, moment);
  }
  Result<model::Timestamp> Query(const query::Query& query, const ReadMoment& moment,
                                 const OnResult& on_result) override {
    ++queries_;
    uint64_t results = 0;
    Result<model::Timestamp> read =
        ForwardingTransport::Query(query, moment, [&](TransportDocument document) {
          ++results;
          return on_result(std::move(document));
        });
    reads_ += results == 0 ? 1 : results;
    return read;
  }
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const ReadMoment& moment) override {
    ++reads_;  // Per thousand index entries.
    return ForwardingTransport::Aggregate(query, aggregations, moment);
  }
  Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                 const std::string& transaction) override {
    writes_ += writes.size();
    return ForwardingTransport::Commit(std::move(writes), transaction);
  }
  Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) override {
    writes_ += writes.size();
    return ForwardingTransport::BatchWrite(std::move(writes));
  }

 private:
  std::atomic<uint64_t> reads_ = 0;
  std::atomic<uint64_t> writes_ = 0;
  std::atomic<uint64_t> queries_ = 0;
};

}  // namespace hearth::client
