#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
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
#include "base/connected_client.h"
#include "base/fair_share.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/status.h"
#include "transactions/lock_memory.h"
#include "transactions/lock_mode.h"
#include "transactions/prefix_map.h"
#include "watch/live_query.h"

namespace hearth::transactions {

// The holder of locks: one attempt of a transaction, or one commit outside transactions.
struct LockOwner {
  uint64_t age;  // Smaller is older. The attempts of one transaction share it.
  uint64_t id;   // Unique; later owners have greater ids.

  // Such a commit is younger than every transaction.
  static LockOwner OutsideOfTransactions(uint64_t id) {
    return {std::numeric_limits<uint64_t>::max(), id};
  }
  bool is_retry() const { return age < id; }
  // Whether this owner wins a conflict between the two: it is older, or a later attempt of the same
  // transaction.
  bool Outranks(const LockOwner& other) const {
    return age < other.age || (age == other.age && id > other.id);
  }

  friend auto operator<=>(const LockOwner&, const LockOwner&) = default;
};

struct LockOwnerHash {
  size_t operator()(const LockOwner& owner) const { return std::hash<uint64_t>{}(owner.id); }
};

// A transaction without a request in progress.
struct IdleOwner {
  enum class YieldsTo : uint8_t { kRetries, kEverybody };

  LockOwner owner;
  YieldsTo yields_to;  // Whose waiting requests may take its locks.
};

// All present and future documents whose keys start with `prefix`, which is not empty, and contain
// `part`: for example the collection id and mark of a collection group.
struct KeyPrefix {
  std::string prefix;
  std::string part = {};

  friend bool operator==(const KeyPrefix&, const KeyPrefix&) = default;

  bool Covers(std::string_view key) const {
    return key.starts_with(prefix) && key.find(part, prefix.size()) != std::string_view::npos;
  }
  // True if both may cover the same key.
  bool Meets(const KeyPrefix& other) const {
    return (prefix.starts_with(other.prefix) || other.prefix.starts_with(prefix)) &&
           (part.empty() || other.part.empty() || part == other.part);
  }
};

// The documents that a request locks.
struct LockScope {
  std::vector<std::string> document_keys;
  std::vector<KeyPrefix> key_prefixes;  // Only for kRead and kUpdate.
  // For kWrite: whether the write of document_keys[i] could make that document a result of the
  // query. Empty: each could. Must return the same answer until the request is granted, and may be
  // called on any thread until then.
  std::function<bool(size_t i, const watch::LiveQuery& query)> may_enter = {};
};

// The error for an owner that has lost its locks, in the words that clients match before they
// retry.
Status LocksLost();

// The locks of all transactions and commits.
//
// A request is granted as a whole or waits as a whole, first come first served. An owner that holds
// nothing waits behind earlier requests that it conflicts with; an owner that already holds locks
// overtakes them, since they may be waiting for it. So only transactions that hold locks can form a
// cycle, and each such cycle is broken when it closes.
//
// Conflicts are decided by age. A commit wounds the transactions it outranks that hold what it
// wants to write, and proceeds at once; it waits for the others, and for commits in progress. A
// read waits for all of them, so that retries queue up, and wounds those that it outranks when its
// wait times out. A wounded transaction has lost: it holds nothing, and all its requests are
// aborted until it is released. So the oldest transaction always makes progress, and a retry is
// older than all transactions that started after its first attempt.
//
// Threads: safe for concurrent use. Callbacks run without the lock, on the thread whose call
// decided the request, and must not block; may_enter also runs without it.
// Errors (to the callback): Aborted if the owner has lost: it waited too long, was wounded or was
// the youngest in a deadlock. ResourceExhausted if the client has had its share of the requests
// that may wait or of the locks on one document or prefix, or if the memory is used up; Cancelled
// after Cancel; and the status given to Close. After these the owner still holds what it held
// before.
class LockTable {
 public:
  // Receives the outcome of a request.
  using OnDecided = Callback<void(Status)>;
  static constexpr size_t kWaitingRequestsMax = 20'000;
  // Transactions that may have locks on one document, and locks on one prefix: deciding a request
  // can take time in proportion to them. So all collection groups below one parent share a bound.
  static constexpr size_t kReadersMax = 2'000;
  // Documents that are checked against narrowed locks, for one request or one narrowed lock. Beyond
  // it, a narrowed lock blocks like a lock on all that its keys cover.
  static constexpr size_t kQuestionsMax = 4'096;
  // What is examined to find those questions: locks for a request, documents for a narrowed lock.
  static constexpr size_t kQuestionVisitsMax = 65'536;
  // Narrowed locks of one owner on one prefix. A transaction with more queries on it keeps a lock
  // on all that the prefix covers.
  static constexpr size_t kNarrowedMax = 64;
  // Locks and their holders that one search for a deadlock examines. Beyond it, a deadlock lasts
  // until a wait ends after its time.
  static constexpr size_t kDeadlockExaminedMax = 65'536;
  // Locks that one call of Yield examines: those of the idle owners, and the documents and prefixes
  // below or above them that requests wait for, whether or not the idle owners' locks cover them.
  static constexpr size_t kYieldExaminedMax = 50'000;

