#pragma once

#include <cstddef>
#include <unordered_map>

#include "base/connected_client.h"
#include "base/memory_budget.h"

namespace hearth::transactions {

struct LockBytes {
  size_t of_reads = 0;
  size_t of_commits = 0;

  LockBytes& operator+=(const LockBytes& other) {
    of_reads += other.of_reads;
    of_commits += other.of_commits;
    return *this;
  }
  LockBytes& operator-=(const LockBytes& other) {
    of_reads -= other.of_reads;
    of_commits -= other.of_commits;
    return *this;
  }
};

// The memory that locks take. Transactions can keep theirs for minutes, so what they have read is
// also bounded by itself and shared by client. That bounds the time to look through all locks, too.
// (The commits under way are bounded before they ask for locks.)
//
// Threads: one at a time; callers guard it.
class LockMemory {
 public:
  static constexpr size_t kReadBytesMax = 256 * 1024 * 1024;

  // `budget`: null: unlimited.
  explicit LockMemory(MemoryBudget* budget) : budget_(budget), of_commits_(budget) {}

  // Returns false and takes nothing if there is no room, or if the client has had its share.
  [[nodiscard]] bool Take(ClientKey client, const LockBytes& bytes) {
    if (bytes.of_reads > 0 && !TakeForReads(client, bytes.of_reads)) return false;
    if (bytes.of_commits == 0 || of_commits_.Grow(bytes.of_commits)) return true;
    ReturnOfReads(client, bytes.of_reads);
    return false;
  }
  void Return(ClientKey client, const LockBytes& bytes) {
    of_commits_.Shrink(bytes.of_commits);
    ReturnOfReads(client, bytes.of_reads);
  }

 private:
  bool TakeForReads(ClientKey client, size_t bytes) {
    const size_t free_bytes = kReadBytesMax - read_bytes_;
    if (bytes > free_bytes) return false;
    const auto found = of_reads_.try_emplace(client, MemoryClaim::Lasting(budget_, client)).first;
    MemoryClaim& claim = found->second;
    // This process stands for many small clients. For any other, all that it holds is one claim, or
    // many small ones would use up the budget's reserve.
    const bool is_internal = client == ClientKey::kInternal;
    const bool may_grow = is_internal || claim.bytes() <= free_bytes - bytes;
    if (may_grow && (is_internal ? claim.Grow(bytes) : claim.Resize(claim.bytes() + bytes))) {
      read_bytes_ += bytes;
      return true;
    }
    if (claim.bytes() == 0) of_reads_.erase(found);
    return false;
  }
  void ReturnOfReads(ClientKey client, size_t bytes) {
    if (bytes == 0) return;
    read_bytes_ -= bytes;
    const auto found = of_reads_.find(client);
    found->second.Shrink(bytes);
    if (found->second.bytes() == 0) of_reads_.erase(found);
  }

  MemoryBudget* const budget_;
  MemoryClaim of_commits_;
  size_t read_bytes_ = 0;  // Of all clients.
  std::unordered_map<ClientKey, MemoryClaim> of_reads_;
};

}  // namespace hearth::transactions
