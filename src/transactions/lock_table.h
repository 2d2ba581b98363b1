#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/callback.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "transactions/prefix_map.h"
#include "watch/live_query.h"

namespace hearth::transactions {

// The holder of locks: one attempt of a transaction, or one commit outside of transactions.
struct LockOwner {
  uint64_t age;  // Smaller is older. The attempts of one transaction share it.
  uint64_t id;   // Unique; a later owner has a greater one.

  // Such a commit is younger than every transaction.
  static LockOwner OutsideOfTransactions(uint64_t id) {
    return {std::numeric_limits<uint64_t>::max(), id};
  }
  bool is_retry() const { return age < id; }
  // Whether a conflict between the two is decided in favour of this one: it is older, or a later
  // attempt of the same transaction.
  bool Outranks(const LockOwner& other) const {
    return age < other.age || (age == other.age && id > other.id);
  }

  friend auto operator<=>(const LockOwner&, const LockOwner&) = default;
};

struct LockOwnerHash {
  size_t operator()(const LockOwner& owner) const { return std::hash<uint64_t>{}(owner.id); }
};

// A transaction that has no request under way.
struct IdleOwner {
  enum class YieldsTo : uint8_t { kRetries, kEverybody };

  LockOwner owner;
  YieldsTo yields_to;  // Whose waiting requests take its locks away.
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
  // query. Empty: each could. Must give the same answer until the request is granted, and while
  // that is unknown may be called on any thread.
  std::function<bool(size_t i, const watch::LiveQuery& query)> may_enter = {};
};

// What an owner is told that has lost its locks, in words that clients look for before they try
// again.
Status LocksLost();

// The locks of all transactions and commits.
//
// A request is granted whole or waits whole, first come first served. An owner that holds nothing
// waits behind earlier requests that it conflicts with; one that already holds locks overtakes
// them, since they may be waiting for it. So only transactions that hold locks can form a cycle,
// and each such cycle is broken when it closes.
//
// Conflicts are decided by age. A commit wounds the transactions it outranks that hold what it
// wants to write, and goes on at once; it waits for the others, and for commits under way. A read
// waits for all of them, so that retries queue up, and wounds those that it outranks when its time
// is over. A wounded transaction has lost: it holds nothing, and every request of it is aborted
// until it is released. So the oldest transaction always goes on, and a retry is older than all
// that have started since its first attempt.
//
// Threads: safe for concurrent use. Callbacks run without the lock, on the thread whose call
// decided the request, and must not block; may_enter also runs without it.
// Errors (to the callback): Aborted when the owner has lost: it waited for too long, was wounded or
// was the youngest in a deadlock. ResourceExhausted when kWaitingRequestsMax wait already, and what
// Close was given; after these the owner still holds what it held before.
class LockTable {
 public:
  // Hears how a request was decided.
  using OnDecided = Callback<void(Status)>;
  static constexpr size_t kWaitingRequestsMax = 20'000;

  LockTable(const Clock& clock, std::chrono::milliseconds wait_max);

  // Runs `done` with OK once `owner` holds all of `scope` in `mode`, at once if that is possible.
  void Acquire(LockOwner owner, LockScope scope, LockMode mode, OnDecided done)
      EXCLUDES_LOCK(mutex_);

  // What `owner` has locked by `keys` was read by `query`, to the end, and gave the documents with
  // `result_keys`: it keeps a lock on those, and beyond them on whatever would become a result.
  // Does nothing where it does not hold that lock any more.
  void Narrow(LockOwner owner, const KeyPrefix& keys, std::shared_ptr<const watch::LiveQuery> query,
              std::vector<std::string> result_keys) EXCLUDES_LOCK(mutex_);

  // True when `owner` does not hold the locks any more that it was granted, and was not released.
  bool HasLost(LockOwner owner) const EXCLUDES_LOCK(mutex_);

