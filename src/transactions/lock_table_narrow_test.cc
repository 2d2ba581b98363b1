// Locks of queries: narrowed to documents that could become results, and found by range.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "base/mutex.h"
#include "base/testing/outcome.h"
#include "query/testing/query_builder.h"
#include "request/testing/writes.h"
#include "transactions/lock_table.h"
#include "transactions/testing/lock_table_fixture.h"

namespace hearth::transactions {
namespace {

// A transaction, A by default, has read a query's results below "a".
class LockTableNarrowTest : public LockTableFixture {
 protected:
  using MayEnter = std::function<bool(size_t)>;

  void ReadQuery(LockOwner owner, std::vector<std::string> result_keys = {}) {
    EXPECT_TRUE(Granted(ReadPrefix(owner, "a")));
    locks_.Narrow(owner, {"a"}, query_, std::move(result_keys));
  }
  Verdict WriteIf(LockOwner owner, Keys keys, MayEnter may_enter) {
    LockScope scope{std::move(keys), {}};
    scope.may_enter = [may_enter = std::move(may_enter)](size_t i, const watch::LiveQuery&) {
      return may_enter(i);
    };
    return AcquireScope(owner, LockMode::kWrite, std::move(scope));
  }
  static bool Never(size_t) { return false; }
  static bool Always(size_t) { return true; }

