// What clients can make the lock table hold and do.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "query/testing/query_builder.h"
#include "request/testing/writes.h"
#include "transactions/lock_table.h"
#include "transactions/testing/lock_table_fixture.h"

namespace hearth::transactions {
namespace {

constexpr ClientKey kGreedy{1};
constexpr ClientKey kOther{2};
const Status kTooManyReaders(
    Code::kResourceExhausted,
    "too many transactions have read the same documents or query below the "
    "same parent");

class LockTableBoundsTest : public LockTableFixture {
 protected:
  Verdict AcquireFor(ClientKey client, LockMode mode, LockScope scope) {
    auto verdict = std::make_shared<std::optional<Status>>();
    locks_.Acquire(
        NewOwner(), std::move(scope), mode,
        [verdict](Status status) { *verdict = std::move(status); }, client);
    return verdict;
  }
  LockOwner NewOwner() {
    ++newest_;
    return {newest_, newest_};
  }
  // The number of requests of that kind that are granted or wait.
  size_t Fill(ClientKey client, LockMode mode, const LockScope& scope) {
    size_t taken = 0;
    while (AcquireFor(client, mode, scope)->value_or(Status()).ok()) ++taken;
    return taken;
  }
  static Keys NumberedKeys(size_t count) {
    Keys keys;
    for (size_t i = 0; i < count; ++i) keys.push_back("b" + std::to_string(i));
    return keys;
  }
  uint64_t ExaminedByYield(std::vector<IdleOwner> idle) {
    const uint64_t before = locks_.examined_locks();
    locks_.Yield(std::move(idle));
    return locks_.examined_locks() - before;
  }

