// The interface between cases and a database.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cases/runner/operation.h"
#include "cases/runner/watch_state.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::cases {

// A call in progress.
class Pending {
 public:
  virtual ~Pending() = default;
  // Does not block.
  virtual bool IsDone() = 0;
  // Waits for the answer; DeadlineExceeded at the time limit. May be called once.
  virtual Answer Wait() = 0;
};

// The listeners of one case.
class Listeners {
 public:
  virtual ~Listeners() = default;
  // Why the door cannot do that; nullopt if it can. An error of the database arrives as the
  // target's end.
  virtual std::optional<std::string> Add(const proto::Target& target) = 0;
  virtual void Remove(int target_id) = 0;
  // Waits for the next message about any of the targets, and applies it to `state`.
  virtual Status Advance(WatchState* state) = 0;
};

// The connection of one case to one database.
//
// Threads: one at a time. Errors: errors of the database are in answers.
class Session {
 public:
  virtual ~Session() = default;
  virtual std::unique_ptr<Pending> Start(const Operation& operation) = 0;
  // Null if the door has none.
  virtual std::unique_ptr<Listeners> Listen() = 0;
};

// One way to reach databases: a protocol, or a library.
//
// Threads: safe for concurrent use.
class Door {
 public:
  virtual ~Door() = default;
  virtual bool is_emulator() const { return false; }
  // Why the door cannot do this; nullopt if it can.
  virtual std::optional<std::string> WhyNot(const Operation& operation) const = 0;
  virtual std::optional<std::string> WhyNotListen(const proto::Target& target) const = 0;
  virtual bool Shows(Detail detail) const = 0;
  // `database`: "projects/P/databases/D".
  virtual std::unique_ptr<Session> Open(const std::string& database) = 0;
};

}  // namespace hearth::cases
