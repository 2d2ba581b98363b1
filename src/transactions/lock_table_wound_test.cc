// Which owner loses its locks to which: wounds, timeouts and idle owners.
#include <gtest/gtest.h>

#include "transactions/lock_table.h"
#include "transactions/testing/lock_table_fixture.h"

namespace hearth::transactions {
namespace {

using LockTableWoundTest = LockTableFixture;

TEST_F(LockTableWoundTest, ACommitWoundsYoungerReaders) {
  Read(kA, "a1");
  Acquire(kB, LockMode::kRead, {"a1", "b1"}, {{"c"}});
  UpdatePrefix(kC, "d");
  EXPECT_TRUE(Granted(Acquire(kA, LockMode::kWrite, {"a1", "d1"})));
  EXPECT_FALSE(locks_.HasLost(kA));
  EXPECT_TRUE(locks_.HasLost(kB) && locks_.HasLost(kC));
  EXPECT_TRUE(Granted(Write(kE, "b1")));  // B has lost all its locks.
  EXPECT_TRUE(Granted(Write(kE, "c1")));
}

TEST_F(LockTableWoundTest, AWoundedOwnerIsRefusedUntilItIsReleased) {
  Read(kA, "a1");
  Read(kB, "a1");
  const Verdict waiting = Write(kB, "a1");
  EXPECT_TRUE(Waits(waiting));
  EXPECT_TRUE(Granted(Write(kA, "a1")));
  EXPECT_TRUE(Refused(waiting));
  EXPECT_TRUE(Refused(Read(kB, "b1")));
  EXPECT_TRUE(Refused(Acquire(kB, LockMode::kWrite, {})));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  locks_.Release(kB);
  EXPECT_FALSE(locks_.HasLost(kB));
  EXPECT_TRUE(Granted(Read(kB, "c1")));
}

TEST_F(LockTableWoundTest, AnOwnerCanBeWoundedWithoutAConflict) {
  Read(kA, "a1");
  const Verdict waiting = Write(outside_, "a1");
  EXPECT_TRUE(Waits(waiting));
  locks_.Wound(kA);
  EXPECT_TRUE(Granted(waiting));
  locks_.Wound(kB);  // Before its first request.
  EXPECT_TRUE(locks_.HasLost(kA) && locks_.HasLost(kB));
  EXPECT_TRUE(Refused(Read(kB, "b1")));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(Write(kB, "b1")));
  locks_.Wound(kB);
  EXPECT_FALSE(locks_.HasLost(kB));  // Too late.
}

TEST_F(LockTableWoundTest, ACommitWaitsForOlderReaders) {
  Read(kA, "a1");
  Read(kC, "a1");
  const Verdict write = Write(kB, "a1");
  EXPECT_TRUE(Waits(write));
  EXPECT_FALSE(locks_.HasLost(kC));  // Not wounded needlessly.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
  EXPECT_TRUE(locks_.HasLost(kC));
}

TEST_F(LockTableWoundTest, ACommitUnderWayIsNotWounded) {
  Read(kB, "a1");
  EXPECT_TRUE(Granted(Write(kB, "b1")));
  const Verdict write = Write(kA, "a1");
  EXPECT_TRUE(Waits(write));
  EXPECT_FALSE(locks_.HasLost(kB));
  WaitForTooLong();
  EXPECT_EQ(**write, kLockTimeout);
  EXPECT_FALSE(locks_.HasLost(kB));
}

TEST_F(LockTableWoundTest, ACommitOutsideOfTransactionsWoundsNobody) {
  Read(kE, "a1");
  const Verdict write = Write(outside_, "a1");
  EXPECT_TRUE(Waits(write));
  WaitForTooLong();
  EXPECT_EQ(**write, kLockTimeout);
  EXPECT_FALSE(locks_.HasLost(kE));
}

TEST_F(LockTableWoundTest, AReadWoundsTheYoungerOnlyWhenItsTimeIsOver) {
  Read(kB, "a1");
  Update(kD, "a2");
  const Verdict update = Update(kA, "a1");
  const Verdict read = Read(kC, "a2");
  EXPECT_TRUE(Waits(update) && Waits(read));
  WaitForTooLong();
  EXPECT_TRUE(Granted(update) && Granted(read));
  EXPECT_TRUE(locks_.HasLost(kB) && locks_.HasLost(kD));
}

TEST_F(LockTableWoundTest, AReadThatWaitsForAnOlderOneTimesOut) {
  Update(kA, "a1");
  Update(kC, "a2");
  const Verdict read = Acquire(kB, LockMode::kRead, {"a1", "a2"});
  WaitForTooLong();
  EXPECT_EQ(**read, kLockTimeout);
  EXPECT_FALSE(locks_.HasLost(kC));
}

TEST_F(LockTableWoundTest, AnAttemptWoundsTheOneBeforeIt) {
  Read(kD, "a1");
  UpdatePrefix(kD, "b");
  EXPECT_TRUE(Granted(Update(kRetryOfD, "a1")));
  EXPECT_TRUE(Refused(Write(kD, "c1")));
  EXPECT_TRUE(Granted(Update(kRetryOfD, "b1")));
  locks_.Release(kD);
  const Verdict late = Write(kD, "a1");  // It does not work in the other direction.
  EXPECT_TRUE(Waits(late));
  EXPECT_FALSE(locks_.HasLost(kRetryOfD));
}

TEST_F(LockTableWoundTest, AnIdleOwnerYieldsToRetries) {
  Read(kA, "a1");
  ReadPrefix(kB, "b");
  const Verdict young = Write(kE, "a1");
  const Verdict plain = Acquire(outside_, LockMode::kWrite, {"b1"});
  Yield(kA, IdleOwner::YieldsTo::kRetries);
  Yield(kB, IdleOwner::YieldsTo::kRetries);
  EXPECT_TRUE(Waits(young) && Waits(plain));
  const Verdict retry = Acquire(kRetryOfD, LockMode::kUpdate, {"a1", "b1"});
  EXPECT_TRUE(Waits(retry));
  locks_.Yield(
      {IdleOwner{kA, IdleOwner::YieldsTo::kRetries}, IdleOwner{kB, IdleOwner::YieldsTo::kRetries}});
  EXPECT_TRUE(locks_.HasLost(kA) && locks_.HasLost(kB));
  EXPECT_TRUE(Granted(young) && Granted(plain));  // They came first.
  locks_.ReleaseAll({kE, outside_});
  EXPECT_TRUE(Granted(retry));
}

TEST_F(LockTableWoundTest, AnIdleOwnerYieldsToEverybody) {
  Read(kA, "a1");
  const Verdict plain = Write(outside_, "a1");
  Yield(kA, IdleOwner::YieldsTo::kEverybody);
  EXPECT_TRUE(Granted(plain));
  EXPECT_TRUE(Refused(Write(kA, "a1")));
}

TEST_F(LockTableWoundTest, OnlyThoseInTheWayYield) {
  Read(kA, "a1");
  Read(kB, "b1");
  Read(kC, "a2");
  Write(kC, "c1");
  Yield(kA, IdleOwner::YieldsTo::kEverybody);  // No request waits.
  const Verdict other = Write(outside_, "b1");
  const Verdict committing = Update(kRetryOfD, "a2");
  locks_.Yield({IdleOwner{kA, IdleOwner::YieldsTo::kEverybody},
                IdleOwner{kC, IdleOwner::YieldsTo::kEverybody},
                IdleOwner{kE, IdleOwner::YieldsTo::kEverybody}});
  for (const LockOwner owner : {kA, kB, kC}) EXPECT_FALSE(locks_.HasLost(owner));
  EXPECT_TRUE(Waits(other) && Waits(committing));
}

}  // namespace
}  // namespace hearth::transactions
