#include "transactions/transactions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/testing/fake_clock.h"
#include "base/testing/test_time.h"
#include "documents/keys.h"
#include "request/testing/writes.h"
#include "transactions/testing/transactions.h"

namespace hearth::transactions {
namespace {

using namespace std::chrono_literals;

const Status kNoTransaction = InvalidArgument("Invalid transaction.");

class TransactionsTest : public testing::Test {
 protected:
  std::shared_ptr<const Transaction> Begin(const request::TransactionOptions& options = {}) {
    Result<std::shared_ptr<const Transaction>> begun = transactions_.Begin(database_, options);
    EXPECT_TRUE(begun.ok()) << begun.status().ToString();
    return *begun;
  }
  std::shared_ptr<const Transaction> Retry(const std::string& id) { return Begin(RetryOf(id)); }
  Status Use(const std::string& id) { return transactions_.BeginUse(database_, id).status(); }
  Status Take(const std::string& id) { return transactions_.TakeForCommit(database_, id).status(); }
  Status RollBack(const std::string& id) { return transactions_.Rollback(database_, id); }

  // Starts and ends one read of the transaction.
  void Touch(const Transaction& transaction) {
    EXPECT_EQ(Use(transaction.id), Status());
    transactions_.EndUse(transaction);
  }
  void Pass(std::chrono::microseconds time) {
    clock_.Advance(time);
    transactions_.Expire();
  }
  bool IsLocked(const std::string& key) {
    const LockOwner other = transactions_.NewOwner();
    bool was_granted = false;
    locks_.Acquire(other, {{key}, {}}, LockMode::kWrite,
                   [&was_granted](const Status& status) { was_granted = status.ok(); });
    locks_.Release(other);
    return !was_granted;
  }

