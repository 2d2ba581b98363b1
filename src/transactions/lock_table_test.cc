#include "transactions/lock_table.h"

#include <gtest/gtest.h>

#include "transactions/testing/lock_table_fixture.h"

namespace hearth::transactions {
namespace {

using namespace std::chrono_literals;

using LockTableTest = LockTableFixture;

TEST_F(LockTableTest, APrefixWithAPartCoversOnlyKeysThatHoldIt) {
  EXPECT_TRUE(Granted(Acquire(kA, LockMode::kRead, {}, {{"a", "/x/"}})));
  EXPECT_TRUE(Granted(Write(kB, "a1/y/2")));
  EXPECT_TRUE(Granted(Write(kB, "b1/x/2")));
  EXPECT_TRUE(Waits(Write(kC, "a1/x/2")));
  EXPECT_TRUE(Granted(Acquire(kD, LockMode::kUpdate, {}, {{"a", "/z/"}})));
  EXPECT_TRUE(Waits(Acquire(kE, LockMode::kUpdate, {}, {{"a1"}})));
}

TEST_F(LockTableTest, ModesConflict) {
  constexpr LockMode kModes[] = {LockMode::kRead, LockMode::kUpdate, LockMode::kWrite};
  constexpr bool kConflicts[3][3] = {
      // Wanted: read, update, write.
      {false, true, true},  // Held: read.
      {true, true, true},   // Held: update.
      {true, true, false},  // Held: write.
  };
  for (size_t held = 0; held < 3; ++held) {
    for (size_t wanted = 0; wanted < 3; ++wanted) {
      SCOPED_TRACE(testing::Message() << "held " << held << ", wanted " << wanted);
      EXPECT_TRUE(Granted(Acquire(kA, kModes[held], {"a1"})));
      const Verdict verdict = Acquire(kB, kModes[wanted], {"a1"});
      EXPECT_EQ(Waits(verdict), kConflicts[held][wanted]);
      locks_.Release(kA);
      EXPECT_TRUE(Granted(verdict));
      locks_.Release(kB);
    }
  }
}

TEST_F(LockTableTest, OwnLocksNeverConflict) {
  for (const LockMode mode : {LockMode::kWrite, LockMode::kUpdate, LockMode::kRead}) {
    EXPECT_TRUE(Granted(Acquire(kA, mode, {"a1"}, {})));
  }
  EXPECT_TRUE(Granted(ReadPrefix(kA, "a")));
  EXPECT_TRUE(Granted(Write(kA, "a2")));
}

TEST_F(LockTableTest, DifferentKeysDoNotMeet) {
  EXPECT_TRUE(Granted(Read(kA, "a1")));
  EXPECT_TRUE(Granted(Write(kB, "a2")));
  EXPECT_TRUE(Granted(Write(kC, "a11")));  // Keys are not prefixes.
}

TEST_F(LockTableTest, ReleasingAnUnknownOwnerDoesNothing) {
  locks_.Release(kA);
  EXPECT_TRUE(Granted(Read(kA, "a1")));
  locks_.Release(kA);
  locks_.Release(kA);
  EXPECT_TRUE(Granted(Write(kB, "a1")));
}

TEST_F(LockTableTest, AnEmptyRequestIsGrantedAtOnce) {
  EXPECT_TRUE(Granted(Acquire(kA, LockMode::kWrite, {})));
  locks_.Release(kA);
}

TEST_F(LockTableTest, FirstComeFirstServed) {
  const Verdict held = Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  const Verdict read = Read(kC, "a1");  // Compatible with A's, but B was first.
  const Verdict late_write = Write(kD, "a1");
  EXPECT_TRUE(Granted(held));
  EXPECT_TRUE(Waits(write));
  EXPECT_TRUE(Waits(read));
  EXPECT_TRUE(Waits(late_write));
  EXPECT_EQ(locks_.waiting_requests(), 3u);

  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
  EXPECT_TRUE(Waits(read));
  EXPECT_TRUE(Waits(late_write));  // Compatible with B's write, but must not overtake C.

  locks_.Release(kB);
  EXPECT_TRUE(Granted(read));
  EXPECT_TRUE(Waits(late_write));
  locks_.Release(kC);
  EXPECT_TRUE(Granted(late_write));
  EXPECT_EQ(locks_.waiting_requests(), 0u);
}

TEST_F(LockTableTest, WritersWaitTogetherAndGoTogether) {
  Read(kA, "a1");
  const Verdict first = Write(kB, "a1");
  const Verdict second = Write(kC, "a1");
  EXPECT_TRUE(Waits(first) && Waits(second));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(first));
  EXPECT_TRUE(Granted(second));
}

TEST_F(LockTableTest, WhoHoldsSomethingOvertakesThoseWhoHoldNothing) {
  Read(kA, "a1");
  Read(kC, "b1");
  const Verdict write = Write(kE, "a1");
  EXPECT_TRUE(Waits(write));
  // E may come to wait for C, so C does not wait behind E.
  EXPECT_TRUE(Granted(Read(kC, "a1")));
  locks_.Release(kA);
  EXPECT_TRUE(Waits(write));
  locks_.Release(kC);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableTest, TheOnlyReaderWritesPastThoseWhoWait) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  const Verdict read = Read(kC, "a1");
  EXPECT_TRUE(Granted(Write(kA, "a1")));
  EXPECT_TRUE(Waits(write));
  EXPECT_TRUE(Waits(read));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
  EXPECT_TRUE(Waits(read));
}

