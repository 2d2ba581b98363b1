// Transactions through the whole engine: times, failures, races, and leftovers.
// test/cases/transaction defines which transaction waits and which one loses.
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/metrics.h"
#include "base/testing/metric_value.h"
#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "engine/engine.h"
#include "engine/testing/test_engine.h"
#include "query/normalize.h"
#include "transactions/testing/transactions.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;

const std::chrono::milliseconds kLockWaitMax = EngineOptions().lock_wait_max;

class EngineTransactionTest : public testing::Test {
 protected:
  EngineTransactionTest() { test_.MustCommit({SetNumber("c/a", 1), SetNumber("c/b", 1)}); }

  // Reads one document, which also locks it.
  std::optional<int64_t> Read(const std::string& transaction, std::string_view path = "c/a") {
    const Result<model::Record> record = test_.Get(request::InTransaction{transaction}, path);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    if (!record.ok() || !*record) return std::nullopt;
    return NumberOf(**record);
  }
  TestEngine::Views StartRead(const std::string& transaction, std::string_view path = "c/a") {
    return test_.StartRead(request::InTransaction{transaction}, TestEngine::Documents({path}));
  }
  std::string BeginReading(std::string_view path = "c/a") {
    const std::string transaction = test_.Begin();
    Read(transaction, path);
    return transaction;
  }
  std::optional<int64_t> Number(std::string_view path = "c/a") {
    const model::Record record = *test_.GetNewest(path);
    return record ? std::optional(NumberOf(*record)) : std::nullopt;
  }
  // True if a write from outside transactions has to wait.
  bool IsLocked(std::string_view path) {
    const auto commit = test_.StartCommit({Merge(path, {}, {})});
    // Waiting commits give up; others are not affected.
    test_.Pass(kLockWaitMax);
    const Status status = commit.Take().status();
    EXPECT_TRUE(status.ok() || status == kLockTimeout) << status.ToString();
    return !status.ok();
  }

  Metrics metrics_;
  TestEngine test_{Options()};

 private:
  EngineOptions Options() {
    EngineOptions options;
    options.metrics = &metrics_;
    return options;
  }
};

TEST_F(EngineTransactionTest, ALockIsOneDatabases) {
  BeginReading();
  const documents::DatabaseHandle handle = test_.engine().OpenDatabase(NameDatabase("other"));
  documents::Database& other = *handle;
  TestEngine::Commits commit;
  test_.engine().Commit(other, {SetNumber("c/a", 1)}, "", InlineExecutor::Get(), commit.Callback());
  EXPECT_TRUE(commit.Take().ok());
}

TEST_F(EngineTransactionTest, AWaitEndsInAbort) {
  const std::string transaction = BeginReading();
  const auto outside = test_.StartCommit({SetNumber("c/a", 2)});
  test_.Pass(kLockWaitMax - 1ms);
  EXPECT_FALSE(outside.IsThere());
  test_.Pass(1ms);
  EXPECT_EQ(outside.Take().status(), kLockTimeout);
  EXPECT_EQ(Number(), 1);
  test_.MustCommit(SetNumber("c/a", 3), transaction);  // The lock holder is not affected.
  EXPECT_EQ(Number(), 3);
}

TEST_F(EngineTransactionTest, AnIdleTransactionEndsAfterAMinute) {
  const std::string transaction = BeginReading();
  test_.Pass(transactions::kTransactionIdleMax);
  EXPECT_FALSE(IsLocked("c/a"));
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 3), transaction).status(), kTransactionOver);
}

TEST_F(EngineTransactionTest, AnIdleTransactionYieldsToARetry) {
  const std::string idle = BeginReading();
  const std::string retry = test_.Begin(RetryOf(test_.Begin()));
  const auto read = StartRead(retry);
  test_.Pass(transactions::kYieldsToRetriesAfter - 1ms);
  EXPECT_FALSE(read.IsThere());
  test_.Pass(1ms);
  EXPECT_TRUE(read.Take().ok());
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 3), idle).status(), kContention);
  test_.MustCommit(SetNumber("c/a", 2), retry);
}