  FakeClock clock_{kTestStartMicros};
  RandomSource random_{1};
  documents::CommitClock commit_clock_{clock_, model::Timestamp()};
  LockTable locks_{clock_, 5s};
  Transactions transactions_{clock_, commit_clock_, locks_, random_};
  const documents::ConstDatabaseHandle handle_ =
      std::make_shared<documents::Database>(NameDatabase(), model::DatabaseNumber{1}, true);
  const documents::ConstDatabaseHandle other_handle_ =
      std::make_shared<documents::Database>(NameDatabase("other"), model::DatabaseNumber{2}, true);
  const documents::Database& database_ = *handle_;
  const documents::Database& other_database_ = *other_handle_;
};

TEST_F(TransactionsTest, AreKnownByTheirIds) {
  const auto first = Begin();
  const auto second = Begin();
  EXPECT_EQ(transactions_.open_transactions(), 2u);
  EXPECT_NE(first->id, second->id);
  const auto used = transactions_.BeginUse(database_, second->id);
  ASSERT_TRUE(used.ok());
  EXPECT_EQ((*used)->id, second->id);
  EXPECT_EQ((*used)->database, handle_);
  EXPECT_EQ((*used)->mode, request::TransactionOptions::Mode::kReadWrite);
  EXPECT_EQ((*used)->read_lock, LockMode::kRead);
}

TEST_F(TransactionsTest, OwnersAreUnique) {
  std::set<uint64_t> ids;
  for (int i = 0; i < 10; ++i) {
    ids.insert(Begin()->owner.id);
    ids.insert(transactions_.NewOwner().id);
  }
  EXPECT_EQ(ids.size(), 20u);
}

TEST_F(TransactionsTest, MalformedIds) {
  const std::string id = Begin()->id;
  for (const std::string& bad : {std::string(), id.substr(1), id + "x", std::string("garbage")}) {
    EXPECT_EQ(Use(bad), kNoTransaction);
    EXPECT_EQ(Take(bad), kNoTransaction);
    EXPECT_EQ(RollBack(bad), kNoTransaction);
  }
  EXPECT_EQ(transactions_.Begin(database_, RetryOf("garbage")).status(), kNoTransaction);
}

TEST_F(TransactionsTest, ForgedIds) {
  const std::string id = Begin()->id;
  for (size_t changed = 8; changed < id.size(); ++changed) {  // The first 8 bytes: another process.
    std::string forged = id;
    forged[changed] = static_cast<char>(forged[changed] ^ 1);
    EXPECT_EQ(Use(forged), kTransactionOver) << changed;
    EXPECT_EQ(Take(forged), kTransactionOver) << changed;
    EXPECT_EQ(RollBack(forged), kNoTransaction) << changed;
    EXPECT_EQ(transactions_.Begin(database_, RetryOf(forged)).status(), kNoTransaction) << changed;
  }
  EXPECT_EQ(Use(id), Status());
}

TEST_F(TransactionsTest, AnIdDoesNotTellTheNextOne) {
  std::string guess = Begin()->id;
  const auto next = Begin();
  guess.replace(8, 16, next->id.substr(8, 16));  // Their numbers are consecutive.
  EXPECT_EQ(Use(guess), kTransactionOver);
  EXPECT_EQ(Take(guess), kTransactionOver);
  EXPECT_EQ(RollBack(guess), kNoTransaction);
  EXPECT_EQ(Use(next->id), Status());
}

TEST_F(TransactionsTest, OneThatIsBeingCommittedIsClosed) {
  const auto transaction = Begin();
  EXPECT_EQ(Take(transaction->id), Status());
  EXPECT_EQ(Use(transaction->id), kTransactionOver);
  EXPECT_EQ(Take(transaction->id), kTransactionOver);
  EXPECT_EQ(RollBack(transaction->id), Status());
  EXPECT_EQ(transactions_.open_transactions(), 0u);
}

TEST_F(TransactionsTest, TakingForCommitKeepsTheLocks) {
  const auto transaction = Begin();
  locks_.Acquire(transaction->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  EXPECT_EQ(Take(transaction->id), Status());
  EXPECT_EQ(RollBack(transaction->id), Status());
  EXPECT_TRUE(IsLocked("k"));
}

TEST_F(TransactionsTest, RollbackIsIdempotentAndGivesUpTheLocks) {
  const auto transaction = Begin();
  locks_.Acquire(transaction->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  EXPECT_TRUE(IsLocked("k"));
  EXPECT_EQ(RollBack(transaction->id), Status());
  EXPECT_FALSE(IsLocked("k"));
  EXPECT_EQ(RollBack(transaction->id), Status());
  EXPECT_EQ(Use(transaction->id), kTransactionOver);
  EXPECT_EQ(Take(transaction->id), kTransactionOver);
}

TEST_F(TransactionsTest, BelongToOneDatabase) {
  const auto transaction = Begin();
  locks_.Acquire(transaction->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  EXPECT_EQ(transactions_.BeginUse(other_database_, transaction->id).status(), kTransactionOver);
  EXPECT_EQ(transactions_.TakeForCommit(other_database_, transaction->id).status(),
            kTransactionOver);
  EXPECT_EQ(transactions_.Rollback(other_database_, transaction->id),
            InvalidArgument("Transaction is invalid or expired."));
  EXPECT_EQ(Use(transaction->id), Status());
  EXPECT_TRUE(IsLocked("k"));
}

TEST_F(TransactionsTest, IdleForAMinuteEnds) {
  const auto transaction = Begin();
  locks_.Acquire(transaction->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  Pass(kTransactionIdleMax - 1us);
  Touch(*transaction);
  Pass(kTransactionIdleMax - 1us);
  EXPECT_TRUE(IsLocked("k"));
  Pass(1us);
  EXPECT_FALSE(IsLocked("k"));
  EXPECT_EQ(transactions_.open_transactions(), 0u);
  EXPECT_EQ(Use(transaction->id), kTransactionOver);
  EXPECT_EQ(Take(transaction->id), kTransactionOver);
  EXPECT_EQ(RollBack(transaction->id), Status());
}

TEST_F(TransactionsTest, InUseIsNotIdle) {
  const auto transaction = Begin();
  ASSERT_TRUE(transactions_.BeginUse(database_, transaction->id).ok());
  ASSERT_TRUE(transactions_.BeginUse(database_, transaction->id).ok());
  Pass(100s);
  transactions_.EndUse(*transaction);
  Pass(100s);  // One use is still in progress.
  transactions_.EndUse(*transaction);
  Pass(kTransactionIdleMax - 1us);
  EXPECT_EQ(transactions_.open_transactions(), 1u);
  Pass(1us);
  EXPECT_EQ(transactions_.open_transactions(), 0u);
}

TEST_F(TransactionsTest, EndAtTheirAgeEvenInUse) {
  const auto transaction = Begin();
  ASSERT_TRUE(transactions_.BeginUse(database_, transaction->id).ok());
  Pass(kTransactionAgeMax - 1us);
  EXPECT_EQ(transactions_.open_transactions(), 1u);
  Pass(1us);
  EXPECT_EQ(transactions_.open_transactions(), 0u);
  transactions_.EndUse(*transaction);  // Late: the transaction is already gone.
  EXPECT_EQ(Take(transaction->id), kTransactionOver);
}

TEST_F(TransactionsTest, ReadsRenewButNotForever) {
  const auto transaction = Begin();
  for (int i = 0; i < 5; ++i) {
    Pass(50s);
    Touch(*transaction);
  }
  Pass(20s - 1us);
  EXPECT_EQ(transactions_.open_transactions(), 1u);
  Pass(1us);
  EXPECT_EQ(Use(transaction->id), kTransactionOver);
}

TEST_F(TransactionsTest, SettingTheWallClockEndsNothing) {
  const auto transaction = Begin();
  clock_.SetWall(kTestStartMicros + 86'400'000'000);
  transactions_.Expire();
  EXPECT_EQ(Use(transaction->id), Status());
}

TEST_F(TransactionsTest, IdsOfAnEarlierProcessHaveExpired) {
  RandomSource random{2};
  Transactions earlier(clock_, commit_clock_, locks_, random);
  const std::string id = (*earlier.Begin(database_, {}))->id;
  EXPECT_EQ(Use(id), kTransactionOver);
  EXPECT_EQ(Take(id), kTransactionOver);
  EXPECT_EQ(RollBack(id), InvalidArgument("Transaction is invalid or expired."));
  // The retried transaction is unknown here: the retry is as young as any new one.
  const auto retry = Retry(id);
  EXPECT_EQ(retry->owner.age, retry->owner.id);
  EXPECT_EQ(retry->read_lock, LockMode::kRead);
}

TEST_F(TransactionsTest, RetriesInheritTheAge) {
  const auto first = Begin();
  const auto other = Begin();
  EXPECT_EQ(RollBack(first->id), Status());
  const auto second = Retry(first->id);
  const auto third = Retry(second->id);
  EXPECT_EQ(second->owner.age, first->owner.age);
  EXPECT_EQ(third->owner.age, first->owner.age);
  EXPECT_NE(second->owner.id, third->owner.id);
  EXPECT_LT(third->owner, other->owner);
  EXPECT_EQ(third->read_lock, LockMode::kUpdate);
}

// A client that opens many transactions with the id of an old one outranks the others with one.
TEST_F(TransactionsTest, OneOpenRetryHasTheAge) {
  const auto first = Begin();
  const auto other = Begin();
  std::vector<std::shared_ptr<const Transaction>> retries;
  for (int i = 0; i < 100; ++i) retries.push_back(Retry(first->id));
  EXPECT_EQ(transactions_.open_transactions(), 102u);
  const auto outranks_other = [&](const auto& retry) {
    return retry->owner.Outranks(other->owner);
  };
  EXPECT_EQ(std::ranges::count_if(retries, outranks_other), 1);
  EXPECT_EQ(retries[0]->owner.age, first->owner.age);
  EXPECT_TRUE(locks_.HasLost(first->owner));
  EXPECT_EQ(retries[1]->read_lock, LockMode::kUpdate);
  // The age can be had again once that retry has ended, however it ended.
  EXPECT_EQ(RollBack(retries[0]->id), Status());
  const auto again = Retry(first->id);
  EXPECT_EQ(again->owner.age, first->owner.age);
  EXPECT_EQ(Take(again->id), Status());
  EXPECT_EQ(Retry(first->id)->owner.age, first->owner.age);
  Pass(kTransactionIdleMax);
  EXPECT_EQ(Retry(first->id)->owner.age, first->owner.age);
  transactions_.EndAllOf(database_);
  EXPECT_EQ(Retry(first->id)->owner.age, first->owner.age);
}

TEST_F(TransactionsTest, ARetryTakesTheAgeFromTheAttemptThatItNames) {
  std::vector<std::shared_ptr<const Transaction>> attempts = {Begin()};
  const auto other = Begin();
  for (size_t i = 0; i < 100; ++i) {
    locks_.Acquire(attempts[i]->owner, {{"k" + std::to_string(i)}, {}}, LockMode::kRead,
                   [](const Status&) {});
    attempts.push_back(Retry(attempts[i]->id));
    EXPECT_EQ(attempts.back()->owner.age, attempts[0]->owner.age);
    EXPECT_TRUE(locks_.HasLost(attempts[i]->owner));
    EXPECT_FALSE(IsLocked("k" + std::to_string(i)));
  }
  EXPECT_FALSE(locks_.HasLost(attempts.back()->owner));
  // Its end does not give the age away.
  EXPECT_EQ(RollBack(attempts[0]->id), Status());
  EXPECT_GT(Retry(attempts[0]->id)->owner, other->owner);
}

TEST_F(TransactionsTest, NoRetryTakesTheAgeFromAnotherDatabase) {
  const auto first = Begin();
  const auto elsewhere = *transactions_.Begin(other_database_, RetryOf(first->id));
  EXPECT_EQ(elsewhere->owner.age, elsewhere->owner.id);
  EXPECT_FALSE(locks_.HasLost(first->owner));
}

TEST_F(TransactionsTest, RetriesAreCounted) {
  const auto first = Begin();
  const auto second = Retry(first->id);
  EXPECT_EQ(first->retries, 0u);
  EXPECT_EQ(second->retries, 1u);
  EXPECT_EQ(Retry(second->id)->retries, 2u);
  EXPECT_EQ(Retry(first->id)->retries, 1u);
  auto last = second;
  for (int i = 0; i < 20; ++i) last = Retry(last->id);
  EXPECT_EQ(Retry(last->id)->retries, last->retries);  // The count is bounded.
}

TEST_F(TransactionsTest, YieldToRetriesWhenIdle) {
  const auto holder = Begin();
  const auto waiting = Retry(Begin()->id);
  locks_.Acquire(holder->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  locks_.Acquire(waiting->owner, {{"k"}, {}}, LockMode::kUpdate, [](const Status&) {});
  ASSERT_TRUE(transactions_.BeginUse(database_, holder->id).ok());
  Pass(2 * kYieldsToRetriesAfter);
  EXPECT_FALSE(locks_.HasLost(holder->owner));  // In use.
  transactions_.EndUse(*holder);
  Pass(kYieldsToRetriesAfter - 1us);
  EXPECT_FALSE(locks_.HasLost(holder->owner));
  Pass(1us);
  EXPECT_TRUE(locks_.HasLost(holder->owner));
  EXPECT_EQ(transactions_.open_transactions(), 3u);  // So that the client gets the error.
}

TEST_F(TransactionsTest, YieldSoonerWhenTheClientHasLeft) {
  const auto client = std::make_shared<ConnectedClient>(ClientKey{1});
  const auto holder = *transactions_.Begin(database_, {}, client);
  locks_.Acquire(holder->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  locks_.Acquire(transactions_.NewOwner(), {{"k"}, {}}, LockMode::kWrite, [](const Status&) {});
  client->Leave();
  Pass(kYieldsWithoutClientAfter - 1us);
  EXPECT_FALSE(locks_.HasLost(holder->owner));

  // The client comes back, and disconnects again during its request.
  const auto client_again = std::make_shared<ConnectedClient>(ClientKey{1});
  ASSERT_TRUE(transactions_.BeginUse(database_, holder->id, client_again).ok());
  client_again->Leave();
  Pass(kYieldsWithoutClientAfter);
  EXPECT_FALSE(locks_.HasLost(holder->owner));
  transactions_.EndUse(*holder);
  Pass(kYieldsWithoutClientAfter);
  EXPECT_TRUE(locks_.HasLost(holder->owner));
}

// A client that is killed in a late attempt blocks the others no longer than in its first.
TEST_F(TransactionsTest, RetriesYieldAsSoonWhenTheClientHasLeft) {
  auto id = Begin()->id;
  for (int i = 0; i < 7; ++i) id = Retry(id)->id;
  const auto client = std::make_shared<ConnectedClient>(ClientKey{1});
  const auto holder = *transactions_.Begin(database_, RetryOf(id), client);
  locks_.Acquire(holder->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  locks_.Acquire(transactions_.NewOwner(), {{"k"}, {}}, LockMode::kWrite, [](const Status&) {});
  Pass(kYieldsWithoutClientAfter);
  EXPECT_FALSE(locks_.HasLost(holder->owner));
  client->Leave();
  Pass(0us);
  EXPECT_TRUE(locks_.HasLost(holder->owner));
}

TEST_F(TransactionsTest, KeepTheirLocksWhileTheClientIsThere) {
  const auto client = std::make_shared<ConnectedClient>(ClientKey{1});
  const auto holder = *transactions_.Begin(database_, {}, client);
  locks_.Acquire(holder->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
  locks_.Acquire(transactions_.NewOwner(), {{"k"}, {}}, LockMode::kWrite, [](const Status&) {});
  Pass(kYieldsAfter - 1us);
  EXPECT_FALSE(locks_.HasLost(holder->owner));
}

TEST_F(TransactionsTest, EachRetryMayBeIdleTwiceAsLong) {
  auto holder = Begin();
  auto allowed = kYieldsAfter;
  for (int attempts = 1; allowed < kTransactionIdleMax; ++attempts, allowed *= 2) {
    locks_.Acquire(holder->owner, {{"k"}, {}}, LockMode::kRead, [](const Status&) {});
    const LockOwner writer = transactions_.NewOwner();
    Touch(*holder);
    Pass(allowed - 1us);
    locks_.Acquire(writer, {{"k"}, {}}, LockMode::kWrite, [](const Status&) {});
    Pass(0us);
    EXPECT_FALSE(locks_.HasLost(holder->owner)) << attempts;
    Pass(1us);
    EXPECT_TRUE(locks_.HasLost(holder->owner)) << attempts;
    locks_.Release(writer);
    holder = Retry(holder->id);
  }
}

TEST_F(TransactionsTest, AnAgeIsKeptForSomeTimeOnly) {
  const auto first = Begin();
  Pass(kRetriesFor / 2);
  const auto second = Retry(first->id);
  Pass(kRetriesFor / 2);
  EXPECT_EQ(Retry(second->id)->owner.age, first->owner.age);
  Pass(1us);
  for (const auto& id : {first->id, second->id}) {
    const auto late = Retry(id);
    EXPECT_EQ(late->owner.age, late->owner.id);
    EXPECT_EQ(late->retries, 0u);
  }
}

TEST_F(TransactionsTest, EndWithTheirDatabase) {
  const auto client = std::make_shared<ConnectedClient>(ClientKey{1});
  while (transactions_.Begin(database_, {}, client).ok()) {
  }
  const auto other = *transactions_.Begin(other_database_, {});
  transactions_.EndAllOf(database_);
  EXPECT_EQ(transactions_.open_transactions(), 1u);
  EXPECT_EQ(transactions_.BeginUse(other_database_, other->id).status(), Status());
  // They no longer count against the client.
  EXPECT_TRUE(transactions_.Begin(database_, {}, client).ok());
}

TEST_F(TransactionsTest, ReadOnlyOnesReadOneMoment) {
  commit_clock_.Assign();
  commit_clock_.Publish();
  clock_.Advance(10s);
  const auto now = Begin(ReadOnly());
  EXPECT_EQ(now->read_time.micros(), kTestStartMicros + 10'000'000);
  const auto earlier = Begin(ReadOnly(model::Timestamp::FromMicros(kTestStartMicros - 7)));
  EXPECT_EQ(earlier->read_time.micros(), kTestStartMicros - 7);
  EXPECT_EQ(earlier->mode, request::TransactionOptions::Mode::kReadOnly);
}

TEST_F(TransactionsTest, OpenTransactionsAreBounded) {
  for (size_t i = 0; i < kOpenTransactionsMax; ++i) Begin();
  EXPECT_EQ(transactions_.Begin(database_, {}).status(),
            Status(Code::kResourceExhausted, "too many transactions are open"));
  EXPECT_EQ(transactions_.open_transactions(), kOpenTransactionsMax);
  Pass(kTransactionIdleMax);
  EXPECT_TRUE(transactions_.Begin(database_, {}).ok());
}

TEST_F(TransactionsTest, AClientGetsItsShareOfTheOpenTransactions) {
  const auto greedy = std::make_shared<ConnectedClient>(ClientKey{1});
  const auto other = std::make_shared<ConnectedClient>(ClientKey{2});
  std::string last;
  for (size_t i = 0; i < kOpenTransactionsMax / 2; ++i) {
    last = (*transactions_.Begin(database_, {}, greedy))->id;
  }
  EXPECT_EQ(transactions_.Begin(database_, {}, greedy).status().code(), Code::kResourceExhausted);
  // One that ends makes room, even if it has been used by another client since.
  EXPECT_TRUE(transactions_.BeginUse(database_, last, other).ok());
  EXPECT_TRUE(transactions_.Rollback(database_, last).ok());
  EXPECT_TRUE(transactions_.Begin(database_, {}, greedy).ok());
  EXPECT_TRUE(transactions_.Begin(database_, {}, other).ok());
  EXPECT_EQ(transactions_.Begin(database_, {}, greedy).status().code(), Code::kResourceExhausted);
  Pass(kTransactionIdleMax);
  EXPECT_TRUE(transactions_.Begin(database_, {}, greedy).ok());
}

}  // namespace
}  // namespace hearth::transactions