TEST_F(LockTableTest, ARequestIsGrantedWholeOrWaitsWhole) {
  Read(kA, "a2");
  Read(kD, "b1");
  const Verdict both = Acquire(kE, LockMode::kWrite, {"a1", "a2"});
  EXPECT_TRUE(Waits(both));
  // Meanwhile E holds nothing of a1: D overtakes and reads it.
  EXPECT_TRUE(Granted(Read(kD, "a1")));
  locks_.Release(kA);
  EXPECT_TRUE(Waits(both));  // Now it waits for D.
  locks_.Release(kD);
  EXPECT_TRUE(Granted(both));
  EXPECT_TRUE(Waits(Read(kC, "a1")));
  EXPECT_TRUE(Waits(Read(kB, "a2")));
}

TEST_F(LockTableTest, OneRequestMayNameAKeyTwice) {
  // Two writes to one document, in a commit that has to wait.
  Read(kA, "a1");
  const Verdict granted = Acquire(kB, LockMode::kWrite, {"a1", "a1"});
  EXPECT_TRUE(Waits(granted));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(granted));
  locks_.Release(kB);

  ReadPrefix(kA, "a");
  const Verdict late = Acquire(kB, LockMode::kWrite, {"a1", "a1"});
  WaitForTooLong();
  EXPECT_EQ(**late, kLockTimeout);
  locks_.Release(kB);
  const Verdict aborted = Acquire(kB, LockMode::kWrite, {"a1", "a2", "a1"});
  locks_.Release(kB);
  EXPECT_TRUE(Refused(aborted));
}

TEST_F(LockTableTest, APrefixKeepsWritersOut) {
  EXPECT_TRUE(Granted(ReadPrefix(kA, "a")));
  EXPECT_TRUE(Granted(Read(kB, "a1")));
  EXPECT_TRUE(Granted(ReadPrefix(kB, "a")));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  const Verdict phantom = Write(kD, "a9");  // This key itself is not locked.
  EXPECT_TRUE(Waits(phantom));
  locks_.Release(kA);
  EXPECT_TRUE(Waits(phantom));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(phantom));
}

TEST_F(LockTableTest, AWriterKeepsPrefixesOut) {
  EXPECT_TRUE(Granted(Write(kA, "a1")));
  const Verdict scan = ReadPrefix(kB, "a");
  EXPECT_TRUE(Waits(scan));
  EXPECT_TRUE(Granted(ReadPrefix(kC, "b")));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(scan));
}

TEST_F(LockTableTest, PrefixesMeetPrefixes) {
  EXPECT_TRUE(Granted(Acquire(kA, LockMode::kUpdate, {}, {{"ab"}})));
  const Verdict outer = ReadPrefix(kB, "a");
  const Verdict inner = ReadPrefix(kC, "abc");
  const Verdict key = Read(kD, "abx");
  EXPECT_TRUE(Granted(ReadPrefix(kE, "ac")));
  EXPECT_TRUE(Waits(outer));
  EXPECT_TRUE(Waits(inner));
  EXPECT_TRUE(Waits(key));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(outer));
  EXPECT_TRUE(Granted(inner));
  EXPECT_TRUE(Granted(key));
}