  uint64_t newest_ = 100;
};

TEST_F(LockTableBoundsTest, ADocumentHasAShareOfReadersForEveryone) {
  EXPECT_EQ(Fill(kGreedy, LockMode::kRead, {{"a1"}, {}}), LockTable::kReadersMax / 2);
  EXPECT_EQ(**AcquireFor(kGreedy, LockMode::kRead, {{"a1"}, {}}), kTooManyReaders);
  EXPECT_TRUE(Granted(AcquireFor(kOther, LockMode::kRead, {{"a1"}, {}})));
  EXPECT_TRUE(Granted(AcquireFor(kGreedy, LockMode::kRead, {{"a2"}, {}})));
  // Those that have a lock already need no other.
  EXPECT_TRUE(Granted(Read({101, 101}, "a1")));
  locks_.Release({101, 101});
  // Its place is for others, who have had less.
  EXPECT_EQ(Fill(kGreedy, LockMode::kRead, {{"a1"}, {}}), 0u);
  EXPECT_TRUE(Granted(AcquireFor(kOther, LockMode::kRead, {{"a1"}, {}})));
}

TEST_F(LockTableBoundsTest, APrefixToo) {
  EXPECT_EQ(Fill(kGreedy, LockMode::kRead, {{}, {{"a"}}}), LockTable::kReadersMax / 2);
  EXPECT_EQ(**AcquireFor(kGreedy, LockMode::kRead, {{}, {{"a", "part"}}}), kTooManyReaders);
  EXPECT_TRUE(Granted(AcquireFor(kOther, LockMode::kRead, {{}, {{"a"}}})));
  EXPECT_TRUE(Granted(AcquireFor(kGreedy, LockMode::kRead, {{}, {{"b"}}})));
}

TEST_F(LockTableBoundsTest, AQueryThatNeedsNoMoreLocksRunsOnACrowdedPrefixToo) {
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  const LockOwner owner = NewOwner();
  const auto read = [&] {
    auto verdict = std::make_shared<std::optional<Status>>();
    locks_.Acquire(
        owner, {{}, {{"a"}}}, LockMode::kRead, [verdict](Status status) { *verdict = status; },
        kGreedy);
    return verdict;
  };
  for (size_t i = 0; i <= LockTable::kNarrowedMax; ++i) {
    EXPECT_TRUE(Granted(read()));
    locks_.Narrow(owner, {"a"}, query, {});
  }
  EXPECT_GT(Fill(kGreedy, LockMode::kRead, {{}, {{"a"}}}), 0u);
  EXPECT_TRUE(Granted(read()));
}

TEST_F(LockTableBoundsTest, ThoseThatWaitedAreCountedToo) {
  const Verdict write = Write(kA, "a1");
  std::vector<Verdict> reads;
  for (size_t i = 0; i < LockTable::kReadersMax / 2 + 1; ++i) {
    reads.push_back(AcquireFor(kGreedy, LockMode::kRead, {{"a1"}, {}}));
  }
  locks_.Release(kA);
  EXPECT_TRUE(Granted(reads[LockTable::kReadersMax / 2 - 1]));
  EXPECT_EQ(*reads.back(), kTooManyReaders);
}

TEST_F(LockTableBoundsTest, CommitsAreNoReaders) {
  for (size_t i = 0; i < LockTable::kReadersMax + 1; ++i) {
    ASSERT_TRUE(Granted(AcquireFor(kGreedy, LockMode::kWrite, {{"a1"}, {}})));
  }
}

TEST_F(LockTableBoundsTest, ClientsShareThePlacesToWait) {
  Read(kA, "a1");
  EXPECT_EQ(Fill(kGreedy, LockMode::kWrite, {{"a1"}, {}}), LockTable::kWaitingRequestsMax / 2);
  const Verdict other = AcquireFor(kOther, LockMode::kWrite, {{"a1"}, {}});
  EXPECT_TRUE(Waits(other));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(other));
  EXPECT_EQ(locks_.waiting_requests(), 0u);
}

TEST_F(LockTableBoundsTest, KeysTakeMemoryUntilTheyAreReleased) {
  MemoryBudget memory(1024 * 1024);
  LockTable locks(clock_, kWaitMax, &memory);
  const auto acquire = [&](LockOwner owner, LockMode mode, const Keys& keys) {
    auto verdict = std::make_shared<std::optional<Status>>();
    locks.Acquire(owner, {keys, {}}, mode, [verdict](Status status) { *verdict = status; });
    return verdict;
  };
  Keys keys;
  for (int i = 0; i < 1'000; ++i) keys.push_back(std::string(200, 'k') + std::to_string(i));
  EXPECT_EQ((*acquire(kA, LockMode::kRead, keys))->code(), Code::kResourceExhausted);
  EXPECT_EQ(memory.used_bytes(), 0u);
  keys.resize(500);
  EXPECT_TRUE(Granted(acquire(kA, LockMode::kRead, keys)));
  EXPECT_GE(memory.used_bytes(), keys.size() * 2 * 200);
  const Verdict waiting = acquire(kB, LockMode::kWrite, {keys[0]});
  EXPECT_TRUE(Waits(waiting));
  locks.Release(kA);
  EXPECT_TRUE(Granted(waiting));
  locks.Release(kB);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(LockTableBoundsTest, WhatAnOwnerLocksAgainTakesNoMoreMemory) {
  MemoryBudget memory(1024 * 1024);
  LockTable locks(clock_, kWaitMax, &memory);
  const auto acquire = [&](LockMode mode, LockScope scope) {
    std::optional<Status> verdict;
    locks.Acquire(kA, std::move(scope), mode, [&verdict](Status status) { verdict = status; });
    EXPECT_EQ(verdict, Status());
  };
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  acquire(LockMode::kRead, {NumberedKeys(500), {}});
  for (size_t i = 0; i <= LockTable::kNarrowedMax; ++i) {
    acquire(LockMode::kRead, {{}, {{"a"}}});
    locks.Narrow(kA, {"a"}, query, {"a1"});
  }
  const size_t used_bytes = memory.used_bytes();
  acquire(LockMode::kRead, {NumberedKeys(500), {}});
  acquire(LockMode::kRead, {{}, {{"a"}}});
  acquire(LockMode::kWrite, {NumberedKeys(500), {}});
  EXPECT_EQ(memory.used_bytes(), used_bytes);
  acquire(LockMode::kWrite, {{"c1", "c1"}, {}});
  EXPECT_GT(memory.used_bytes(), used_bytes);
  locks.Release(kA);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST_F(LockTableBoundsTest, WithManyDocumentsANarrowedLockBlocksAll) {
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  ReadPrefix(kA, "a");
  locks_.Narrow(kA, {"a"}, query, {});
  const auto write = [&](LockOwner owner, size_t documents) {
    LockScope scope;
    for (size_t i = 0; i < documents; ++i) scope.document_keys.push_back("a" + std::to_string(i));
    scope.may_enter = [](size_t, const watch::LiveQuery&) { return false; };
    return AcquireScope(owner, LockMode::kWrite, std::move(scope));
  };
  EXPECT_TRUE(Granted(write(kB, LockTable::kQuestionsMax)));
  const Verdict larger = write(kC, LockTable::kQuestionsMax + 1);
  EXPECT_TRUE(Waits(larger));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(larger));
}

TEST_F(LockTableBoundsTest, ManyQueriesOfOneTransactionShareALock) {
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  const auto write_harmless = [&](LockOwner owner) {
    LockScope scope{{"a1"}, {}};
    scope.may_enter = [](size_t, const watch::LiveQuery&) { return false; };
    return AcquireScope(owner, LockMode::kWrite, std::move(scope));
  };
  const auto run_query = [&] {
    EXPECT_TRUE(Granted(ReadPrefix(kA, "a")));
    locks_.Narrow(kA, {"a"}, query, {});
  };
  for (size_t i = 0; i < LockTable::kNarrowedMax; ++i) run_query();
  EXPECT_TRUE(Granted(write_harmless(kB)));
  locks_.Release(kB);
  for (size_t i = 0; i < LockTable::kReadersMax; ++i) run_query();  // More than could have locks.
  const Verdict write = write_harmless(kC);
  EXPECT_TRUE(Waits(write));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableBoundsTest, QuestionsAreSoughtAmongABoundedNumberOfLocks) {
  constexpr size_t kReaders = 64;
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  for (uint64_t id = 10; id < 10 + kReaders; ++id) ReadPrefix({id, id}, "a");
  const auto write = [&](LockOwner owner, size_t documents) {
    LockScope scope;
    for (size_t i = 0; i < documents; ++i) scope.document_keys.push_back("a" + std::to_string(i));
    scope.may_enter = [](size_t, const watch::LiveQuery&) { return false; };
    return AcquireScope(owner, LockMode::kWrite, std::move(scope));
  };
  locks_.Narrow({10, 10}, {"a"}, query, {});
  const Verdict some = write({500, 500}, LockTable::kQuestionVisitsMax / kReaders);
  const Verdict many = write({501, 501}, LockTable::kQuestionVisitsMax / kReaders + 1);
  for (uint64_t id = 11; id < 10 + kReaders; ++id) locks_.Release({id, id});
  EXPECT_TRUE(Granted(some));
  EXPECT_TRUE(Waits(many));  // Nobody has asked whether it is harmless to the narrowed lock.
  locks_.Release({10, 10});
  EXPECT_TRUE(Granted(many));
}

TEST_F(LockTableBoundsTest, RequestsThatWaitForANarrowedLockShareABound) {
  constexpr size_t kWrites = 16;
  ReadPrefix(kA, "a");
  std::vector<Verdict> writes;
  for (size_t i = 0; i <= kWrites; ++i) {
    LockScope scope{NumberedKeys(LockTable::kQuestionVisitsMax / kWrites), {}};
    scope.document_keys.back() = "a1";
    scope.may_enter = [](size_t, const watch::LiveQuery&) { return false; };
    writes.push_back(AcquireScope(NewOwner(), LockMode::kWrite, std::move(scope)));
    EXPECT_TRUE(Waits(writes.back()));
  }
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  locks_.Narrow(kA, {"a"}, query, {});
  for (size_t i = 0; i < kWrites; ++i) EXPECT_TRUE(Granted(writes[i]));
  EXPECT_TRUE(Waits(writes.back()));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(writes.back()));
}

TEST_F(LockTableBoundsTest, YieldingCostsWhatIdleOwnersHold) {
  for (uint64_t id = 10; id < 1'000; ++id) Read({id, id}, "a1");
  std::vector<Verdict> waiting;
  for (uint64_t id = 2'000; id < 3'000; ++id) waiting.push_back(Write({id, id}, "a1"));
  Read(kA, "b1");
  EXPECT_EQ(ExaminedByYield({}), 0u);
  EXPECT_LE(ExaminedByYield({{kA, IdleOwner::YieldsTo::kEverybody}}), 5u);
  std::vector<IdleOwner> idle;
  for (uint64_t id = 10; id < 1'000; ++id) {
    idle.push_back({{id, id}, IdleOwner::YieldsTo::kEverybody});
  }
  // Each lock once, and one decision for each request that waits.
  EXPECT_LE(ExaminedByYield(std::move(idle)), 10'000u);
  for (const Verdict& verdict : waiting) EXPECT_TRUE(Granted(verdict));
}

TEST_F(LockTableBoundsTest, ManyIdleLocksAreExaminedInParts) {
  const Keys many = NumberedKeys(LockTable::kYieldExaminedMax / 2);
  Acquire(kA, LockMode::kRead, many);
  Acquire(kB, LockMode::kRead, many);
  Acquire(outside_, LockMode::kWrite, many);
  Read(kC, "a1");
  const Verdict retry = Update(kRetryOfD, "a1");
  const std::vector<IdleOwner> idle = {{kA, IdleOwner::YieldsTo::kRetries},
                                       {kB, IdleOwner::YieldsTo::kRetries},
                                       {kC, IdleOwner::YieldsTo::kRetries}};
  EXPECT_LE(ExaminedByYield(idle), LockTable::kYieldExaminedMax);
  EXPECT_TRUE(Waits(retry));
  for (int i = 0; i < 3; ++i) locks_.Yield(idle);
  EXPECT_TRUE(Granted(retry));
  EXPECT_FALSE(locks_.HasLost(kA));
  EXPECT_FALSE(locks_.HasLost(kB));
}

TEST_F(LockTableBoundsTest, AnIdleOwnerWithManyLocksYieldsOnlyIfItIsInTheWay) {
  Keys many = NumberedKeys(LockTable::kYieldExaminedMax + 1);
  Acquire(kA, LockMode::kRead, many);
  many.push_back("a1");
  Acquire(kB, LockMode::kRead, many);
  const Verdict write = Write(outside_, "a1");
  EXPECT_LT(ExaminedByYield({{kA, IdleOwner::YieldsTo::kEverybody},  //
                             {kB, IdleOwner::YieldsTo::kEverybody}}),
            20u);
  EXPECT_TRUE(Granted(write));
  EXPECT_TRUE(locks_.HasLost(kB));
  EXPECT_FALSE(locks_.HasLost(kA));
}

TEST_F(LockTableBoundsTest, WhatOthersHaveLockedBelowItsPrefixCostsAnIdleOwnerNothing) {
  ReadPrefix(kA, "b");
  Acquire(kB, LockMode::kRead, NumberedKeys(LockTable::kYieldExaminedMax + 1));
  Read(kC, "a1");
  Write(outside_, "a1");
  EXPECT_LT(ExaminedByYield({{kA, IdleOwner::YieldsTo::kEverybody}}), 10u);
  EXPECT_FALSE(locks_.HasLost(kA));
  const Verdict write = Acquire(LockOwner::OutsideOfTransactions(7), LockMode::kWrite, {"b"});
  EXPECT_TRUE(Waits(write));
  Yield(kA, IdleOwner::YieldsTo::kEverybody);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableBoundsTest, DocumentsOutsideOfACollectionGroupAreExaminedToo) {
  Acquire(kA, LockMode::kRead, {}, {{"b", "group"}});
  const Keys many = NumberedKeys(2 * LockTable::kYieldExaminedMax);
  Acquire(kB, LockMode::kRead, many);
  Acquire(outside_, LockMode::kWrite, many);
  Read(kC, "a1");
  const Verdict write = Write(kE, "a1");
  const std::vector<IdleOwner> idle = {{kA, IdleOwner::YieldsTo::kEverybody},
                                       {kC, IdleOwner::YieldsTo::kEverybody}};
  EXPECT_LE(ExaminedByYield(idle), LockTable::kYieldExaminedMax + 10);
  EXPECT_TRUE(Waits(write));
  locks_.Yield(idle);  // It is the turn of the next one.
  EXPECT_TRUE(Granted(write));
  EXPECT_FALSE(locks_.HasLost(kA));
}

TEST_F(LockTableBoundsTest, AReleasedPrefixConcernsOnlyDocumentsThatRequestsWaitFor) {
  Acquire(kB, LockMode::kRead, NumberedKeys(1'000));
  ReadPrefix(kA, "b");
  const Verdict write = Write(outside_, "b");
  const uint64_t before = locks_.examined_locks();
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
  EXPECT_LT(locks_.examined_locks() - before, 20u);
}

}  // namespace
}  // namespace hearth::transactions
