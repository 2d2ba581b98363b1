#include "client/bulk_writer.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/backoff.h"
#include "client/transport.h"

namespace hearth::client {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Whether a write that failed with this error may succeed on a retry.
bool MayWriteLater(const Status& error) {
  return error.code() == Code::kAborted || error.code() == Code::kUnavailable ||
         error.code() == Code::kResourceExhausted || error.code() == Code::kDeadlineExceeded;
}

// A pending write.
struct Operation {
  DocumentReference document;
  Result<request::Write> write;  // Or the error in its arguments.
  uint64_t number;               // In the order of addition.
  size_t failures = 0;
};

}  // namespace

// The pending writes per document, and the threads that send them.
// || At most one write per document is in flight, so writes of one document happen in order.
//
// Threads: safe for concurrent use.
class BulkWriter::Queue {
 public:
  Queue(Transport& transport, const BulkWriterOptions& options, OnError on_error)
      : transport_(transport), options_(options), on_error_(std::move(on_error)) {
    const size_t threads = std::max<size_t>(options_.batches_in_flight_max, 1);
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }

  ~Queue() EXCLUDES_LOCK(mutex_) {
    {
      MutexLock lock(mutex_);
      is_ending_ = true;
      changed_.NotifyAll();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  void Add(const DocumentReference& document, Result<request::Write> write) EXCLUDES_LOCK(mutex_) {
    const std::string path = document.path();
    MutexLock lock(mutex_);
    while (unfinished_.size() >= std::max<size_t>(options_.queued_writes_max, 1)) {
      changed_.Wait(mutex_);
    }
    unfinished_.insert(next_number_);
    std::deque<Operation>& operations = documents_[path];
    operations.push_back({document, std::move(write), next_number_++});
    if (operations.size() > 1) return;
    ready_.push_back(path);
    changed_.NotifyAll();
  }

  Status Flush() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    const uint64_t end = next_number_;
    while (!unfinished_.empty() && *unfinished_.begin() < end) changed_.Wait(mutex_);
    return std::exchange(first_error_, Status());
  }

 private:
  struct Failure {
    DocumentReference document;
    Status error;
    uint64_t number;
  };
  using Paths = std::vector<std::string>;

  void Run() EXCLUDES_LOCK(mutex_) {
    while (true) {
      const Paths paths = TakeReady();
      if (paths.empty()) return;
      Send(paths);
    }
  }

  // Documents whose first write is to be sent now. Empty once the queue is closed and drained.
  Paths TakeReady() EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    while (true) {
      WakeDue();
      if (!ready_.empty()) break;
      if (is_ending_ && unfinished_.empty()) return {};
      if (pausing_.empty()) {
        changed_.Wait(mutex_);
      } else {
        const auto pause = pausing_.begin()->first - std::chrono::steady_clock::now();
        changed_.WaitFor(mutex_, std::chrono::ceil<std::chrono::milliseconds>(pause));
      }
    }
    const size_t count = std::min(ready_.size(), std::max<size_t>(options_.batch_writes_max, 1));
    const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(count);
    Paths paths(std::make_move_iterator(ready_.begin()), std::make_move_iterator(end));
    ready_.erase(ready_.begin(), end);
    return paths;
  }

  void WakeDue() REQUIRES_LOCK(mutex_) {
    const SteadyTime now = std::chrono::steady_clock::now();
    while (!pausing_.empty() && (pausing_.begin()->first <= now)) {
      ready_.push_back(std::move(pausing_.begin()->second));
      pausing_.erase(pausing_.begin());
    }
  }

