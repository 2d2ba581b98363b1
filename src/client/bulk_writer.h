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
  // Writes that wait; whoever adds more is held back.
  size_t queued_writes_max = 2'000;
};

// Many writes, each on its own and as fast as the database takes them. Writes of one document
// happen in the order in which they were added; others in any.
//
// What fails with Aborted, Unavailable, ResourceExhausted or DeadlineExceeded is tried again, after
// a pause that doubles, up to `attempts_max` times.
//
// Threads: safe for concurrent use. Ownership: has threads of its own. The destructor flushes.
class BulkWriter {
 public:
  // Runs on one of the writer's threads for each write that has failed for good.
  using OnError = std::function<void(const DocumentReference& document, const Status& error)>;

  BulkWriter(BulkWriter&&) noexcept;
  ~BulkWriter();

  void Create(const DocumentReference& document, const Map& data);
  void Set(const DocumentReference& document, const Map& data, const SetOptions& options = {});
  void Update(const DocumentReference& document, const Map& data,
              const Precondition& precondition = {});
  void Delete(const DocumentReference& document, const Precondition& precondition = {});

  // Waits until all writes added so far have happened or failed. The first error of any since the
  // last Flush, if there was one.
  Status Flush();

 private:
  friend class Firestore;
  class Queue;
  BulkWriter(std::shared_ptr<Transport> transport, BulkWriterOptions options, OnError on_error);

  std::shared_ptr<Transport> transport_;  // Shared by all that the database handed out.
  std::unique_ptr<Queue> queue_;
};

}  // namespace hearth::client
