// What a search for a deadlock finds, and what it costs.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "query/testing/query_builder.h"
#include "request/testing/writes.h"
#include "transactions/lock_table.h"
#include "transactions/testing/lock_table_fixture.h"

namespace hearth::transactions {
namespace {

constexpr uint64_t kMany = 300;

class LockTableDeadlockTest : public LockTableFixture {
 protected:
  static LockOwner OldOwner(uint64_t i) { return {100 + i, 100 + i}; }
  static LockOwner YoungOwner(uint64_t i) { return {1'000 + i, 1'000 + i}; }
  static constexpr LockOwner kYoungest{5'000, 5'000};

  // Many old owners hold something. Many younger ones hold b1 and wait for them. What does it cost
  // that one more waits for b1?
  uint64_t ExaminedBehindMany(const std::function<void(LockOwner, uint64_t)>& hold,
                              const std::function<Verdict(LockOwner, uint64_t)>& wait) {
    for (uint64_t i = 0; i < kMany; ++i) hold(OldOwner(i), i);
    for (uint64_t i = 0; i < kMany; ++i) {
      Read(YoungOwner(i), "b1");
      EXPECT_TRUE(Waits(wait(YoungOwner(i), i)));
    }
    Read(kYoungest, "a1");
    const uint64_t before = locks_.examined_locks();
    EXPECT_TRUE(Waits(Write(kYoungest, "b1")));
    return locks_.examined_locks() - before;
  }

  LockScope ScopeOf(const std::string& key, bool may_enter) {
    LockScope scope{{key}, {}};
    scope.may_enter = [may_enter](size_t, const watch::LiveQuery&) { return may_enter; };
    return scope;
  }
};

TEST_F(LockTableDeadlockTest, ADocumentThatManyWaitForIsExaminedOnce) {
  EXPECT_LT(ExaminedBehindMany([this](LockOwner owner, uint64_t) { Read(owner, "c1"); },
                               [this](LockOwner owner, uint64_t) { return Write(owner, "c1"); }),
            10 * kMany);
}

TEST_F(LockTableDeadlockTest, LocksOnAPrefixAreExaminedOnce) {
  const auto write = [this](LockOwner owner, uint64_t i) {
    return Write(owner, "c" + std::to_string(i));
  };
  EXPECT_LT(
      ExaminedBehindMany([this](LockOwner owner, uint64_t) { ReadPrefix(owner, "c"); }, write),
      10 * kMany);
}

TEST_F(LockTableDeadlockTest, APrefixThatManyWaitForIsExaminedOnce) {
  const auto read = [this](LockOwner owner, uint64_t i) { Read(owner, "c" + std::to_string(i)); };
  const auto update = [this](LockOwner owner, uint64_t) { return UpdatePrefix(owner, "c"); };
  EXPECT_LT(ExaminedBehindMany(read, update), 10 * kMany);
}

// C is the first to look at what it holds itself, but only B leads from there to C.
TEST_F(LockTableDeadlockTest, ALockThatTheRequestAlsoWaitsForCanCloseTheCycle) {
  for (const bool by_prefix : {false, true}) {
    SCOPED_TRACE(by_prefix);
    for (const LockOwner owner : {kA, kC}) by_prefix ? ReadPrefix(owner, "a") : Read(owner, "a1");
    Read(kB, "b1");
    const Verdict older = Write(kB, "a1");
    EXPECT_TRUE(Waits(older));
    const Verdict younger = Acquire(kC, LockMode::kWrite, {"a1", "b1"});
    EXPECT_TRUE(Refused(younger));
    EXPECT_TRUE(Waits(older));
    locks_.ReleaseAll({kA, kB, kC});
  }
}

TEST_F(LockTableDeadlockTest, ALockThatIsHarmlessToOneCanBlockTheNext) {
  const auto query =
      std::make_shared<const watch::LiveQuery>(NameDatabase(), query::QueryBuilder("a").Build());
  ReadPrefix(kD, "a");
  locks_.Narrow(kD, {"a"}, query, {});
  Acquire(kA, LockMode::kRead, {"a1", "a2"});
  Read(kB, "b1");
  Read(kC, "c1");
  EXPECT_TRUE(Waits(AcquireScope(kB, LockMode::kWrite, ScopeOf("a1", false))));
  const Verdict entering = AcquireScope(kC, LockMode::kWrite, ScopeOf("a2", true));
  EXPECT_TRUE(Waits(entering));
  EXPECT_TRUE(Waits(Write(kD, "b1")));  // B does not wait for D.
  EXPECT_TRUE(Refused(Write(kD, "c1")));
  EXPECT_TRUE(Waits(entering));
}

TEST_F(LockTableDeadlockTest, BeyondABoundADeadlockIsLeftToTheTimeLimit) {
  for (const bool is_too_far : {false, true}) {
    SCOPED_TRACE(is_too_far);
    Read(kA, "a1");
    Update(kB, "b1");
    const Verdict younger = Update(kB, "a1");
    Keys keys(LockTable::kDeadlockExaminedMax / (is_too_far ? 1 : 2));
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = "c" + std::to_string(i);
    keys.push_back("b1");
    const Verdict older = Acquire(kA, LockMode::kRead, std::move(keys));
    EXPECT_EQ(Waits(older) && Waits(younger), is_too_far);
    WaitForTooLong();
    EXPECT_TRUE(Granted(older));
    EXPECT_TRUE(Refused(younger));
    locks_.ReleaseAll({kA, kB});
  }
}

}  // namespace
}  // namespace hearth::transactions