  void Send(const Paths& paths) EXCLUDES_LOCK(mutex_) {
    std::vector<request::Write> writes;
    std::vector<Result<TransportWriteResult>> outcomes;  // One per path.
    std::vector<size_t> sent;                            // Indexes of paths.
    {
      MutexLock lock(mutex_);
      for (size_t i = 0; i < paths.size(); ++i) {
        const Operation& operation = documents_.at(paths[i]).front();
        outcomes.emplace_back(operation.write.ok() ? Status(Code::kInternal, "not written")
                                                   : operation.write.status());
        if (!operation.write.ok()) continue;
        writes.push_back(*operation.write);
        sent.push_back(i);
      }
    }
    if (!writes.empty()) {
      auto results = transport_.BatchWrite(std::move(writes));
      for (size_t i = 0; i < sent.size(); ++i) {
        outcomes[sent[i]] = results.ok() ? std::move((*results)[i])
                                         : Result<TransportWriteResult>(results.status());
      }
    }
    const std::vector<Failure> failures = Settle(paths, outcomes);
    if (on_error_) {
      for (const Failure& failure : failures) on_error_(failure.document, failure.error);
    }
    Finish(failures);
  }

  // Takes the outcomes of the writes. Returns those that failed for good; they count as unfinished
  // until their errors have been reported.
  std::vector<Failure> Settle(const Paths& paths,
                              const std::vector<Result<TransportWriteResult>>& outcomes)
      EXCLUDES_LOCK(mutex_) {
    std::vector<Failure> failures;
    MutexLock lock(mutex_);
    for (size_t i = 0; i < paths.size(); ++i) {
      const auto found = documents_.find(paths[i]);
      Operation& operation = found->second.front();
      const Status error = outcomes[i].status();
      if (MayTryAgain(error, &operation)) {
        pausing_.emplace(
            std::chrono::steady_clock::now() + PauseAfter(operation.failures, transport_),
            paths[i]);
        continue;
      }
      if (error.ok()) {
        unfinished_.erase(operation.number);
      } else {
        failures.push_back({operation.document, error, operation.number});
      }
      found->second.pop_front();
      if (found->second.empty()) {
        documents_.erase(found);
      } else {
        ready_.push_back(paths[i]);
      }
    }
    changed_.NotifyAll();
    return failures;
  }

  bool MayTryAgain(const Status& error, Operation* operation) const {
    if (!operation->write.ok() || !MayWriteLater(error)) return false;
    return ++operation->failures < options_.attempts_max;
  }

  void Finish(const std::vector<Failure>& failures) EXCLUDES_LOCK(mutex_) {
    if (failures.empty()) return;
    MutexLock lock(mutex_);
    for (const Failure& failure : failures) {
      unfinished_.erase(failure.number);
      if (first_error_.ok()) first_error_ = failure.error;
    }
    changed_.NotifyAll();
  }

  Transport& transport_;
  const BulkWriterOptions options_;
  const OnError on_error_;

  Mutex mutex_;  // Leaf lock.
  CondVar changed_;
  std::unordered_map<std::string, std::deque<Operation>> documents_ GUARDED_BY(mutex_);
  std::deque<std::string> ready_ GUARDED_BY(mutex_);  // Documents whose first write may be sent.
  std::multimap<SteadyTime, std::string> pausing_ GUARDED_BY(mutex_);
  std::set<uint64_t> unfinished_ GUARDED_BY(mutex_);
  uint64_t next_number_ GUARDED_BY(mutex_) = 0;
  Status first_error_ GUARDED_BY(mutex_);
  bool is_ending_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

BulkWriter::BulkWriter(std::shared_ptr<Transport> transport, BulkWriterOptions options,
                       OnError on_error)
    : transport_(std::move(transport)),
      queue_(std::make_unique<Queue>(*transport_, options, std::move(on_error))) {}

BulkWriter::BulkWriter(BulkWriter&&) noexcept = default;
BulkWriter::~BulkWriter() = default;

void BulkWriter::Create(const DocumentReference& document, const Map& data) {
  queue_->Add(document, document.CreateWrite(data));
}

void BulkWriter::Set(const DocumentReference& document, const Map& data,
                     const SetOptions& options) {
  queue_->Add(document, document.SetWrite(data, options));
}

void BulkWriter::Update(const DocumentReference& document, const Map& data,
                        const Precondition& precondition) {
  queue_->Add(document, document.UpdateWrite(data, precondition));
}

void BulkWriter::Delete(const DocumentReference& document, const Precondition& precondition) {
  queue_->Add(document, document.DeleteWrite(precondition));
}

Status BulkWriter::Flush() { return queue_->Flush(); }

}  // namespace hearth::client