TEST_F(LockTableTest, ScansDoNotStarveAWriter) {
  ReadPrefix(kA, "a");
  const Verdict write = Write(kB, "a1");
  const Verdict scan = ReadPrefix(kC, "a");
  EXPECT_TRUE(Waits(write));
  EXPECT_TRUE(Waits(scan));  // Behind the writer, like a reader of the key itself.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
  EXPECT_TRUE(Waits(scan));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(scan));
}

TEST_F(LockTableTest, WritersDoNotStarveAScan) {
  Write(kA, "a1");
  const Verdict scan = ReadPrefix(kB, "a");
  const Verdict write = Write(kC, "a2");
  EXPECT_TRUE(Waits(scan));
  EXPECT_TRUE(Waits(write));
  EXPECT_TRUE(Granted(Write(kD, "b1")));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(scan));
  EXPECT_TRUE(Waits(write));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableTest, ThoseBehindAScanThatGivesUpGoOn) {
  Write(kA, "a1");
  const Verdict scan = ReadPrefix(kB, "a");
  clock_.Advance(1s);
  const Verdict expired_behind = Write(kC, "a2");
  clock_.Advance(kWaitMax - 1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**scan, kLockTimeout);
  EXPECT_TRUE(Granted(expired_behind));
  locks_.ReleaseAll({kB, kC});

  const Verdict another_scan = ReadPrefix(kB, "a");
  const Verdict released_behind = Write(kC, "a2");
  EXPECT_TRUE(Waits(released_behind));
  locks_.Release(kB);
  EXPECT_TRUE(Refused(another_scan));
  EXPECT_TRUE(Granted(released_behind));
}

TEST_F(LockTableTest, OfTwoInADeadlockTheYoungerGivesWay) {
  for (const bool younger_closes_it : {true, false}) {
    SCOPED_TRACE(younger_closes_it);
    Update(kA, "a1");
    Update(kB, "b1");
    const auto cross = [this](LockOwner owner) { return Update(owner, owner == kA ? "b1" : "a1"); };
    const Verdict first = cross(younger_closes_it ? kA : kB);
    EXPECT_TRUE(Waits(first));
    const Verdict second = cross(younger_closes_it ? kB : kA);
    EXPECT_TRUE(Granted(younger_closes_it ? first : second));
    EXPECT_TRUE(Refused(younger_closes_it ? second : first));
    EXPECT_EQ(locks_.waiting_requests(), 0u);
    locks_.ReleaseAll({kA, kB});
  }
}

TEST_F(LockTableTest, AgeDecidesNotTheNumber) {
  // An attempt that inherited its age from an earlier one counts as old.
  const LockOwner retry{1, 9};
  Read(kB, "a1");
  Read(retry, "a1");
  const Verdict young = Write(kB, "a1");
  const Verdict old = Write(retry, "a1");
  EXPECT_TRUE(Refused(young));
  EXPECT_TRUE(Granted(old));
}

TEST_F(LockTableTest, ALostDeadlockLosesAllLocks) {
  Update(kA, "a1");
  Acquire(kB, LockMode::kUpdate, {"a2", "b1"}, {{"c"}});
  Update(kA, "a2");
  EXPECT_TRUE(Refused(Update(kB, "a1")));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  EXPECT_TRUE(Granted(Write(kC, "c1")));
}

TEST_F(LockTableTest, OfThreeInADeadlockTheYoungestGivesWay) {
  Update(kA, "a1");
  Update(kB, "a2");
  Update(kC, "a3");
  const Verdict a = Update(kA, "a2");
  const Verdict c = Update(kC, "a1");
  EXPECT_TRUE(Waits(a));
  EXPECT_TRUE(Waits(c));
  const Verdict b = Update(kB, "a3");  // Closes the cycle.
  EXPECT_TRUE(Refused(c));
  EXPECT_TRUE(Granted(b));
  EXPECT_TRUE(Waits(a));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(a));
}

TEST_F(LockTableTest, DeadlocksGoThroughPrefixes) {
  UpdatePrefix(kA, "a");
  UpdatePrefix(kB, "b");
  const Verdict a = Read(kA, "b1");
  EXPECT_TRUE(Waits(a));
  EXPECT_TRUE(Refused(Read(kB, "a1")));
  EXPECT_TRUE(Granted(a));
}

