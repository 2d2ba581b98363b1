#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "base/connected_client.h"
#include "base/turn_queue.h"

namespace hearth::commit {

// The turns that clients have to let pass, because their commits were expensive.
//
// Threads: one at a time; callers guard it.
class OwedTurns {
 public:
  // A client loses a turn for each of these that a commit has cost, up to the maximum.
  static constexpr size_t kTurnBytes = 1024 * 1024;
  static constexpr size_t kTurnsMax = 64;
  // Of more clients than this, or than twice those that have something in the queue, the ones that
  // do not are forgiven: many of them have left for good.
  static constexpr size_t kClientsMin = 1'024;

  // `queue`: what waits for its turn.
  template <typename T>
  void Charge(ClientKey client, size_t bytes, const TurnQueue<T>& queue) {
    const size_t turns = std::min(bytes / kTurnBytes, kTurnsMax);
    if (turns == 0) return;
    if (owed_.size() >= std::max(kClientsMin, 2 * queue.clients())) {
      std::erase_if(owed_, [&](const auto& entry) { return queue.Of(entry.first) == nullptr; });
    }
    size_t& owed = owed_[client];
    owed = std::min(owed + turns, kTurnsMax);
  }

  // Takes the next item of the queue, which must not be empty. Alone, a client need not wait.
  template <typename T>
  T TakeNext(TurnQueue<T>* queue) {
    while (!owed_.empty() && queue->clients() > 1) {
      const auto owed = owed_.find(queue->NextClient());
      if (owed == owed_.end()) break;
      if (--owed->second == 0) owed_.erase(owed);
      queue->Skip();
    }
    return queue->Pop();
  }

  void ForgiveAll() { owed_.clear(); }
  // The clients that owe turns.
  size_t clients() const { return owed_.size(); }

 private:
  std::unordered_map<ClientKey, size_t> owed_;
};

}  // namespace hearth::commit