  // `memory`: null: unlimited.
  LockTable(const Clock& clock, std::chrono::milliseconds wait_max, MemoryBudget* memory = nullptr);

  // Identifies a request, in the order of arrival.
  using Ticket = uint64_t;

  // Runs `done` with OK once `owner` holds all of `scope` in `mode`, immediately if possible.
  Ticket Acquire(LockOwner owner, LockScope scope, LockMode mode, OnDecided done,
                 ClientKey client = ClientKey::kInternal) EXCLUDES_LOCK(mutex_);

  // Ends the request with Cancelled if it still waits.
  void Cancel(Ticket ticket) EXCLUDES_LOCK(mutex_);

  // `owner` has read everything that it locked by `keys` with `query`, to the end, and the results
  // are `result_keys`: it keeps locks on those, and beyond them on any document that would become a
  // result. No effect if it no longer holds that lock, or if locks on the results would be too
  // many.
  void Narrow(LockOwner owner, const KeyPrefix& keys, std::shared_ptr<const watch::LiveQuery> query,
              std::vector<std::string> result_keys) EXCLUDES_LOCK(mutex_);

  // True if `owner` no longer holds the locks it was granted, and was not released.
  bool HasLost(LockOwner owner) const EXCLUDES_LOCK(mutex_);

  // Makes `owner` lose, unless it is committing: it holds nothing, and its requests are aborted,
  // until it is released.
  void Wound(LockOwner owner) EXCLUDES_LOCK(mutex_);

  // Releases everything that `owner` holds, and forgets that it has lost. Its waiting requests are
  // aborted.
  void Release(LockOwner owner) EXCLUDES_LOCK(mutex_);
  // The same for many owners, with a single pass over the waiting requests.
  void ReleaseAll(const std::vector<LockOwner>& owners) EXCLUDES_LOCK(mutex_);

  // Ends the requests that have waited too long: they wound the owners they outrank, or are
  // aborted. Call it periodically.
  void ExpireWaits() EXCLUDES_LOCK(mutex_);

  // Wounds each owner in `idle` that blocks a request to which it yields. If there is too much to
  // examine, later calls go on with the rest. Call it periodically.
  void Yield(std::vector<IdleOwner> idle) EXCLUDES_LOCK(mutex_);

  // Ends all waiting requests with `status`, and from now on those that would have to wait.
  void Close(Status status) EXCLUDES_LOCK(mutex_);

  size_t waiting_requests() const EXCLUDES_LOCK(mutex_);
  // The number of requests that had to wait, since the start.
  uint64_t waits() const { return waits_.value(); }
  // The number of locked documents and prefixes examined since the start: the cost of requests.
  uint64_t examined_locks() const { return examined_locks_; }