TEST_F(EngineTransactionTest, AnIdleTransactionYieldsToAWriteFromOutsideLater) {
  const std::string idle = BeginReading();
  for (auto idle_for = kLockWaitMax; idle_for < transactions::kYieldsAfter;
       idle_for += kLockWaitMax) {
    EXPECT_TRUE(IsLocked("c/a"));
  }
  EXPECT_FALSE(IsLocked("c/a"));
  EXPECT_EQ(StartRead(idle).Take().status(), kContention);
}

TEST_F(EngineTransactionTest, AnIdleTransactionThatNobodyWaitsForKeepsItsLocks) {
  const std::string idle = BeginReading();
  const std::string retry = test_.Begin(RetryOf(test_.Begin()));
  Read(retry, "c/b");
  test_.Pass(transactions::kTransactionIdleMax - 1ms);
  test_.MustCommit(SetNumber("c/a", 2), idle);
}

// However long a client takes for each attempt, within the limit for idle transactions: it loses to
// others a few times, but not forever.
TEST_F(EngineTransactionTest, ASlowClientGetsThrough) {
  for (const std::chrono::seconds pause : {4s, 10s, 40s}) {
    SCOPED_TRACE(testing::Message() << "with pauses of " << pause.count() << " s");
    const std::string path = "c/slow" + std::to_string(pause.count());
    std::string slow = BeginReading(path);
    std::vector<TestEngine::Views> rivals;
    for (int attempts = 1;; ++attempts) {
      for (auto passed = 0s; passed < pause; passed += 1s) {
        rivals.push_back(StartRead(test_.Begin(RetryOf(test_.Begin())), path));
        test_.Pass(1s);
      }
      if (test_.Commit(SetNumber(path, attempts), slow).ok()) break;
      ASSERT_LT(attempts, 5);
      slow = test_.Begin(RetryOf(slow));
      const auto read = StartRead(slow, path);
      for (auto waited = 0s; waited < kLockWaitMax && !read.IsThere(); waited += 1s) {
        test_.Pass(1s);
      }
      ASSERT_TRUE(read.Take().ok());
    }
  }
}

TEST_F(EngineTransactionTest, AViewInUseKeepsItsTransaction) {
  const std::string transaction = test_.Begin();
  {
    const auto view =
        test_.Read(request::InTransaction{transaction}, TestEngine::Documents({"c/a"}));
    test_.Pass(200s);
    EXPECT_TRUE((*view)->Get(Path("c/a")).ok());
  }
  test_.Pass(59s);
  EXPECT_TRUE(test_.Commit(SetNumber("c/a", 2), transaction).ok());
}

TEST_F(EngineTransactionTest, AReadWaitsForTheCommitUnderWay) {
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&gate] { gate.Pass(); });
  const auto commit = test_.StartCommit({SetNumber("c/a", 2)});
  gate.AwaitArrivals(1);
  const std::string transaction = test_.Begin();
  const auto read = StartRead(transaction);
  const auto scan =
      test_.StartRead(request::InTransaction{transaction}, TestEngine::Collection("c"));
  EXPECT_FALSE(read.IsThere());
  EXPECT_FALSE(scan.IsThere());
  EXPECT_EQ(Read(transaction, "d/x"), std::nullopt);  // Something else.
  gate.Open();
  EXPECT_TRUE(commit.Take().ok());
  const auto view = read.Take();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(NumberOf(**(*view)->Get(Path("c/a"))), 2);
  const auto scanned = scan.Take();
  ASSERT_TRUE(scanned.ok());
  EXPECT_EQ(NumberOf(ScanAll(**scanned)->at("c/a")), 2);
}

TEST_F(EngineTransactionTest, ALoserSeesNothingThatDoesNotFitItsReads) {
  const std::string older = test_.Begin();
  const std::string younger = BeginReading("c/a");
  // The older one proceeds when the younger one has its lock, but before it reads.
  std::atomic<bool> is_first = true;
  test_.store().BeforeSnapshots([&] {
    if (!is_first.exchange(false)) return;
    test_.MustCommit({SetNumber("c/a", 2), SetNumber("c/b", 2)}, older);
  });
  EXPECT_EQ(test_.Read(request::InTransaction{younger}, TestEngine::Collection("c")).status(),
            kContention);
}

