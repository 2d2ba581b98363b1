#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "watch/live_query.h"

namespace hearth::engine {

// Who holds or wants locks: a transaction, or one commit outside of transactions. Of the
// transactions in a deadlock the one with the greatest age number, the youngest, gives way.
struct LockOwner {
  uint64_t age;  // Shared by the attempts of one transaction, so that a retry grows older.
  uint64_t id;   // Unique.

  friend auto operator<=>(const LockOwner&, const LockOwner&) = default;
};

struct LockOwnerHash {
  size_t operator()(const LockOwner& owner) const { return std::hash<uint64_t>{}(owner.id); }
};

// How locks keep transactions serializable:
//   kRead    held by a transaction on what it read; nobody else may write it.
//   kUpdate  kRead for a transaction that lost a race before: it waits until it is alone, and new
//            readers wait for it. So those who retry queue up and then win, instead of being
//            defeated again by every older reader.
//   kWrite   held by a commit from admission until it is on disk. Commits do not exclude one
//            another: the committer puts them in order.
enum class LockMode : uint8_t { kRead = 1, kUpdate = 2, kWrite = 4 };

// All present and future documents whose keys begin with `prefix`, which is not empty, and hold
// `part`: the collection id and mark of a collection group, say.
struct KeyPrefix {
  std::string prefix;
  std::string part = {};

  friend bool operator==(const KeyPrefix&, const KeyPrefix&) = default;

  bool Covers(std::string_view key) const {
    return key.starts_with(prefix) && key.find(part, prefix.size()) != std::string_view::npos;
  }
  // True when there may be keys that both cover.
  bool Meets(const KeyPrefix& other) const {
    return (prefix.starts_with(other.prefix) || other.prefix.starts_with(prefix)) &&
           (part.empty() || other.part.empty() || part == other.part);
  }
};

// Which documents a request locks.
struct LockScope {
  std::vector<std::string> document_keys;
  std::vector<KeyPrefix> key_prefixes;  // Only for kRead and kUpdate.
  // Of kWrite: whether the write of document_keys[i] could make that document a result of the
  // query. Empty: each could.
  std::function<bool(size_t i, const watch::LiveQuery& query)> may_enter = {};
};

// The locks of all transactions and commits.
//
// A request is granted whole or waits whole, first come first served. An owner that holds nothing
// waits behind earlier requests that it conflicts with; one that already holds locks overtakes
// them, since they may be waiting for it. So only transactions that hold locks can form a cycle,
// and each such cycle is broken when it closes.
//
// Threads: safe for concurrent use. Callbacks run without the lock, on the thread whose call
// decided the request, and must not block.
// Errors (to the callback): Aborted when the wait was too long or the owner lost a deadlock,
// ResourceExhausted when kWaitingRequestsMax wait already, and what Close was given.
class LockTable {
 public:
  using Callback = std::function<void(Status)>;
  static constexpr size_t kWaitingRequestsMax = 20'000;

  LockTable(const Clock& clock, std::chrono::milliseconds wait_max);

  // Runs `done` with OK once `owner` holds all of `scope` in `mode`, at once if that is possible.
  // After an error the owner still holds what it held before, except after a lost deadlock: then
  // it holds nothing.
  void Acquire(LockOwner owner, LockScope scope, LockMode mode, Callback done)
      EXCLUDES_LOCK(mutex_);

  // What `owner` has locked by `keys` was read by `query`, to the end, and gave the documents with
  // `result_keys`: it keeps a lock on those, and beyond them on whatever would become a result.
  // Does nothing where it does not hold that lock any more.
  void Narrow(LockOwner owner, const KeyPrefix& keys, std::shared_ptr<const watch::LiveQuery> query,
              std::vector<std::string> result_keys) EXCLUDES_LOCK(mutex_);

  // Gives up all that `owner` holds. Requests of it that still wait are aborted.
  void Release(LockOwner owner) EXCLUDES_LOCK(mutex_);
  // The same for many owners, with one look at who can go on.
  void ReleaseAll(const std::vector<LockOwner>& owners) EXCLUDES_LOCK(mutex_);

  // Aborts the requests that have waited too long. To be called every now and then.
  void ExpireWaits() EXCLUDES_LOCK(mutex_);

  // Ends all requests that wait, and from now on those that would have to, with `status`.
  void Close(Status status) EXCLUDES_LOCK(mutex_);

  size_t waiting_requests() const EXCLUDES_LOCK(mutex_);

