#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "client/testing/forwarding_transport.h"

namespace hearth::feed {

// For tests: a database whose reads and commits fail on demand. Threads: safe for concurrent use.
class FailingTransport final : public client::ForwardingTransport {
 public:
  explicit FailingTransport(std::shared_ptr<client::Transport> transport)
      : ForwardingTransport(std::move(transport)) {}

  // Reads return `status` from now on; an OK status makes them work again.
  void FailReads(Status status) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  // The same for commits, which then do not happen.
  void FailCommits(Status status) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    commit_status_ = std::move(status);
  }

  Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                        const std::optional<std::vector<model::FieldPath>>& mask,
                        const client::ReadMoment& moment) override {
    RETURN_IF_ERROR(ReadStatus());
    return ForwardingTransport::Get(paths, mask, moment);
  }
  Result<model::Timestamp> Query(const query::Query& query, const client::ReadMoment& moment,
                                 const OnResult& on_result) override {
    RETURN_IF_ERROR(ReadStatus());
    return ForwardingTransport::Query(query, moment, on_result);
  }
  Result<Aggregates> Aggregate(const query::Query& query,
                               const std::vector<query::Aggregation>& aggregations,
                               const client::ReadMoment& moment) override {
    RETURN_IF_ERROR(ReadStatus());
    return ForwardingTransport::Aggregate(query, aggregations, moment);
  }
  Result<client::TransportCommit> Commit(std::vector<request::Write> writes,
                                         const std::string& transaction) override {
    RETURN_IF_ERROR(CommitStatus());
    return ForwardingTransport::Commit(std::move(writes), transaction);
  }

 private:
  Status CommitStatus() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return commit_status_;
  }
  Status ReadStatus() const EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    return status_;
  }

  mutable Mutex mutex_;  // Leaf lock.
  Status status_ GUARDED_BY(mutex_);
  Status commit_status_ GUARDED_BY(mutex_);
};

}  // namespace hearth::feed