TEST_F(EngineTransactionTest, AReadThatWaitsTooLongEndsTheTransaction) {
  const std::string holder = test_.Begin(RetryOf(test_.Begin()));
  Read(holder);
  const std::string reader = BeginReading("c/b");
  const auto read = StartRead(reader);  // A retry's read excludes others.
  EXPECT_FALSE(read.IsThere());
  test_.Pass(kLockWaitMax);
  EXPECT_EQ(read.Take().status(), kLockTimeout);
  EXPECT_EQ(test_.Commit(SetNumber("c/b", 2), reader).status(), kContention);
  EXPECT_EQ(test_.Commit(SetNumber("c/b", 2), reader).status(), kTransactionOver);
  EXPECT_FALSE(IsLocked("c/b"));
}

class LeavingCallerTest : public EngineTransactionTest {
 protected:
  Caller caller() const { return {.left = left_.get_token()}; }
  // A transaction whose reads exclude all others.
  std::string BeginAlone(std::string_view path = "c/a") {
    const std::string transaction = test_.Begin(RetryOf(test_.Begin()));
    Read(transaction, path);
    return transaction;
  }

  std::stop_source left_;
};

TEST_F(LeavingCallerTest, DoesNotWaitForLocks) {
  BeginAlone();
  const std::string reader = BeginReading("c/b");
  const request::Consistency in_reader = request::InTransaction{reader};
  const auto document = test_.StartRead(in_reader, TestEngine::Documents({"c/a"}), caller());
  const auto scan = test_.StartRead(in_reader, TestEngine::Collection("c"), caller());
  const auto query = test_.StartQuery(*query::Normalize({{NameDatabase(), ""}, "c"}), in_reader,
                                      QueryAnswer::kDocuments, caller());
  while (MetricValue(metrics_, "hearth_lock_waiting_requests") != 3) std::this_thread::yield();
  left_.request_stop();
  EXPECT_EQ(document.Take().status().code(), Code::kCancelled);
  EXPECT_EQ(scan.Take().status().code(), Code::kCancelled);
  EXPECT_EQ(query.Take().status().code(), Code::kCancelled);
  EXPECT_EQ(MetricValue(metrics_, "hearth_lock_waiting_requests"), 0);
  // It still has what it had before, and no more.
  EXPECT_FALSE(IsLocked("c/c"));
  EXPECT_TRUE(IsLocked("c/b"));
  EXPECT_TRUE(test_.Commit(SetNumber("c/b", 2), reader).ok());
}

TEST_F(LeavingCallerTest, LeavesNoTransactionThatBeganWithTheRead) {
  BeginAlone();
  const auto read =
      test_.StartRead(request::NewTransaction{}, TestEngine::Documents({"c/b", "c/a"}), caller());
  EXPECT_EQ(MetricValue(metrics_, "hearth_open_transactions"), 3);
  left_.request_stop();
  EXPECT_EQ(read.Take().status().code(), Code::kCancelled);
  EXPECT_EQ(MetricValue(metrics_, "hearth_open_transactions"), 2);
}