 private:
  using Ticket = uint64_t;  // The order of arrival of requests that wait.
  static constexpr size_t kLockModes = 3;
  struct Request {
    LockOwner owner;
    LockScope scope;
    LockMode mode;
    Callback done;
    std::chrono::steady_clock::time_point give_up_at;
  };
  // Counted and sorted by mode, so that a look at a document in great demand costs no more than
  // one at any other.
  struct DocumentLock {
    std::map<LockOwner, uint8_t> holders;  // LockMode bits.
    std::array<size_t, kLockModes> holders_by_mode = {};
    std::array<std::set<Ticket>, kLockModes> waiting_by_mode;

    bool IsUnused() const;
    bool HasConflictingHolder(LockMode requested) const;
    bool HasConflictingRequestBefore(Ticket ticket, LockMode requested) const;
  };
  struct PrefixLock {
    LockOwner owner;
    LockMode mode;
    KeyPrefix keys;
    // Shared with nobody for long; null: all that the keys cover is locked.
    std::shared_ptr<const watch::LiveQuery> query = nullptr;
  };
  struct OwnerState {
    std::vector<std::string> held_keys;
    bool holds_prefixes = false;
    std::set<Ticket> waiting;  // A transaction can read several things at once.
    bool HoldsAnything() const { return !held_keys.empty() || holds_prefixes; }
  };
  // Callbacks to run once the mutex is released.
  using Decided = std::vector<std::pair<Callback, Status>>;

  // Calls `visit` with each owner that stands in the way of `request`, until it returns true; then
  // returns true as well. An owner may come twice.
  template <typename Visit>
  bool VisitBlockers(const Request& request, const Visit& visit) const REQUIRES_LOCK(mutex_);
  // Whether the lock stands in the way of the request's document i.
  static bool Protects(const PrefixLock& lock, const Request& request, size_t i);
  bool MustQueueBehind(const Request& request, Ticket ticket) const REQUIRES_LOCK(mutex_);
  bool CanGrant(const Request& request, Ticket ticket) const REQUIRES_LOCK(mutex_);
  void Grant(const Request& request) REQUIRES_LOCK(mutex_);
  void Enqueue(Request request, Ticket ticket) REQUIRES_LOCK(mutex_);
  Request TakeWaiting(Ticket ticket) REQUIRES_LOCK(mutex_);
  // Those for whom one of the owner's requests waits.
  std::set<LockOwner> BlockersOf(LockOwner owner) const REQUIRES_LOCK(mutex_);
  // The youngest member of a cycle through `start`; nullopt where there is none.
  std::optional<LockOwner> FindDeadlockVictim(LockOwner start) const REQUIRES_LOCK(mutex_);
  // Adds the requests that may wait for somebody who had `keys`, and prefixes or none, or for
  // their turn behind such a request.
  enum class Prefixes : uint8_t { kNone, kSome };
  static Prefixes PrefixesOf(const Request& request) {
    return request.scope.key_prefixes.empty() ? Prefixes::kNone : Prefixes::kSome;
  }
  void AddWaiting(const std::vector<std::string>& keys, Prefixes prefixes,
                  std::set<Ticket>* candidates) const REQUIRES_LOCK(mutex_);
  // Drops all that `owner` holds, aborts what it waits for, and adds the requests that this may
  // have unblocked.
  void Drop(LockOwner owner, std::set<Ticket>* candidates, Decided* decided) REQUIRES_LOCK(mutex_);
  // Grants those of `candidates` whose time has come, and breaks the deadlocks that `suspects` or
  // those who got something are in.
  void Settle(std::set<Ticket> candidates, std::vector<LockOwner> suspects, Decided* decided)
      REQUIRES_LOCK(mutex_);
  static void Run(Decided decided);

  const Clock& clock_;
  const std::chrono::milliseconds wait_max_;
  mutable Mutex mutex_;  // Nothing else is locked while it is held.
  Ticket next_ticket_ GUARDED_BY(mutex_) = 1;
  std::unordered_map<std::string, DocumentLock> documents_ GUARDED_BY(mutex_);
  std::vector<PrefixLock> prefixes_ GUARDED_BY(mutex_);
  std::map<Ticket, Request> waiting_ GUARDED_BY(mutex_);
  std::set<Ticket> waiting_prefixes_ GUARDED_BY(mutex_);  // Those of them that want prefixes.
  std::unordered_map<LockOwner, OwnerState, LockOwnerHash> owners_ GUARDED_BY(mutex_);
  Status closed_ GUARDED_BY(mutex_);  // OK while it is open.
};

}  // namespace hearth::engine
