#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/status.h"
#include "client/references.h"
#include "client/writes.h"

namespace hearth::client {

struct BulkWriterOptions {
  size_t batch_writes_max = 100;
  size_t batches_in_flight_max = 4;
  size_t attempts_max = 10;
  // Bound on pending writes; adding more blocks.
  size_t queued_writes_max = 2'000;
};

// Many independent writes, as fast as the database takes them. Writes of one document happen in the
// order in which they were added, others in any order.
// || Writes that fail with Aborted, Unavailable, ResourceExhausted or DeadlineExceeded are retried
// up to `attempts_max` times, after a pause that doubles.
//
// Threads: safe for concurrent use. Ownership: owns its threads. The destructor flushes.
class BulkWriter {
 public:
  // Runs on one of the writer's threads, once for each write that failed for good.
  using OnError = std::function<void(const DocumentReference& document, const Status& error)>;

  BulkWriter(BulkWriter&&) noexcept;
  ~BulkWriter();

  void Create(const DocumentReference& document, const Map& data);
  void Set(const DocumentReference& document, const Map& data, const SetOptions& options = {});
  void Update(const DocumentReference& document, const Map& data,
              const Precondition& precondition = {});
  void Delete(const DocumentReference& document, const Precondition& precondition = {});

  // Waits until all writes added so far have succeeded or failed. Returns the first error since the
  // last Flush, if any.
  Status Flush();

 private:
  friend class Firestore;
  class Queue;
  BulkWriter(std::shared_ptr<Transport> transport, BulkWriterOptions options, OnError on_error);

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
  std::unique_ptr<Queue> queue_;
};

}  // namespace hearth::client
