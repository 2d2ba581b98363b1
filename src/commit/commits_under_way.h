#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/connected_client.h"
#include "base/fair_share.h"
#include "base/memory_budget.h"
#include "base/mutex.h"

namespace hearth::commit {

// Bounds the commits that wait for locks or for the disk, and the memory they hold, and shares both
// by client.
//
// Threads: safe for concurrent use.
class CommitsUnderWay {
 public:
  static constexpr size_t kCommitsMax = 20'000;
  static constexpr size_t kBytesMax = 256 * 1024 * 1024;

  // `memory`: null: unlimited.
  explicit CommitsUnderWay(MemoryBudget* memory) : memory_(memory) {}
  ~CommitsUnderWay() {
    if (memory_ != nullptr) memory_->Return(bytes_);
  }
  CommitsUnderWay(const CommitsUnderWay&) = delete;
  CommitsUnderWay& operator=(const CommitsUnderWay&) = delete;

  // Returns false and has no effect if one more commit of `bytes` would exceed the bounds, the
  // client's share or the memory.
  [[nodiscard]] bool Begin(ClientKey client, size_t bytes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    const auto found = of_client_.find(client);
    const Held has = found == of_client_.end() ? Held{} : found->second;
    if (!MayTakePlace(client, has.commits, commits_, kCommitsMax)) return false;
    const size_t free_bytes = kBytesMax - bytes_;
    const size_t share = client == ClientKey::kInternal ? 0 : has.bytes;
    if (bytes > free_bytes || share > free_bytes - bytes) return false;
    if (memory_ != nullptr && !memory_->TryTake(bytes, share)) return false;
    ++commits_;
    bytes_ += bytes;
    of_client_[client] = {has.commits + 1, has.bytes + bytes};
    return true;
  }
  void End(ClientKey client, size_t bytes) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    --commits_;
    bytes_ -= bytes;
    if (memory_ != nullptr) memory_->Return(bytes);
    const auto found = of_client_.find(client);
    --found->second.commits;
    found->second.bytes -= bytes;
    if (found->second.commits == 0) of_client_.erase(found);
  }

 private:
  struct Held {
    size_t commits = 0;
    size_t bytes = 0;
  };

  MemoryBudget* const memory_;
  Mutex mutex_;  // Leaf lock.
  size_t commits_ GUARDED_BY(mutex_) = 0;
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<ClientKey, Held> of_client_ GUARDED_BY(mutex_);
};

}  // namespace hearth::commit