 private:
  using PrefixNumber = uint64_t;  // Identifies a lock on a prefix.
  template <typename T>
  using ByMode = std::array<T, std::size(kLockModes)>;  // At SlotOf(mode).
  struct WaitingPrefix {
    Ticket ticket;
    LockMode mode;
    KeyPrefix keys;
    bool is_retry;
  };
  struct Request {
    LockOwner owner;
    LockScope scope;
    LockMode mode;
    OnDecided done;
    std::chrono::steady_clock::time_point give_up_at;
    ClientKey client = ClientKey::kInternal;
    LockBytes bytes = {};  // Taken for it.
    // Narrowed locks whose queries none of the documents could enter.
    std::set<PrefixNumber> harmless = {};
    // The number of narrowed locks being checked. Until all are, the request is not granted, wounds
    // no owner and is part of no deadlock.
    size_t open_questions = 0;
    std::vector<PrefixMap<WaitingPrefix>::iterator> places =
        {};  // For its prefixes, while it waits.
  };
  // Counted and sorted by mode, so that examining a contended document costs no more than any
  // other.
  struct DocumentLock {
    std::map<LockOwner, uint8_t> holders;  // LockMode bits.
    ByMode<size_t> holders_by_mode = {};
    ByMode<std::map<Ticket, LockOwner>> waiting_by_mode;
    ByMode<size_t> waiting_retries_by_mode = {};

    // Whether any request waits for it.
    bool IsContended() const;
    size_t Readers() const;
    // Whether a request waits for an owner with `held_modes`, and that owner yields to it.
    bool HasWaitingFor(uint8_t held_modes, IdleOwner::YieldsTo yields_to) const;
    bool HasConflictingHolder(LockMode requested) const;
    bool HasConflictingRequestBefore(Ticket ticket, LockMode requested) const;
  };
  struct PrefixLock {
    PrefixNumber number;
    LockOwner owner;
    LockMode mode;
    KeyPrefix keys;
    // Null: everything that the keys cover is locked. Otherwise shared with the requests that check
    // it against their writes.
    std::shared_ptr<const watch::LiveQuery> query = nullptr;
  };
  struct OwnerState {
    std::vector<std::string> held_keys;
    std::vector<PrefixMap<PrefixLock>::iterator> held_prefixes;
    std::set<Ticket> waiting;                 // A transaction can have several reads in progress.
    ClientKey client = ClientKey::kInternal;  // Of its first request.
    LockBytes bytes = {};                     // Taken for what it holds.
    bool is_committing = false;               // Holds kWrite: too late to wound it.
    bool has_lost = false;
    bool HoldsAnything() const { return !held_keys.empty() || !held_prefixes.empty(); }
  };
  // Whether a narrowed lock blocks a waiting request.
  struct Question {
    Ticket ticket;
    PrefixNumber lock;
    std::shared_ptr<const watch::LiveQuery> query;  // Shared with the lock.
    std::function<bool(size_t i, const watch::LiveQuery& query)> may_enter;
    std::vector<size_t> documents;  // The request's documents that the lock's keys cover.
  };
  // Work for after the mutex is released.
  struct Decisions {
    std::vector<std::pair<OnDecided, Status>> callbacks;
    std::vector<Question> questions;
  };
  // What owners no longer hold or wait for.
  struct Freed {
    std::vector<std::string> keys;
    std::vector<KeyPrefix> prefixes;
  };
  struct DeadlockSearch;
  enum class Patience : uint8_t { kLeft, kExhausted };
  enum class Fate : uint8_t { kReleased, kLost };

