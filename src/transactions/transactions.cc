#include "transactions/transactions.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "documents/keys.h"

namespace hearth::transactions {
namespace {

constexpr size_t kPartsBytes = 4 * sizeof(uint64_t) + sizeof(uint32_t);
constexpr size_t kIdBytes = kPartsBytes + crypto_shorthash_BYTES;
// More would make no difference.
constexpr uint32_t kRetriesMax = 10;

// SDKs match these words and then restart the transaction.
Status Closed() {
  return InvalidArgument("The referenced transaction has expired or is no longer valid.");
}

Status Malformed() { return InvalidArgument("Invalid transaction."); }

}  // namespace

Transactions::Transactions(const Clock& clock, documents::CommitClock& commit_clock,
                           LockTable& locks, RandomSource& random)
    : clock_(clock),
      commit_clock_(commit_clock),
      locks_(locks),
      process_(random.Next()),
      seal_key_(NewSealKey(random)) {}

Transactions::SealKey Transactions::NewSealKey(RandomSource& random) {
  static_assert(sizeof(SealKey) == crypto_shorthash_KEYBYTES);
  const std::array<uint64_t, 2> numbers = {random.Next(), random.Next()};
  SealKey key;
  static_assert(sizeof(key) == sizeof(numbers));
  std::memcpy(key.data(), numbers.data(), sizeof(key));
  return key;
}

std::string Transactions::SealOf(std::string_view encoded_parts) const {
  std::string seal(crypto_shorthash_BYTES, '\0');
  crypto_shorthash(reinterpret_cast<uint8_t*>(seal.data()),
                   reinterpret_cast<const uint8_t*>(encoded_parts.data()), encoded_parts.size(),
                   seal_key_.data());
  return seal;
}

std::string Transactions::EncodeId(const IdParts& parts) const {
  const std::string encoded = model::EncodeUint64(parts.process) +
                              model::EncodeUint64(parts.number) + model::EncodeUint64(parts.age) +
                              model::EncodeUint64(parts.first_begun) +
                              model::EncodeUint32(parts.retries);
  return encoded + SealOf(encoded);
}

Result<Transactions::IdParts> Transactions::ParseId(std::string_view id) const {
  if (id.size() != kIdBytes) return Malformed();
  ASSIGN_OR_RETURN(const uint64_t process, model::DecodeUint64(id.substr(0, 8)));
  ASSIGN_OR_RETURN(const uint64_t number, model::DecodeUint64(id.substr(8, 8)));
  ASSIGN_OR_RETURN(const uint64_t age, model::DecodeUint64(id.substr(16, 8)));
  ASSIGN_OR_RETURN(const uint64_t first_begun, model::DecodeUint64(id.substr(24, 8)));
  ASSIGN_OR_RETURN(const uint32_t retries, model::DecodeUint32(id.substr(32, 4)));
  // Each run of the server has a key of its own.
  if (process == process_) {
    const std::string seal = SealOf(id.substr(0, kPartsBytes));
    if (sodium_memcmp(seal.data(), id.data() + kPartsBytes, seal.size()) != 0) return Malformed();
  }
  return IdParts{process, number, age, first_begun, retries};
}

Result<std::optional<Transactions::IdParts>> Transactions::ParseRetried(
    std::string_view id, std::chrono::steady_clock::time_point now) const {
  if (id.empty()) return std::optional<IdParts>();
  ASSIGN_OR_RETURN(const IdParts parts, ParseId(id));
  if (parts.process != process_) return std::optional<IdParts>();
  const std::chrono::nanoseconds first_begun(parts.first_begun);
  if (now.time_since_epoch() - first_begun > kRetriesFor) return std::optional<IdParts>();
  return std::optional<IdParts>(parts);
}

Result<std::shared_ptr<const Transaction>> Transactions::Begin(
    const documents::Database& database, const request::TransactionOptions& options,
    request::Client client) {
  const auto now = clock_.Monotonic();
  ASSIGN_OR_RETURN(const std::optional<IdParts> retried,
                   ParseRetried(options.retry_transaction, now));
  auto transaction = std::make_shared<Transaction>();
  transaction->database = database.shared_from_this();
  transaction->mode = options.mode;
  if (options.mode == request::TransactionOptions::Mode::kReadOnly) {
    transaction->read_time = options.read_time.value_or(commit_clock_.ReadTime());
  }

  std::shared_ptr<const Transaction> previous;  // Destroyed after the lock is released.
  {
    MutexLock lock(mutex_);
    const ClientKey begun_by = request::KeyOf(client);
    if (!places_.TryTake(begun_by)) {
      return Status(Code::kResourceExhausted, "too many transactions are open");
    }
    const uint64_t number = next_number_++;
    IdParts parts = {.process = process_,
                     .number = number,
                     .age = number,
                     .first_begun = static_cast<uint64_t>(
                         std::chrono::nanoseconds(now.time_since_epoch()).count()),
                     .retries = 0};
    if (retried) {
      parts.retries = std::min(retried->retries, kRetriesMax - 1) + 1;
      if (MayInherit(database, *retried, options.retry_transaction, &previous)) {
        parts.age = retried->age;
        parts.first_begun = retried->first_begun;
      }
    }
    number_of_age_[parts.age] = number;
    transaction->owner = {parts.age, number};
    transaction->last_release = std::shared_ptr<void>(
        nullptr, [this, owner = transaction->owner](void*) { locks_.Release(owner); });
    transaction->read_lock = retried ? LockMode::kUpdate : LockMode::kRead;
    transaction->retries = parts.retries;
    transaction->id = EncodeId(parts);
    open_[transaction->id] = Entry{transaction, std::move(client), begun_by, now, now, 0};
  }
  if (previous) locks_.Wound(previous->owner);
  return std::shared_ptr<const Transaction>(std::move(transaction));
}

bool Transactions::MayInherit(const documents::Database& database, const IdParts& retried,
                              const std::string& id,
                              std::shared_ptr<const Transaction>* previous) const {
  const auto number = number_of_age_.find(retried.age);
  if (number == number_of_age_.end()) return true;
  if (number->second != retried.number) return false;
  const auto open = open_.find(id);
  if (open == open_.end() || open->second.transaction->database.get() != &database) return false;
  *previous = open->second.transaction;
  return true;
}

void Transactions::Forget(const Entry& entry) {
  places_.Return(entry.begun_by);
  const LockOwner owner = entry.transaction->owner;
  const auto number = number_of_age_.find(owner.age);
  if (number != number_of_age_.end() && number->second == owner.id) number_of_age_.erase(number);
}

Result<std::shared_ptr<const Transaction>> Transactions::BeginUse(
    const documents::Database& database, std::string_view id, request::Client client) {
  if (id.size() != kIdBytes) return Malformed();
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(std::string(id));
    if (found != open_.end() && found->second.transaction->database.get() == &database) {
      ++found->second.uses;
      found->second.client = std::move(client);
      return found->second.transaction;
    }
  }
  return Closed();
}

