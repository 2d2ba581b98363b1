#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/record.h"
#include "model/field_path.h"
#include "model/names.h"
#include "model/timestamp.h"
#include "watch/bloom_filter.h"

namespace hearth::engine {

// How a client calls one of its targets.
using TargetId = int32_t;
using TargetIds = std::vector<TargetId>;

// What happens to targets as such.
struct TargetEvent {
  enum class Kind : uint8_t { kNoChange, kAdd, kRemove, kCurrent, kReset };
  Kind kind;
  TargetIds targets;  // None: all of them.
  Status cause = Status();
  // The state that the client has by now, and how to go on from there later.
  std::optional<model::Timestamp> read_time = {};
  std::string resume_token = {};
};

// A document that is a result of `targets`, in its newest state, and is one of `removed` no more.
struct DocumentEvent {
  const model::DocumentPath& path;
  const Record& record;
  const std::optional<std::vector<model::FieldPath>>& mask;
  TargetIds targets;
  TargetIds removed = {};
};

// A document that is a result no more.
struct DocumentGoneEvent {
  enum class Reason : uint8_t { kDeleted, kNoMatch };
  Reason reason;
  std::string path;
  TargetIds removed;
  model::Timestamp read_time;
};

// What a client should have by now, for it to compare.
struct ExistenceFilterEvent {
  TargetId target;
  size_t count;
  const watch::BloomFilter& unchanged_names;
};

// Where a watcher's events go.
//
// Threads: called by one thread at a time, except for closed(), which is safe from any.
class WatchSink {
 public:
  virtual ~WatchSink() = default;

  virtual void Send(const TargetEvent& event) = 0;
  virtual void Send(const DocumentEvent& event) = 0;
  virtual void Send(const DocumentGoneEvent& event) = 0;
  virtual void Send(const ExistenceFilterEvent& event) = 0;
  // What was sent can go out.
  virtual void Flush() = 0;
  // True when a producer of many events should wait for WhenWritable.
  virtual bool IsFull() const = 0;
  // Flushes, and runs `callback` once the client has read most of it. Dropped when it is gone.
  virtual void WhenWritable(std::function<void()> callback) = 0;
  // A request of the client has been taken; so many wait.
  virtual void OnRequestTaken(size_t waiting) = 0;
  // Ends the stream.
  virtual void End(const Status& status) = 0;
  // True once nobody listens any more.
  virtual bool closed() const = 0;
};

}  // namespace hearth::engine