// The lock may become free when the caller leaves: in any order, the read is answered once, and
// nothing stays behind.
TEST_F(LeavingCallerTest, MayLeaveAsItGetsItsLock) {
  const auto rounds = static_cast<int>(TestRounds(3'000));
  for (int round = 0; round < rounds; ++round) {
    const std::string holder = BeginAlone();
    const std::string reader = test_.Begin();
    std::stop_source left;
    const auto scope =
        round % 2 == 0 ? TestEngine::Documents({"c/a"}) : TestEngine::Collection("c");
    std::atomic<int> ready = 0;
    const auto start_together = [&ready] {
      ++ready;
      while (ready < 3) std::this_thread::yield();
    };
    std::thread leaving([&] {
      start_together();
      left.request_stop();
    });
    std::thread releasing([&] {
      start_together();
      EXPECT_EQ(test_.Rollback(holder), Status());
    });
    start_together();
    const Status status =
        test_.StartRead(request::InTransaction{reader}, scope, {.left = left.get_token()})
            .Take()
            .status();
    EXPECT_TRUE(status.ok() || status.code() == Code::kCancelled) << status.ToString();
    leaving.join();
    releasing.join();
    EXPECT_EQ(test_.Rollback(reader), Status());
    ASSERT_FALSE(IsLocked("c/a")) << "in round " << round;
  }
}

TEST_F(EngineTransactionTest, OfFiftyOnOneCounterEachNeedsTwoAttemptsAtMost) {
  Dice dice(TestSeed());
  std::vector<std::string> transactions(50);
  for (std::string& transaction : transactions) transaction = BeginReading();
  const auto shuffle = [&] {
    for (size_t i = transactions.size(); i > 1; --i) {
      std::swap(transactions[i - 1], transactions[dice.Below(i)]);
    }
  };
  const std::string oldest = transactions[0];
  shuffle();
  std::vector<std::pair<std::string, TestEngine::Commits>> commits;
  for (const std::string& transaction : transactions) {
    commits.emplace_back(transaction,
                         test_.StartCommit({Transform("c/a", {Increment("n", 1)})}, transaction));
  }
  for (const auto& [transaction, commit] : commits) {
    EXPECT_EQ(commit.Take().status(), transaction == oldest ? Status() : kContention);
  }
  std::erase(transactions, oldest);
  shuffle();
  std::vector<std::pair<std::string, TestEngine::Views>> reads;
  for (const std::string& transaction : transactions) {
    const std::string retry = test_.Begin(RetryOf(transaction));
    reads.emplace_back(retry, StartRead(retry));
  }
  for (const auto& [retry, read] : reads) {
    ASSERT_TRUE(read.Take().ok());
    test_.MustCommit(Transform("c/a", {Increment("n", 1)}), retry);
  }
  EXPECT_EQ(Number(), 51);
}

TEST_F(EngineTransactionTest, AFailedStoreEndsTheTransaction) {
  const std::string transaction = BeginReading();
  test_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 2), transaction).status(),
            Status(Code::kUnavailable, "disk"));
  EXPECT_FALSE(IsLocked("c/a"));
  EXPECT_EQ(test_.Rollback(transaction), Status());
}

TEST_F(EngineTransactionTest, NoTransactionOutlivesItsEngine) {
  const std::string before = test_.Begin();
  test_.Restart();
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 2), before).status(), kTransactionOver);
  EXPECT_EQ(Number(), 1);
}

TEST_F(EngineTransactionTest, AFailedFirstReadLeavesNoTransactionBehind) {
  // The client never received its id, so it could not end the transaction.
  test_.store().FailGet(1, Status(Code::kUnavailable, "disk"));
  EXPECT_EQ(test_.Read(request::NewTransaction{}, TestEngine::Collection("c")).status(),
            Status(Code::kUnavailable, "disk"));
  EXPECT_FALSE(IsLocked("c/a"));

  BeginReading("d/x");
  const auto waiting = test_.StartCommit({SetNumber("d/x", 1)});
  const auto read =
      test_.StartRead(request::NewTransaction{}, TestEngine::Documents({"c/b", "d/x"}));
  EXPECT_FALSE(read.IsThere());
  test_.Pass(kLockWaitMax);
  EXPECT_EQ(waiting.Take().status(), kLockTimeout);
  EXPECT_EQ(read.Take().status(), kLockTimeout);
  EXPECT_FALSE(IsLocked("c/b"));
}

// A client may roll back while its reads are in progress: in any order, nothing stays locked.
TEST_F(EngineTransactionTest, AReadThatComesTooLateLeavesNoLock) {
  const auto rounds = static_cast<int>(TestRounds(3'000));
  for (int round = 0; round < rounds; ++round) {
    const std::string transaction = test_.Begin();
    std::atomic<int> ready = 0;
    const auto start_together = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    std::thread reader([&] {
      start_together();
      const auto view = StartRead(transaction).Take();
      EXPECT_TRUE(view.ok() || view.status() == kTransactionOver || view.status() == kContention)
          << view.status().ToString();
    });
    start_together();
    if (round % 2 == 0) {
      EXPECT_EQ(test_.Rollback(transaction), Status());
    } else {
      EXPECT_TRUE(test_.Commit(SetNumber("c/b", round), transaction).ok());
    }
    reader.join();
    ASSERT_FALSE(IsLocked("c/a")) << "in round " << round;
  }
}

}  // namespace
}  // namespace hearth::engine