  void CountExamined() const { examined_locks_.fetch_add(1, std::memory_order_relaxed); }
  // Calls `visit` with each locked document that `keys` covers, until it returns true; then returns
  // true itself.
  template <typename Visit>
  bool VisitDocuments(const KeyPrefix& keys, const Visit& visit) const REQUIRES_LOCK(mutex_);
  // The same for those that requests wait for.
  template <typename Visit>
  bool VisitContended(const KeyPrefix& keys, const Visit& visit) const REQUIRES_LOCK(mutex_);
  // Calls `visit` with each owner that blocks `request`, until it returns true; then returns true
  // itself. An owner may be visited twice.
  template <typename Visit>
  bool VisitBlockers(const Request& request, const Visit& visit) const REQUIRES_LOCK(mutex_);
  bool MustQueueBehind(const Request& request, Ticket ticket) const REQUIRES_LOCK(mutex_);
  // Whether the client may not have one more lock on what the request reads.
  bool IsCrowded(const Request& request) const REQUIRES_LOCK(mutex_);
  bool IsOwnedBy(ClientKey client, LockOwner holder) const REQUIRES_LOCK(mutex_);
  // Whether the request may take the holder's locks, unless the holder is committing.
  static bool MayWound(const Request& request, Patience patience, LockOwner holder);
  // True if the request can be granted, after wounding the owners that it may wound. Wounds none if
  // that would not be enough.
  bool MakeWay(const Request& request, Ticket ticket, Patience patience,
               std::set<Ticket>* candidates, Decisions* decisions) REQUIRES_LOCK(mutex_);
  // The state of its owner, which is created if necessary.
  OwnerState& OwnerOf(const Request& request) REQUIRES_LOCK(mutex_);
  void Grant(const Request& request) REQUIRES_LOCK(mutex_);
  // Whether the owner will not narrow its locks on `keys` any more.
  bool HasNarrowedEnough(LockOwner owner, const KeyPrefix& keys) const REQUIRES_LOCK(mutex_);
  // Whether the owner has a lock on `keys` that stays as it is.
  bool HasLastingLock(const Request& request, const KeyPrefix& keys) const REQUIRES_LOCK(mutex_);
  // Removes the request from the queue and grants it, unless too many others were granted before.
  void GrantWaiting(Ticket ticket, std::set<Ticket>* candidates, std::vector<LockOwner>* suspects,
                    Decisions* decisions) REQUIRES_LOCK(mutex_);
  void Enqueue(Request request, Ticket ticket) REQUIRES_LOCK(mutex_);
  Request TakeWaiting(Ticket ticket) REQUIRES_LOCK(mutex_);
  // Takes the request from the queue, and ends it with `status`. Adds those that may have waited
  // for it.
  void EndWaiting(Ticket ticket, Status status, std::set<Ticket>* candidates, Decisions* decisions)
      REQUIRES_LOCK(mutex_);
  // The questions to the narrowed locks that cover documents of the request. None if they are too
  // many. This and the next record the number of open questions.
  std::vector<Question> QuestionsOf(Request* request, Ticket ticket) REQUIRES_LOCK(mutex_);
  // The questions of these waiting requests to a lock. Beyond the bounds on all of them together,
  // it blocks the rest.
  std::vector<Question> QuestionsTo(const PrefixLock& lock, const std::set<Ticket>& tickets)
      REQUIRES_LOCK(mutex_);
  // Takes one from what may still be examined. True if that was the last, or if nothing was left.
  bool IsUsedUp(size_t* allowance) const;
  bool IsWaiting(LockOwner owner) const REQUIRES_LOCK(mutex_);
  // Add the owners that block the request, wait themselves and are new to the search: the holders
  // of a document's lock; of prefixes of `key`; of all that `keys` meets.
  void AddHolders(const Request& request, const DocumentLock& lock, DeadlockSearch* search) const
      REQUIRES_LOCK(mutex_);
  void AddPrefixHolders(const Request& request, const std::string& key,
                        DeadlockSearch* search) const REQUIRES_LOCK(mutex_);
  void AddHoldersBelow(const Request& request, const KeyPrefix& keys, DeadlockSearch* search) const
      REQUIRES_LOCK(mutex_);
  // The owners that any of this owner's requests waits for, that wait themselves, and to which the
  // search has not come before.
  std::set<LockOwner> WaitingBlockersOf(LockOwner owner, DeadlockSearch* search) const
      REQUIRES_LOCK(mutex_);
  // The owner in a cycle through `start` that all others outrank; nullopt if there is no cycle, or
  // if it is too far to find.
  std::optional<LockOwner> FindDeadlockVictim(LockOwner start) const REQUIRES_LOCK(mutex_);
  // Adds the requests that wait for the document, or queue behind such a request, and that its
  // holders may let pass.
  void AddWaiting(const std::string& key, std::set<Ticket>* candidates) const REQUIRES_LOCK(mutex_);
  void AddWaiting(const KeyPrefix& keys, std::set<Ticket>* candidates) const REQUIRES_LOCK(mutex_);
  // Adds the requests that may have been unblocked.
  void AddWaiting(Freed freed, std::set<Ticket>* candidates) const REQUIRES_LOCK(mutex_);
  // Releases all that `owner` holds, and ends its waiting requests with `status`.
  void Drop(LockOwner owner, Fate fate, const Status& status, Freed* freed, Decisions* decisions)
      REQUIRES_LOCK(mutex_);
  // Whether the idle owner blocks a request to which it yields. False once `*allowance`, the locks
  // that may still be examined, is used up.
  bool MustYield(const IdleOwner& idle, size_t* allowance) const REQUIRES_LOCK(mutex_);
  bool DocumentsAreInTheWay(const IdleOwner& idle, const OwnerState& state, size_t* allowance) const
      REQUIRES_LOCK(mutex_);
  bool PrefixIsInTheWay(const PrefixLock& lock, IdleOwner::YieldsTo yields_to,
                        size_t* allowance) const REQUIRES_LOCK(mutex_);
  bool IsBlockedBy(const PrefixLock& lock, const DocumentLock& document,
                   IdleOwner::YieldsTo yields_to, size_t* allowance) const REQUIRES_LOCK(mutex_);
  // Grants the `candidates` that can be granted, and breaks the deadlocks that involve `suspects`
  // or owners that were granted something.
  void Settle(std::set<Ticket> candidates, std::vector<LockOwner> suspects, Decisions* decisions)
      REQUIRES_LOCK(mutex_);
  // Runs the callbacks, evaluates the questions and acts on the answers.
  void Finish(Decisions decisions) EXCLUDES_LOCK(mutex_);