  const model::DatabaseName database_ = NameDatabase();
  const std::shared_ptr<const watch::LiveQuery> query_ =
      std::make_shared<const watch::LiveQuery>(database_, query::QueryBuilder("a").Build());
};

TEST_F(LockTableNarrowTest, OnlyWritesThatCouldEnterWait) {
  ReadQuery(kA);
  EXPECT_TRUE(Granted(WriteIf(kB, {"a1", "a2"}, Never)));
  EXPECT_TRUE(Waits(WriteIf(kC, {"b1", "a1", "a2"}, [](size_t i) { return i == 2; })));
  EXPECT_TRUE(Granted(WriteIf(kD, {"b9"}, Always)));  // The lock does not cover it.
  EXPECT_TRUE(Waits(Write(kE, "a9")));                // No may_enter: it could enter any query.
}

TEST_F(LockTableNarrowTest, ResultsAreLockedThemselves) {
  ReadQuery(kA, {"a1"});
  EXPECT_TRUE(Waits(WriteIf(kB, {"a1"}, Never)));
  EXPECT_TRUE(Granted(WriteIf(kC, {"a2"}, Never)));
}

TEST_F(LockTableNarrowTest, NarrowingLetsThoseGoOnThatWait) {
  ReadPrefix(kA, "a");
  const Verdict harmless = WriteIf(kB, {"a1"}, Never);
  const Verdict entering = WriteIf(kC, {"a2"}, Always);
  const Verdict unknown = Write(kD, "a3");
  EXPECT_TRUE(Waits(harmless) && Waits(entering) && Waits(unknown));
  locks_.Narrow(kA, {"a"}, query_, {});
  EXPECT_TRUE(Granted(harmless));
  EXPECT_TRUE(Waits(entering) && Waits(unknown));
  locks_.Release(kA);
  EXPECT_TRUE(Granted(entering) && Granted(unknown));
}

TEST_F(LockTableNarrowTest, EachNarrowedLockIsAskedOnce) {
  ReadQuery(kA);
  ReadQuery(kB);
  int asked = 0;
  const Verdict write = WriteIf(kC, {"a1"}, [&asked](size_t) { return ++asked == 2; });
  EXPECT_TRUE(Waits(write));
  EXPECT_EQ(asked, 2);
  locks_.Release(kA);
  EXPECT_TRUE(Waits(write));
  locks_.Release(kB);
  EXPECT_TRUE(Granted(write));
  EXPECT_EQ(asked, 2);
}

TEST_F(LockTableNarrowTest, AWriteThatCannotEnterWoundsNobody) {
  ReadQuery(kB);
  EXPECT_TRUE(Granted(WriteIf(kA, {"a1"}, Never)));
  EXPECT_FALSE(locks_.HasLost(kB));
  EXPECT_TRUE(Granted(WriteIf(kA, {"a1"}, Always)));
  EXPECT_TRUE(locks_.HasLost(kB));
}

TEST_F(LockTableNarrowTest, TheMatcherMayUseTheTable) {
  ReadQuery(kA);
  EXPECT_TRUE(Granted(WriteIf(kB, {"a1"}, [this](size_t) {
    EXPECT_EQ(locks_.waiting_requests(), 1u);
    EXPECT_TRUE(Granted(Read(kC, "b1")));
    return false;
  })));
  ReadPrefix(kD, "b");
  const Verdict write = WriteIf(kE, {"b2"}, [this](size_t) {
    locks_.ExpireWaits();
    return false;
  });
  EXPECT_TRUE(Waits(write));
  locks_.Narrow(kD, {"b"}, query_, {});
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableNarrowTest, WhileTheMatcherRunsNothingIsDecided) {
  // The lock is released, so the question is moot; but the request is still in use.
  ReadQuery(kA);
  Verdict write;
  write = WriteIf(kB, {"a1"}, [this](size_t) {
    locks_.Release(kA);
    EXPECT_EQ(locks_.waiting_requests(), 1u);
    return true;
  });
  EXPECT_TRUE(Granted(write));
  locks_.Release(kB);

  // The request is dropped.
  ReadQuery(kA);
  write = WriteIf(kB, {"a1"}, [this](size_t) {
    locks_.Release(kB);
    EXPECT_EQ(locks_.waiting_requests(), 0u);
    return false;
  });
  EXPECT_TRUE(Refused(write));
  EXPECT_TRUE(Granted(Write(kC, "b1")));
}

TEST_F(LockTableNarrowTest, OthersGoOnWhileTheMatcherRuns) {
  ReadQuery(kA);
  Outcome<bool> is_asked;
  Outcome<bool> may_go_on;
  std::thread writer([&] {
    WriteIf(kB, {"a1"}, [&, said = is_asked.Callback()](size_t) {
      said(true);
      return may_go_on.Take();
    });
  });
  is_asked.Take();
  EXPECT_TRUE(Granted(Write(kC, "b1")));
  EXPECT_TRUE(Granted(ReadPrefix(kD, "c")));
  may_go_on.Callback()(false);
  writer.join();
  EXPECT_TRUE(Waits(Read(kE, "a1")));  // B holds it.
}

TEST_F(LockTableNarrowTest, ALockThatIsNarrowedWhileAnotherIsAskedIsAskedToo) {
  ReadQuery(kA);
  ReadPrefix(kB, "a");
  bool is_first = true;
  int asked = 0;
  const Verdict write = WriteIf(kC, {"a1"}, [&](size_t) {
    ++asked;
    if (std::exchange(is_first, false)) locks_.Narrow(kB, {"a"}, query_, {});
    return false;
  });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(Granted(write));
}

TEST_F(LockTableNarrowTest, ADeadlockIsFoundWhenTheAnswerIsThere) {
  Update(kB, "b1");
  ReadQuery(kA);
  const Verdict read = Read(kA, "b1");
  EXPECT_TRUE(Waits(read));
  // B is younger and waits for A, which waits for B.
  EXPECT_TRUE(Refused(WriteIf(kB, {"a1"}, Always)));
  EXPECT_TRUE(Granted(read));
}

TEST_F(LockTableNarrowTest, APrefixRequestLooksAtWhatItCoversOnly) {
  for (uint64_t i = 0; i < 1'000; ++i) {
    Read({100 + i, 100 + i}, "b" + std::to_string(i));
    ReadPrefix({100 + i, 100 + i}, "c" + std::to_string(i));
  }
  Write(outside_, "b7");  // Waits.
  Read(kA, "a1");
  const uint64_t before = locks_.examined_locks();
  EXPECT_TRUE(Granted(ReadPrefix(kB, "a")));
  EXPECT_TRUE(Granted(Write(kB, "c")));
  const Verdict waits = UpdatePrefix(kC, "a");
  locks_.Release(kA);
  locks_.Release(kB);
  EXPECT_TRUE(Granted(waits));
  EXPECT_LT(locks_.examined_locks() - before, 50u);
}

}  // namespace
}  // namespace hearth::transactions
