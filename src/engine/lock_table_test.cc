#include "engine/lock_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/fake_clock.h"
#include "engine/testing/printers.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;

constexpr auto kWaitMax = 5s;
const Status kContention(Code::kAborted,
                         "Too much contention on these documents. Please try again.");
const Status kTimeout(
    Code::kAborted,
    "Too much contention on these documents. Please try again. (Transaction lock timeout.)");

// What became of a request; nullopt while it waits.
using Verdict = std::shared_ptr<std::optional<Status>>;

bool Waits(const Verdict& verdict) { return !verdict->has_value(); }
bool Granted(const Verdict& verdict) { return *verdict == Status(); }
bool Refused(const Verdict& verdict) { return *verdict == kContention; }

// Keys are "a1", "a2", "b1" and so on; prefixes are "a" and "b".
class LockTableTest : public testing::Test {
 protected:
  using Keys = std::vector<std::string>;

  Verdict Acquire(LockOwner owner, LockMode mode, Keys keys, std::vector<KeyPrefix> prefixes = {}) {
    auto verdict = std::make_shared<std::optional<Status>>();
    locks_.Acquire(owner, {std::move(keys), std::move(prefixes)}, mode,
                   [verdict](Status status) { *verdict = std::move(status); });
    return verdict;
  }
  Verdict Read(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kRead, {key});
  }
  Verdict Write(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kWrite, {key});
  }
  Verdict Update(LockOwner owner, const std::string& key) {
    return Acquire(owner, LockMode::kUpdate, {key});
  }
  Verdict ReadPrefix(LockOwner owner, const std::string& prefix) {
    return Acquire(owner, LockMode::kRead, {}, {{prefix}});
  }

  // The greater, the younger.
  static constexpr LockOwner kA{1, 1}, kB{2, 2}, kC{3, 3}, kD{4, 4}, kE{5, 5};

  FakeClock clock_{1'000'000};
  LockTable locks_{clock_, kWaitMax};
};

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
  EXPECT_TRUE(Granted(Write(kC, "a11")));  // Keys are no prefixes.
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
  EXPECT_TRUE(Waits(late_write));  // It would fit beside B's write, but not overtake C.

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
  const Verdict write = Write(kB, "a1");
  EXPECT_TRUE(Waits(write));
  // B may be waiting for C sooner or later, so C does not wait behind B.
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
  const Verdict both = Acquire(kB, LockMode::kWrite, {"a1", "a2"});
  EXPECT_TRUE(Waits(both));
  // B holds nothing of a1 meanwhile: D, who overtakes, reads it.
  EXPECT_TRUE(Granted(Read(kD, "a1")));
  locks_.Release(kA);
  EXPECT_TRUE(Waits(both));  // Now for D.
  locks_.Release(kD);
  EXPECT_TRUE(Granted(both));
  EXPECT_TRUE(Waits(Read(kC, "a1")));
  EXPECT_TRUE(Waits(Read(kE, "a2")));
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
  clock_.Advance(kWaitMax);
  locks_.ExpireWaits();
  EXPECT_EQ(**late, kTimeout);
  const Verdict aborted = Acquire(kB, LockMode::kWrite, {"a1", "a2", "a1"});
  locks_.Release(kB);
  EXPECT_TRUE(Refused(aborted));
}

TEST_F(LockTableTest, APrefixKeepsWritersOut) {
  EXPECT_TRUE(Granted(ReadPrefix(kA, "a")));
  EXPECT_TRUE(Granted(Read(kB, "a1")));
  EXPECT_TRUE(Granted(ReadPrefix(kB, "a")));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  const Verdict phantom = Write(kD, "a9");  // Nobody has locked this key itself.
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
  EXPECT_TRUE(Waits(scan));  // Behind the writer, as a reader of the key itself would be.
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
  EXPECT_EQ(**scan, kTimeout);
  EXPECT_TRUE(Granted(expired_behind));
  locks_.Release(kC);

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
    Read(kA, "a1");
    Read(kB, "a1");
    const Verdict first = Write(younger_closes_it ? kA : kB, "a1");
    EXPECT_TRUE(Waits(first));
    const Verdict second = Write(younger_closes_it ? kB : kA, "a1");
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
  Read(kA, "a1");
  Acquire(kB, LockMode::kRead, {"a1", "b1"}, {{"c"}});
  Write(kA, "a1");
  EXPECT_TRUE(Refused(Write(kB, "a1")));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  EXPECT_TRUE(Granted(Write(kC, "c1")));
}

TEST_F(LockTableTest, OfThreeInADeadlockTheYoungestGivesWay) {
  Read(kA, "a1");
  Read(kB, "a2");
  Read(kC, "a3");
  const Verdict a = Write(kA, "a2");
  const Verdict c = Write(kC, "a1");
  EXPECT_TRUE(Waits(a));
  EXPECT_TRUE(Waits(c));
  const Verdict b = Write(kB, "a3");  // Closes the circle.
  EXPECT_TRUE(Refused(c));
  EXPECT_TRUE(Granted(b));
  EXPECT_TRUE(Waits(a));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(a));
}

