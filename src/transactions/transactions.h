#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"
#include "documents/commit_clock.h"
#include "documents/database.h"
#include "model/timestamp.h"
#include "request/consistency.h"
#include "request/transaction_options.h"
#include "transactions/lock_table.h"

namespace hearth::transactions {

inline constexpr std::chrono::seconds kTransactionAgeMax{270};
inline constexpr std::chrono::seconds kTransactionIdleMax{60};
// A transaction that has had no request in progress for this long yields its locks to waiting
// requests: to all of them if its client has disconnected; otherwise first to retried transactions,
// since they have waited or lost before, and only later to the others, whose waits end as
// documented while the client may be alive. The latter two double with each retry of the idle
// transaction, so that a slow client succeeds in the end.
inline constexpr std::chrono::seconds kYieldsWithoutClientAfter{1};
inline constexpr std::chrono::seconds kYieldsToRetriesAfter{3};
inline constexpr std::chrono::seconds kYieldsAfter{20};
inline constexpr size_t kOpenTransactionsMax = 50'000;
// A retry keeps its age for this long after its first attempt: longer than SDKs retry. Otherwise a
// client could keep an old id and outrank the others forever.
inline constexpr std::chrono::minutes kRetriesFor{10};

// One open transaction. Immutable except for the bookkeeping of the id.
struct Transaction {
  std::string id;
  documents::ConstDatabaseHandle database;
  request::TransactionOptions::Mode mode;
  model::Timestamp read_time;  // For read-only transactions.
  LockOwner owner;             // For read-write transactions.
  LockMode read_lock;          // The mode in which it locks what it reads.
  uint32_t retries;            // The number of attempts before this one.
  // Releases what the owner still holds when the last user of the transaction is gone: a read that
  // was in progress when the transaction ended may get its locks after the release.
  std::shared_ptr<void> last_release;
};

// The open transactions of all databases.
//
// No storage transaction stays open between two requests: a transaction is an id with the locks on
// what it read, or with a moment to read at.
//
// Threads: safe for concurrent use. Ownership: borrows the lock table, the clocks and the source of
// randomness, whose numbers must be secret. Errors: InvalidArgument for ids that are malformed,
// forged, closed or expired.
class Transactions {
 public:
  Transactions(const Clock& clock, documents::CommitClock& commit_clock, LockTable& locks,
               RandomSource& random);

  // Starts a transaction. InvalidArgument for a malformed or forged retry id; ResourceExhausted if
  // too many are open, or too many of this client. The caller has checked the read time.
  //
  // One open transaction at a time has an age. A retry takes it from the attempt that it names,
  // which loses its locks if it is still open. If another attempt has it, the retry gets an age of
  // its own: so a client whose answer was lost may ask again, and nobody gets many transactions of
  // one age.
  Result<std::shared_ptr<const Transaction>> Begin(const documents::Database& database,
                                                   const request::TransactionOptions& options,
                                                   request::Client client = nullptr)
      EXCLUDES_LOCK(mutex_);

  // The open transaction `id`, marked as in use by `client` until EndUse: until then it is not
  // idle.
  Result<std::shared_ptr<const Transaction>> BeginUse(const documents::Database& database,
                                                      std::string_view id,
                                                      request::Client client = nullptr)
      EXCLUDES_LOCK(mutex_);
  void EndUse(const Transaction& transaction) EXCLUDES_LOCK(mutex_);

  // Removes the transaction from the table for its commit: later uses find it closed. Its locks
  // stay until they are released by owner.
  Result<std::shared_ptr<const Transaction>> TakeForCommit(const documents::Database& database,
                                                           std::string_view id)
      EXCLUDES_LOCK(mutex_);

  // Ends the transaction and releases its locks. OK also if it has already ended.
  Status Rollback(const documents::Database& database, std::string_view id) EXCLUDES_LOCK(mutex_);

  // Ends the transactions of a database that was deleted.
  void EndAllOf(const documents::Database& database) EXCLUDES_LOCK(mutex_);

  // Ends the transactions that are too old or idle for too long, and makes idle ones yield to
  // waiting requests. A transaction that yields stays open, but has lost its locks.
  void Expire() EXCLUDES_LOCK(mutex_);

  // A lock owner for a commit outside transactions.
  LockOwner NewOwner() EXCLUDES_LOCK(mutex_);

  size_t open_transactions() const EXCLUDES_LOCK(mutex_);

 private:
  struct Entry {
    std::shared_ptr<const Transaction> transaction;  // Shared with the requests that use it.
    request::Client client;                          // The client of the newest request.
    ClientKey begun_by;
    std::chrono::steady_clock::time_point started_at;
    std::chrono::steady_clock::time_point used_at;
    int uses = 0;
  };
  // The contents of an id, with which a retry claims its age.
  struct IdParts {
    uint64_t process;  // The run of the server that issued it.
    uint64_t number;
    uint64_t age;
    uint64_t first_begun;  // Nanoseconds of the monotonic clock at the first attempt.
    uint32_t retries;
  };
  using SealKey = std::array<uint8_t, 16>;

  static SealKey NewSealKey(RandomSource& random);
  // Ids end with a keyed hash of their contents: clients can neither guess nor make up an id.
  std::string EncodeId(const IdParts& parts) const;
  std::string SealOf(std::string_view encoded_parts) const;
  Result<IdParts> ParseId(std::string_view id) const;
  // What a new transaction inherits from the attempt that it retries; nullopt if nothing.
  Result<std::optional<IdParts>> ParseRetried(std::string_view id,
                                              std::chrono::steady_clock::time_point now) const;
  // Whether a retry of `retried` gets its age. `*previous`: the attempt that has it, if any.
  bool MayInherit(const documents::Database& database, const IdParts& retried,
                  const std::string& id, std::shared_ptr<const Transaction>* previous) const
      REQUIRES_LOCK(mutex_);
  // Call it for each entry that is removed.
  void Forget(const Entry& entry) REQUIRES_LOCK(mutex_);
  // nullopt if the transaction keeps its locks, whichever request waits for them.
  static std::optional<IdleOwner::YieldsTo> WhomToYieldTo(
      const Entry& entry, std::chrono::steady_clock::duration idle_for);

  const Clock& clock_;
  documents::CommitClock& commit_clock_;
  LockTable& locks_;
  const uint64_t process_;
  const SealKey seal_key_;

  mutable Mutex mutex_;  // Nothing else is locked while it is held.
  uint64_t next_number_ GUARDED_BY(mutex_) = 1;
  std::unordered_map<std::string, Entry> open_ GUARDED_BY(mutex_);
  // The open transaction that has an age, by its number. Others of that age have lost their locks.
  std::unordered_map<uint64_t, uint64_t> number_of_age_ GUARDED_BY(mutex_);
  SharedPlaces places_ GUARDED_BY(mutex_){kOpenTransactionsMax};
};

}  // namespace hearth::transactions