TEST_F(LockTableTest, OneRequestCanCloseSeveralCircles) {
  for (const LockOwner owner : {kC, kD}) Read(owner, "a1");
  Update(kA, "b1");
  const Verdict c = Read(kC, "b1");
  const Verdict d = Read(kD, "b1");
  EXPECT_TRUE(Waits(c) && Waits(d));
  const Verdict a = Update(kA, "a1");
  EXPECT_TRUE(Refused(c));
  EXPECT_TRUE(Refused(d));
  EXPECT_TRUE(Granted(a));
}

TEST_F(LockTableTest, WaitingWithoutHoldingIsNoDeadlock) {
  Read(kA, "a1");
  const Verdict outside = Acquire(kE, LockMode::kWrite, {"a1", "b1"});
  const Verdict behind = Acquire(kD, LockMode::kRead, {"b1"});
  EXPECT_TRUE(Waits(outside));
  EXPECT_TRUE(Waits(behind));
  EXPECT_TRUE(Granted(Write(kA, "b1")));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(outside));
  EXPECT_TRUE(Waits(behind));
}

TEST_F(LockTableTest, RetriesQueueUp) {
  const Verdict a = Update(kA, "a1");
  const Verdict b = Update(kB, "a1");
  const Verdict c = Update(kC, "a1");
  const Verdict reader = Read(kD, "a1");
  EXPECT_TRUE(Granted(a));
  EXPECT_TRUE(Waits(b));
  EXPECT_TRUE(Granted(Write(kA, "a1")));  // The first in the queue writes at once.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(b));
  EXPECT_TRUE(Waits(c));
  EXPECT_TRUE(Granted(Write(kB, "a1")));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(c));
  EXPECT_TRUE(Waits(reader));
  locks_.Release(kC);
  EXPECT_TRUE(Granted(reader));
}

TEST_F(LockTableTest, ARetryWaitsUntilItIsAlone) {
  Read(kA, "a1");
  const Verdict retry = Update(kB, "a1");
  const Verdict late_reader = Read(kC, "a1");
  EXPECT_TRUE(Waits(retry));  // For the reader that came before,
  EXPECT_TRUE(Waits(late_reader));
  EXPECT_TRUE(Granted(Write(kA, "a1")));  // which it does not block.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(retry));
  EXPECT_TRUE(Waits(late_reader));
  EXPECT_TRUE(Granted(Write(kB, "a1")));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(late_reader));
}

TEST_F(LockTableTest, OneOwnerWaitsForSeveralThings) {
  Write(kA, "a1");
  Write(kB, "b1");
  const Verdict first = Read(kC, "a1");
  const Verdict second = Read(kC, "b1");
  const Verdict third = ReadPrefix(kC, "a");
  EXPECT_EQ(locks_.waiting_requests(), 3u);
  locks_.Release(kB);
  EXPECT_TRUE(Waits(first));
  EXPECT_TRUE(Granted(second));
  EXPECT_TRUE(Waits(third));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(first));
  EXPECT_TRUE(Granted(third));
  EXPECT_TRUE(Waits(Write(kD, "b1")));
}

TEST_F(LockTableTest, AFirstLockLetsTheOwnersOtherRequestsOvertake) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  const Verdict queued = Read(kC, "a1");
  EXPECT_TRUE(Waits(queued));  // Behind B, since C holds nothing.
  EXPECT_TRUE(Granted(Read(kC, "b1")));
  EXPECT_TRUE(Granted(queued));  // Now others may wait for C, so it must not wait for B.
  EXPECT_TRUE(Waits(write));
}

TEST_F(LockTableTest, ALateFirstLockLetsTheOwnersOtherRequestsOvertake) {
  Read(kA, "a1");
  Write(kD, "b1");
  const Verdict write = Write(kB, "a1");
  const Verdict queued = Read(kC, "a1");
  const Verdict late = Read(kC, "b1");
  EXPECT_TRUE(Waits(queued) && Waits(late));
  locks_.Release(kD);
  EXPECT_TRUE(Granted(late));
  EXPECT_TRUE(Granted(queued));
  EXPECT_TRUE(Waits(write));
}