  // Gives up all that `owner` holds, and forgets that it has lost. Requests of it that still wait
  // are aborted.
  void Release(LockOwner owner) EXCLUDES_LOCK(mutex_);
  // The same for many owners, with one look at who can go on.
  void ReleaseAll(const std::vector<LockOwner>& owners) EXCLUDES_LOCK(mutex_);

  // Ends the requests that have waited too long: they wound whom they outrank, or are aborted. To
  // be called every now and then.
  void ExpireWaits() EXCLUDES_LOCK(mutex_);

  // Wounds those of `idle` that a request waits for to which they yield.
  void Yield(const std::vector<IdleOwner>& idle) EXCLUDES_LOCK(mutex_);

  // Ends all requests that wait, and from now on those that would have to, with `status`.
  void Close(Status status) EXCLUDES_LOCK(mutex_);

  size_t waiting_requests() const EXCLUDES_LOCK(mutex_);
  // How many requests have had to wait, from the beginning.
  uint64_t waits() const { return waits_.value(); }
  // How many locked documents and prefixes were looked at, from the beginning: what requests cost.
  uint64_t examined_locks() const { return examined_locks_; }

 private:
  using Ticket = uint64_t;        // The order of arrival of requests that wait.
  using PrefixNumber = uint64_t;  // Tells the locks on prefixes apart.
  static constexpr size_t kLockModes = 3;
  struct WaitingPrefix {
    Ticket ticket;
    LockMode mode;
    KeyPrefix keys;
  };
  struct Request {
    LockOwner owner;
    LockScope scope;
    LockMode mode;
    OnDecided done;
    std::chrono::steady_clock::time_point give_up_at;
    // The narrowed locks whose queries none of the documents could enter.
    std::set<PrefixNumber> harmless = {};
    // How many narrowed locks are being asked. Until all have answered, the request is not granted,
    // wounds nobody and is part of no deadlock.
    size_t open_questions = 0;
    std::vector<PrefixMap<WaitingPrefix>::iterator> places =
        {};  // Of its prefixes, while it waits.
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
    PrefixNumber number;
    LockOwner owner;
    LockMode mode;
    KeyPrefix keys;
    // Null: all that the keys cover is locked. Otherwise shared with those who ask it whether it
    // stands in the way of a write.
    std::shared_ptr<const watch::LiveQuery> query = nullptr;
  };
  struct OwnerState {
    std::vector<std::string> held_keys;
    std::vector<PrefixMap<PrefixLock>::iterator> held_prefixes;
    std::set<Ticket> waiting;    // A transaction can read several things at once.
    bool is_committing = false;  // Holds kWrite: too late to wound it.
    bool has_lost = false;
    bool HoldsAnything() const { return !held_keys.empty() || !held_prefixes.empty(); }
  };
  // Whether a narrowed lock stands in the way of a request that waits.
  struct Question {
    Ticket ticket;
    PrefixNumber lock;
    std::shared_ptr<const watch::LiveQuery> query;  // Shared with the lock.
    std::function<bool(size_t i, const watch::LiveQuery& query)> may_enter;
    std::vector<size_t> documents;  // Those of the request that the lock's keys cover.
  };
  // What is to be done once the mutex is released.
  struct Decisions {
    std::vector<std::pair<OnDecided, Status>> callbacks;
    std::vector<Question> questions;
  };
  enum class Patience : uint8_t { kLeft, kExhausted };
  enum class Fate : uint8_t { kReleased, kLost };