TEST_F(LockTableTest, DeadlocksGoThroughPrefixes) {
  ReadPrefix(kA, "a");
  ReadPrefix(kB, "b");
  const Verdict a = Write(kA, "b1");
  EXPECT_TRUE(Waits(a));
  EXPECT_TRUE(Refused(Write(kB, "a1")));
  EXPECT_TRUE(Granted(a));
}

TEST_F(LockTableTest, OneRequestCanCloseSeveralCircles) {
  Read(kC, "c1");
  Read(kD, "d1");
  for (const LockOwner owner : {kA, kC, kD}) Read(owner, "a1");
  Read(kA, "b1");
  const Verdict c = Write(kC, "b1");
  const Verdict d = Write(kD, "b1");
  EXPECT_TRUE(Waits(c) && Waits(d));
  const Verdict a = Write(kA, "a1");
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
  EXPECT_TRUE(Granted(Write(kA, "a1")));  // The one whose turn it is writes at once.
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
  EXPECT_TRUE(Waits(retry));  // For the reader who was there before,
  EXPECT_TRUE(Waits(late_reader));
  EXPECT_TRUE(Granted(Write(kA, "a1")));  // whom it does not hinder.
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
  EXPECT_TRUE(Granted(queued));  // Now others may wait for C: it must not wait for B.
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
  Update(kA, "a1");
  Read(kB, "b1");
  Read(kC, "c1");
  const Verdict blocked = Read(kC, "a1");  // Waits for A.
  const Verdict write = Write(kA, "b1");   // Waits for B.
  EXPECT_TRUE(Waits(blocked) && Waits(write));
  // C overtakes A, who now waits for C, who waits for A.
  const Verdict closing = Read(kC, "b1");
  EXPECT_TRUE(Granted(closing) || Refused(closing));
  EXPECT_TRUE(Refused(blocked));
  EXPECT_TRUE(Waits(write));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableTest, ALateGrantCanCloseADeadlock) {
  Update(kA, "a1");
  Read(kB, "b1");
  Read(kC, "c1");
  Write(kD, "d1");
  const Verdict blocked = Read(kC, "a1");
  const Verdict late = Acquire(kC, LockMode::kRead, {"b1", "d1"});
  const Verdict write = Write(kA, "b1");
  EXPECT_TRUE(Waits(blocked) && Waits(late) && Waits(write));
  locks_.Release(kD);  // Grants C its share of b1, for which A waits.
  EXPECT_TRUE(Refused(blocked));
  locks_.Release(kB);
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
  EXPECT_EQ(**first, kTimeout);
  EXPECT_TRUE(Waits(second));
  clock_.Advance(1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**second, kTimeout);
  EXPECT_EQ(locks_.waiting_requests(), 0u);
  EXPECT_TRUE(Granted(Read(kD, "a1")));  // A's lock is untouched, the queue is empty.
}

TEST_F(LockTableTest, AnExpiredWaitKeepsWhatTheOwnerHeld) {
  Read(kA, "a1");
  Read(kB, "b1");
  const Verdict late = Write(kB, "a1");
  clock_.Advance(kWaitMax);
  locks_.ExpireWaits();
  EXPECT_EQ(**late, kTimeout);
  EXPECT_TRUE(Waits(Write(kC, "b1")));
}

TEST_F(LockTableTest, ThoseBehindAnExpiredRequestGoOn) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  clock_.Advance(1s);
  const Verdict read = Read(kC, "a1");
  EXPECT_TRUE(Waits(read));
  clock_.Advance(kWaitMax - 1s);
  locks_.ExpireWaits();
  EXPECT_EQ(**write, kTimeout);
  EXPECT_TRUE(Granted(read));
}

TEST_F(LockTableTest, SettingTheWallClockEndsNoWait) {
  Read(kA, "a1");
  const Verdict write = Write(kB, "a1");
  clock_.SetWall(clock_.WallMicros() + 3'600'000'000);
  locks_.ExpireWaits();
  EXPECT_TRUE(Waits(write));
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
            Status(Code::kResourceExhausted, "too many requests wait for a lock"));
  EXPECT_TRUE(Granted(Write(kB, "b1")));  // What need not wait is not affected.
  locks_.Release(kA);
  EXPECT_TRUE(Granted(waiting.back()));
  EXPECT_TRUE(Granted(Write(kB, "a1")));
}

TEST_F(LockTableTest, LongChainsOfWaitingOwnersAreNoProblem) {
  // Everybody reads one key and writes the next one's: a circle that the last one closes.
  constexpr uint64_t kOwners = LockTable::kWaitingRequestsMax;
  const auto key = [](uint64_t i) { return "a" + std::to_string(i); };
  for (uint64_t i = 1; i <= kOwners; ++i) Read({i, i}, key(i));
  // From the far end, so that a look at one owner's blockers has the whole chain behind it only
  // once.
  const Verdict closed_by_the_youngest = [&] {
    for (uint64_t i = 1; i < kOwners; ++i) EXPECT_TRUE(Waits(Write({i, i}, key(i + 1))));
    return Write({kOwners, kOwners}, key(1));
  }();
  EXPECT_TRUE(Refused(closed_by_the_youngest));
  EXPECT_EQ(locks_.waiting_requests(), kOwners - 2);
}

}  // namespace
}  // namespace hearth::engine