void Transactions::EndUse(const Transaction& transaction) {
  const auto now = clock_.Monotonic();
  MutexLock lock(mutex_);
  const auto found = open_.find(transaction.id);
  if (found == open_.end()) return;  // Expired or rolled back in the meantime.
  --found->second.uses;
  found->second.used_at = now;
}

Result<std::shared_ptr<const Transaction>> Transactions::TakeForCommit(
    const documents::Database& database, std::string_view id) {
  if (id.size() != kIdBytes) return Malformed();
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(std::string(id));
    if (found != open_.end() && found->second.transaction->database.get() == &database) {
      std::shared_ptr<const Transaction> transaction = found->second.transaction;
      Forget(found->second);
      open_.erase(found);
      return transaction;
    }
  }
  return Closed();
}

Status Transactions::Rollback(const documents::Database& database, std::string_view id) {
  ASSIGN_OR_RETURN(const IdParts parts, ParseId(id));
  Result<std::shared_ptr<const Transaction>> transaction = TakeForCommit(database, id);
  if (transaction.ok()) {
    locks_.Release((*transaction)->owner);
    return Status();
  }
  MutexLock lock(mutex_);
  const bool is_of_another_database = open_.contains(std::string(id));
  const bool has_ended =
      parts.process == process_ && parts.number < next_number_ && !is_of_another_database;
  return has_ended ? Status() : InvalidArgument("Transaction is invalid or expired.");
}

std::optional<IdleOwner::YieldsTo> Transactions::WhomToYieldTo(
    const Entry& entry, std::chrono::steady_clock::duration idle_for) {
  const bool has_left = entry.client && entry.client->has_left();
  if (has_left && idle_for >= kYieldsWithoutClientAfter) return IdleOwner::YieldsTo::kEverybody;
  const auto has_been_idle_for = [&](std::chrono::seconds at_first) {
    return idle_for >= at_first * (1 << entry.transaction->retries);
  };
  if (has_been_idle_for(kYieldsAfter)) return IdleOwner::YieldsTo::kEverybody;
  if (has_been_idle_for(kYieldsToRetriesAfter)) return IdleOwner::YieldsTo::kRetries;
  return std::nullopt;
}

void Transactions::EndAllOf(const documents::Database& database) {
  std::vector<LockOwner> owners;
  std::vector<Entry> ended;  // Destroyed after the lock is released.
  {
    MutexLock lock(mutex_);
    std::erase_if(open_, [&](const auto& item) {
      if (item.second.transaction->database.get() != &database) return false;
      owners.push_back(item.second.transaction->owner);
      ended.push_back(item.second);
      return true;
    });
    for (const Entry& entry : ended) Forget(entry);
  }
  locks_.ReleaseAll(owners);
}

void Transactions::Expire() {
  const auto now = clock_.Monotonic();
  std::vector<LockOwner> owners;
  std::vector<Entry> ended;  // Destroyed after the lock is released.
  std::vector<IdleOwner> idle;
  {
    MutexLock lock(mutex_);
    std::erase_if(open_, [&](const auto& item) {
      const Entry& entry = item.second;
      const LockOwner owner = entry.transaction->owner;
      const auto idle_for = entry.uses == 0 ? now - entry.used_at : decltype(now - now)::zero();
      if (idle_for >= kTransactionIdleMax || now - entry.started_at >= kTransactionAgeMax) {
        owners.push_back(owner);
        ended.push_back(entry);
        return true;
      }
      if (const auto yields_to = WhomToYieldTo(entry, idle_for)) {
        idle.push_back({owner, *yields_to});
      }
      return false;
    });
    for (const Entry& entry : ended) Forget(entry);
  }
  locks_.ReleaseAll(owners);
  locks_.Yield(std::move(idle));
}

LockOwner Transactions::NewOwner() {
  MutexLock lock(mutex_);
  return LockOwner::OutsideOfTransactions(next_number_++);
}

size_t Transactions::open_transactions() const {
  MutexLock lock(mutex_);
  return open_.size();
}

}  // namespace hearth::transactions