  const Clock& clock_;
  const std::chrono::milliseconds wait_max_;
  mutable Mutex mutex_;  // Nothing is called while it is held, but for the memory budget.
  Ticket next_ticket_ GUARDED_BY(mutex_) = 1;
  PrefixNumber next_prefix_ GUARDED_BY(mutex_) = 1;
  std::map<std::string, DocumentLock, std::less<>> documents_ GUARDED_BY(mutex_);
  // Those documents that requests wait for.
  std::map<std::string_view, const DocumentLock*> contended_ GUARDED_BY(mutex_);
  PrefixMap<PrefixLock> prefixes_ GUARDED_BY(mutex_);
  std::map<Ticket, Request> waiting_ GUARDED_BY(mutex_);
  SharedPlaces waiting_places_ GUARDED_BY(mutex_){kWaitingRequestsMax};
  LockMemory memory_ GUARDED_BY(mutex_);
  LockOwner yielded_up_to_ GUARDED_BY(mutex_) = {};
  PrefixMap<WaitingPrefix> waiting_prefixes_ GUARDED_BY(mutex_);  // Those of the waiting requests.
  std::unordered_map<LockOwner, OwnerState, LockOwnerHash> owners_ GUARDED_BY(mutex_);
  Status closed_ GUARDED_BY(mutex_);  // OK while open.
  mutable std::atomic<uint64_t> examined_locks_ = 0;
  Counter waits_;
};

}  // namespace hearth::transactions