  void CountExamined() const { examined_locks_.fetch_add(1, std::memory_order_relaxed); }
  // Calls `visit` with each locked document that `keys` covers, until it returns true; then returns
  // true as well.
  template <typename Visit>
  bool VisitDocuments(const KeyPrefix& keys, const Visit& visit) const REQUIRES_LOCK(mutex_);
  // Calls `visit` with each owner that stands in the way of `request`, until it returns true; then
  // returns true as well. An owner may come twice.
  template <typename Visit>
  bool VisitBlockers(const Request& request, const Visit& visit) const REQUIRES_LOCK(mutex_);
  bool MustQueueBehind(const Request& request, Ticket ticket) const REQUIRES_LOCK(mutex_);
  // Whether the request takes the locks of the holder, unless that is committing.
  static bool MayWound(const Request& request, Patience patience, LockOwner holder);
  // True when the request can be granted, after wounding those it may wound; nobody is wounded in
  // vain.
  bool MakeWay(const Request& request, Ticket ticket, Patience patience,
               std::set<Ticket>* candidates, Decisions* decisions) REQUIRES_LOCK(mutex_);
  void Grant(const Request& request) REQUIRES_LOCK(mutex_);
  // Takes the request from the queue and grants it.
  void GrantWaiting(Ticket ticket, std::set<Ticket>* candidates, std::vector<LockOwner>* suspects,
                    Decisions* decisions) REQUIRES_LOCK(mutex_);
  void Enqueue(Request request, Ticket ticket) REQUIRES_LOCK(mutex_);
  Request TakeWaiting(Ticket ticket) REQUIRES_LOCK(mutex_);
  // What the request has to ask the narrowed locks that cover documents of it: the lock `only`, or
  // all of them. Notes how many questions are open.
  std::vector<Question> QuestionsOf(Request* request, Ticket ticket,
                                    std::optional<PrefixNumber> only) REQUIRES_LOCK(mutex_);
  // Those for whom the request waits; none while it has open questions.
  std::set<LockOwner> BlockersOf(const Request& request) const REQUIRES_LOCK(mutex_);
  // Those for whom one of the owner's requests waits.
  std::set<LockOwner> BlockersOf(LockOwner owner) const REQUIRES_LOCK(mutex_);
  // The member of a cycle through `start` that all others outrank; nullopt where there is none.
  std::optional<LockOwner> FindDeadlockVictim(LockOwner start) const REQUIRES_LOCK(mutex_);
  // Adds the requests that wait for one of the documents, or for their turn behind such a request.
  void AddWaiting(const std::vector<std::string>& keys, std::set<Ticket>* candidates) const
      REQUIRES_LOCK(mutex_);
  void AddWaiting(const KeyPrefix& keys, std::set<Ticket>* candidates) const REQUIRES_LOCK(mutex_);
  // Ends all that `owner` holds, and with `status` what it waits for. Adds the requests that this
  // may have unblocked.
  void Drop(LockOwner owner, Fate fate, const Status& status, std::set<Ticket>* candidates,
            Decisions* decisions) REQUIRES_LOCK(mutex_);
  // Grants those of `candidates` whose time has come, and breaks the deadlocks that `suspects` or
  // those who got something are in.
  void Settle(std::set<Ticket> candidates, std::vector<LockOwner> suspects, Decisions* decisions)
      REQUIRES_LOCK(mutex_);
  // Runs the callbacks, asks the questions and does what follows from the answers.
  void Finish(Decisions decisions) EXCLUDES_LOCK(mutex_);

  const Clock& clock_;
  const std::chrono::milliseconds wait_max_;
  mutable Mutex mutex_;  // Nothing is called and nothing else is locked while it is held.
  Ticket next_ticket_ GUARDED_BY(mutex_) = 1;
  PrefixNumber next_prefix_ GUARDED_BY(mutex_) = 1;
  std::map<std::string, DocumentLock, std::less<>> documents_ GUARDED_BY(mutex_);
  PrefixMap<PrefixLock> prefixes_ GUARDED_BY(mutex_);
  std::map<Ticket, Request> waiting_ GUARDED_BY(mutex_);
  PrefixMap<WaitingPrefix> waiting_prefixes_ GUARDED_BY(mutex_);  // Of the requests that wait.
  std::unordered_map<LockOwner, OwnerState, LockOwnerHash> owners_ GUARDED_BY(mutex_);
  Status closed_ GUARDED_BY(mutex_);  // OK while it is open.
  mutable std::atomic<uint64_t> examined_locks_ = 0;
  Counter waits_;
};

}  // namespace hearth::transactions
