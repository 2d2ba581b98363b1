#pragma once

#include <cstddef>

#include "base/callback.h"
#include "base/status.h"
#include "request/listen.h"

namespace hearth::watch {

// Where a watcher's events go.
//
// Threads: called by one thread at a time, except for closed(), which is safe from any.
class WatchSink {
 public:
  virtual ~WatchSink() = default;

  virtual void Send(const request::TargetEvent& event) = 0;
  virtual void Send(const request::DocumentEvent& event) = 0;
  virtual void Send(const request::DocumentGoneEvent& event) = 0;
  virtual void Send(const request::ExistenceFilterEvent& event) = 0;
  // Events sent so far may be written out.
  virtual void Flush() = 0;
  // True if a producer of many events should wait for WhenWritable.
  virtual bool IsFull() const = 0;
  // Flushes, and runs `callback` once the client has read most of it. The callback is dropped if
  // the client disconnects.
  virtual void WhenWritable(Task callback) = 0;
  // A client's request has been dequeued; `waiting` requests remain queued.
  virtual void OnRequestTaken(size_t waiting) = 0;
  // Ends the stream.
  virtual void End(const Status& status) = 0;
  // True once the client no longer listens.
  virtual bool closed() const = 0;
};

}  // namespace hearth::watch
