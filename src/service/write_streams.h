#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"

namespace hearth::service {

// One client's Write stream, which may outlive the connection it came by: what was answered stays
// until the client says that it has got it, so that a request sent again is not done again.
//
// Threads: safe for concurrent use.
class WriteStreamState {
 public:
  static constexpr size_t kUnacknowledgedMax = 100;
  static constexpr size_t kUnacknowledgedBytesMax = 4 * 1024 * 1024;

  WriteStreamState(std::string id, std::string database)
      : id_(std::move(id)), database_(std::move(database)) {}

  const std::string& id() const { return id_; }
  const std::string& database() const { return database_; }

  // "0" for the handshake, then one up for each answer.
  static std::string TokenOf(uint64_t answers) { return std::to_string(answers); }
  static std::optional<uint64_t> AnswersOf(std::string_view token);

  // The client has got so many answers, and does not want them again. InvalidArgument for more
  // than there were.
  Status Acknowledge(uint64_t answers) EXCLUDES_LOCK(mutex_);
  // The answer after the first `answers` of them; nullopt if there is none yet. Aborted when it is
  // gone because the client has acknowledged it, or waited too long with that.
  Result<std::optional<std::string>> AnswerAfter(uint64_t answers) EXCLUDES_LOCK(mutex_);
  void AddAnswer(std::string answer) EXCLUDES_LOCK(mutex_);

  // At most one connection at a time speaks for the stream.
  bool TakeOver() EXCLUDES_LOCK(mutex_);
  void Leave() EXCLUDES_LOCK(mutex_);

 private:
  const std::string id_;
  const std::string database_;
  mutable Mutex mutex_;                        // Leaf lock.
  uint64_t forgotten_ GUARDED_BY(mutex_) = 0;  // The answers before those that are kept.
  std::deque<std::string> answers_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  bool is_taken_ GUARDED_BY(mutex_) = false;
};

// The streams that can be resumed. Those not heard of for a while are forgotten.
//
// Threads: safe for concurrent use. Ownership: borrows the clock and the random source.
class WriteStreams {
 public:
  static constexpr size_t kStreamsMax = 10'000;
  static constexpr std::chrono::minutes kIdleMax{10};

  WriteStreams(const Clock& clock, RandomSource& random) : clock_(clock), random_(random) {}

  std::shared_ptr<WriteStreamState> Open(const std::string& database) EXCLUDES_LOCK(mutex_);
  // Null where there is none of that id, or no more.
  std::shared_ptr<WriteStreamState> Find(const std::string& id) EXCLUDES_LOCK(mutex_);

 private:
  struct Entry {
    std::shared_ptr<WriteStreamState> stream;  // Shared with the connection that speaks for it.
    std::chrono::steady_clock::time_point used;
  };
  using Entries = std::list<Entry>;
  void Forget() REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  RandomSource& random_;
  Mutex mutex_;                         // Leaf lock.
  Entries streams_ GUARDED_BY(mutex_);  // The one used last comes last.
  std::unordered_map<std::string, Entries::iterator> by_id_ GUARDED_BY(mutex_);
};

}  // namespace hearth::service