TEST_F(LockTableTest, AGrantCanCloseADeadlock) {
  Update(kB, "a1");
  Read(kA, "b1");
  Read(kC, "c1");
  const Verdict blocked = Read(kC, "a1");  // Waits for B.
  const Verdict write = Write(kB, "b1");   // Waits for A.
  EXPECT_TRUE(Waits(blocked) && Waits(write));
  // C overtakes B: B now waits for C, and C waits for B.
  const Verdict closing = Read(kC, "b1");
  EXPECT_TRUE(Granted(closing) || Refused(closing));
  EXPECT_TRUE(Refused(blocked));
  EXPECT_TRUE(Waits(write));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableTest, ALateGrantCanCloseADeadlock) {
  Update(kB, "a1");
  Read(kA, "b1");
  Read(kC, "c1");
  Write(kD, "d1");
  const Verdict blocked = Read(kC, "a1");
  const Verdict late = Acquire(kC, LockMode::kRead, {"b1", "d1"});
  const Verdict write = Write(kB, "b1");
  EXPECT_TRUE(Waits(blocked) && Waits(late) && Waits(write));
  locks_.Release(kD);  // Grants C its share of b1, for which B waits.
  EXPECT_TRUE(Refused(blocked));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableTest, AWaitEndsAfterItsTime) {
  Read(kA, "a1");
  const Verdict first = Write(kB, "a1");
  clock_.Advance(1s);
  const Verdict second = Write(kC, "a1");
  clock_.Advance(kWaitMax - 1s - 1us);
  locks_.ExpireWaits();
  EXPECT_TRUE(Waits(first));
  clock_.Advance(1us);
  locks_.ExpireWaits();
  EXPECT_EQ(**first, kLockTimeout);
  EXPECT_TRUE(Waits(second));
  clock_.Advance(1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**second, kLockTimeout);
  EXPECT_EQ(locks_.waiting_requests(), 0u);
  EXPECT_TRUE(Granted(Read(kD, "a1")));  // A's lock is unchanged, the queue is empty.
}

TEST_F(LockTableTest, AnExpiredWaitLosesWhatTheOwnerHeld) {
  Read(kA, "a1");
  Read(kB, "b1");
  const Verdict late = Write(kB, "a1");
  const Verdict behind = Write(kC, "b1");
  EXPECT_TRUE(Waits(behind));
  clock_.Advance(kWaitMax - 1s);
  const Verdict another = Update(kB, "a1");
  clock_.Advance(1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**late, kLockTimeout);
  EXPECT_EQ(**another, kLockTimeout);
  EXPECT_TRUE(locks_.HasLost(kB));
}

TEST_F(LockTableTest, ThoseBehindAnExpiredRequestGoOn) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  clock_.Advance(1s);
  const Verdict read = Read(kC, "a1");
  EXPECT_TRUE(Waits(read));
  clock_.Advance(kWaitMax - 1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**write, kLockTimeout);
  EXPECT_TRUE(Granted(read));
}

TEST_F(LockTableTest, SettingTheWallClockEndsNoWait) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  clock_.SetWall(clock_.WallMicros() + 3'600'000'000);
  locks_.ExpireWaits();
  EXPECT_TRUE(Waits(write));
}

TEST_F(LockTableTest, ThoseBehindACancelledRequestGoOn) {
  EXPECT_TRUE(Granted(Read(kA, "a1")));
  EXPECT_TRUE(Granted(Read(kB, "b1")));
  auto cancelled = std::make_shared<std::optional<Status>>();
  const LockTable::Ticket ticket =
      locks_.Acquire(kB, {{"a1"}, {}}, LockMode::kUpdate,
                     [cancelled](Status status) { *cancelled = std::move(status); });
  const Verdict behind = Read(kC, "a1");
  EXPECT_TRUE(Waits(cancelled));
  EXPECT_TRUE(Waits(behind));

  locks_.Cancel(ticket);
  EXPECT_EQ((*cancelled)->code(), Code::kCancelled);
  EXPECT_TRUE(Granted(behind));
  EXPECT_EQ(locks_.waiting_requests(), 0u);
  // The owner keeps what it had.
  EXPECT_FALSE(locks_.HasLost(kB));
  EXPECT_TRUE(Waits(Update(kA, "b1")));
}

TEST_F(LockTableTest, OnlyAWaitingRequestCanBeCancelled) {
  EXPECT_TRUE(Granted(Read(kA, "a1")));
  auto granted = std::make_shared<std::optional<Status>>();
  const LockTable::Ticket ticket =
      locks_.Acquire(kB, {{"a1"}, {}}, LockMode::kUpdate,
                     [granted](Status status) { *granted = std::move(status); });
  locks_.Release(kA);
  EXPECT_TRUE(Granted(granted));
  locks_.Cancel(ticket);
  EXPECT_TRUE(Granted(granted));
  EXPECT_TRUE(Waits(Read(kC, "a1")));
}

