#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/connected_client.h"
#include "base/fair_share.h"
#include "base/memory_budget.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"

namespace hearth::service {

// One client's Write stream, which may outlive its connection: answers are kept until the client
// acknowledges them, so that a request sent again is not executed again.
//
// Threads: safe for concurrent use. Ownership: borrows the memory budget.
class WriteStreamState {
 public:
  static constexpr size_t kUnacknowledgedMax = 100;
  static constexpr size_t kUnacknowledgedBytesMax = 4 * 1024 * 1024;

  // `memory`: for the answers, which last for `client`; null: unlimited.
  WriteStreamState(std::string id, std::string database, MemoryBudget* memory, ClientKey client)
      : id_(std::move(id)),
        database_(std::move(database)),
        claim_(MemoryClaim::Lasting(memory, client)) {}

  const std::string& id() const { return id_; }
  const std::string& database() const { return database_; }

  // "0" for the handshake, then incremented with each answer.
  static std::string TokenOf(uint64_t answers) { return std::to_string(answers); }
  static std::optional<uint64_t> AnswersOf(std::string_view token);

  // The client has received the first `answers` answers, and does not need them again.
  // InvalidArgument for more than there were.
  Status Acknowledge(uint64_t answers) EXCLUDES_LOCK(mutex_);
  // The answer after the first `answers` of them; nullopt if there is none yet. Aborted if it was
  // dropped because the client has acknowledged it, did not acknowledge for too long, or because
  // memory was scarce.
  Result<std::optional<std::string>> AnswerAfter(uint64_t answers) EXCLUDES_LOCK(mutex_);
  void AddAnswer(std::string answer) EXCLUDES_LOCK(mutex_);

  // At most one connection at a time uses the stream.
  bool TakeOver() EXCLUDES_LOCK(mutex_);
  void Leave() EXCLUDES_LOCK(mutex_);

 private:
  void DropOldest() REQUIRES_LOCK(mutex_);

  const std::string id_;
  const std::string database_;
  mutable Mutex mutex_;                        // Leaf lock.
  uint64_t forgotten_ GUARDED_BY(mutex_) = 0;  // The number of answers already dropped.
  std::deque<std::string> answers_ GUARDED_BY(mutex_);
  MemoryClaim claim_ GUARDED_BY(mutex_);  // For the answers.
  bool is_taken_ GUARDED_BY(mutex_) = false;
};

// The streams that can be resumed, shared by the clients that opened them. Streams without activity
// for a while are dropped.
//
// Threads: safe for concurrent use. Ownership: borrows the clock, the random source and the memory
// budget.
class WriteStreams {
 public:
  static constexpr size_t kStreamsMax = 10'000;
  static constexpr std::chrono::minutes kIdleMax{10};

  // `memory`: null: unlimited.
  WriteStreams(const Clock& clock, RandomSource& random, MemoryBudget* memory)
      : clock_(clock), random_(random), memory_(memory) {}

  // A client that has had its share of them loses the one that it has not used for longest. If
  // connections use all of its own, or it has none, the new one cannot be resumed.
  std::shared_ptr<WriteStreamState> Open(const std::string& database, ClientKey client)
      EXCLUDES_LOCK(mutex_);
  // Null if there is no stream with that id, or no longer.
  std::shared_ptr<WriteStreamState> Find(const std::string& id) EXCLUDES_LOCK(mutex_);

 private:
  // In the order of their last uses.
  struct Entry {
    std::shared_ptr<WriteStreamState> stream;  // Shared with the connection that uses it.
    ClientKey client;                          // That opened it.
    std::chrono::steady_clock::time_point used_at;
  };
  using UseNumber = uint64_t;
  using Entries = std::map<UseNumber, Entry>;

  void Add(Entry entry) REQUIRES_LOCK(mutex_);
  Entry Take(Entries::iterator found) REQUIRES_LOCK(mutex_);
  void Renew(Entries::iterator found) REQUIRES_LOCK(mutex_);
  // Forgets streams that were not used for a while.
  void ForgetIdle() REQUIRES_LOCK(mutex_);
  // Forgets the oldest stream of the client that is not in use, and keeps its place. False if there
  // is none.
  bool ForgetOneOf(ClientKey client) REQUIRES_LOCK(mutex_);

  const Clock& clock_;
  RandomSource& random_;
  MemoryBudget* const memory_;
  Mutex mutex_;  // Leaf lock, but for the memory budget.
  UseNumber next_use_ GUARDED_BY(mutex_) = 1;
  Entries streams_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, UseNumber> by_id_ GUARDED_BY(mutex_);
  std::set<std::pair<ClientKey, UseNumber>> by_client_ GUARDED_BY(mutex_);
  SharedPlaces places_ GUARDED_BY(mutex_){kStreamsMax};
};

}  // namespace hearth::service