TEST_F(LockTableTest, ReleaseAbortsWaitingRequests) {
  Read(kA, "a1");
  const Verdict first = Write(kB, "a1");
  const Verdict second = Acquire(kB, LockMode::kWrite, {"a1", "b1"});
  const Verdict behind = Read(kC, "a1");
  locks_.Release(kB);
  EXPECT_TRUE(Refused(first));
  EXPECT_TRUE(Refused(second));
  EXPECT_TRUE(Granted(behind));
  EXPECT_EQ(locks_.waiting_requests(), 0u);
}

TEST_F(LockTableTest, ReleaseAllLetsEverybodyGoOn) {
  ReadPrefix(kA, "a");
  Read(kB, "a1");
  const Verdict write = Acquire(kC, LockMode::kWrite, {"a1", "a2"});
  locks_.ReleaseAll({kA, kE, kB});
  EXPECT_TRUE(Granted(write));
  locks_.ReleaseAll({});
}

TEST_F(LockTableTest, ClosingEndsAllWaits) {
  const Status closing(Code::kUnavailable, "closing");
  Read(kA, "a1");
  const Verdict key = Write(kB, "a1");
  const Verdict behind = ReadPrefix(kC, "a");
  locks_.Close(closing);
  EXPECT_EQ(**key, closing);
  EXPECT_EQ(**behind, closing);
  EXPECT_EQ(locks_.waiting_requests(), 0u);
  EXPECT_EQ(**Write(kD, "a1"), closing);  // Would have to wait.
  EXPECT_TRUE(Granted(Write(kA, "a1")));
  EXPECT_TRUE(Granted(Write(kD, "b1")));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(Write(kE, "a1")));
}

TEST_F(LockTableTest, CallbacksMayCallBack) {
  Read(kA, "a1");
  std::vector<std::string> order;
  locks_.Acquire(kB, {{"a1"}, {}}, LockMode::kWrite, [&](const Status& status) {
    EXPECT_EQ(status, Status());
    order.push_back("B");
    locks_.Release(kB);
  });
  locks_.Acquire(kC, {{"a1"}, {}}, LockMode::kRead, [&](const Status& status) {
    EXPECT_EQ(status, Status());
    order.push_back("C");
    EXPECT_TRUE(Granted(Read(kC, "b1")));
    locks_.Release(kC);
  });
  locks_.Release(kA);
  EXPECT_EQ(order, (std::vector<std::string>{"B", "C"}));
  EXPECT_TRUE(Granted(Write(kD, "a1")));
}

TEST_F(LockTableTest, WaitingRequestsAreBounded) {
  Read(kA, "a1");
  std::vector<Verdict> waiting;
  for (uint64_t id = 10; waiting.size() < LockTable::kWaitingRequestsMax; ++id) {
    waiting.push_back(Write({id, id}, "a1"));
  }
  EXPECT_TRUE(Waits(waiting.back()));
  EXPECT_EQ(**Write(kB, "a1"),
            Status(Code::kResourceExhausted, "too many requests are waiting for a lock"));
  EXPECT_TRUE(Granted(Write(kB, "b1")));  // Requests that need not wait are not affected.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(waiting.back()));
  EXPECT_TRUE(Granted(Write(kB, "a1")));
}

TEST_F(LockTableTest, LongChainsOfWaitingOwnersAreNoProblem) {
  // Each owner reads one key and writes that of the next older one; the oldest closes the cycle.
  constexpr uint64_t kOwners = LockTable::kWaitingRequestsMax;
  const auto key = [](uint64_t i) { return "a" + std::to_string(i); };
  for (uint64_t i = 1; i <= kOwners; ++i) Read({i, i}, key(i));
  // The youngest first, so that only the last request has the whole chain in front of it.
  const Verdict youngest = Write({kOwners, kOwners}, key(kOwners - 1));
  for (uint64_t i = kOwners - 1; i > 1; --i) EXPECT_TRUE(Waits(Write({i, i}, key(i - 1))));
  EXPECT_TRUE(Waits(youngest));
  EXPECT_TRUE(Granted(Update({1, 1}, key(kOwners))));
  EXPECT_TRUE(Refused(youngest));
  EXPECT_EQ(locks_.waiting_requests(), kOwners - 2);
}

}  // namespace
}  // namespace hearth::transactions
