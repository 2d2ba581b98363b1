// Reads through the whole engine: the present, the past, and moments while commits are in progress.
#include <gtest/gtest.h>

#include <stop_token>
#include <thread>

#include "engine/engine.h"
#include "engine/listing.h"
#include "engine/testing/test_engine.h"
#include "transactions/testing/transactions.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;
using Documents = std::map<std::string, std::string>;

const Status kInFuture = InvalidArgument("The requested 'read_time' cannot be in the future.");
const Status kTooOld(Code::kFailedPrecondition, "The requested 'read_time' is too old.");

Timestamp Before(Timestamp time) { return Timestamp::FromMicros(time.micros() - 1); }

class EngineReadTest : public testing::Test {
 protected:
  // The number in c/a at some moment; nullopt if there is no such document.
  std::optional<int64_t> NumberAt(const request::Consistency& consistency,
                                  std::string_view path = "c/a") {
    const Result<model::Record> record = test_.Get(consistency, path);
    EXPECT_TRUE(record.ok()) << record.status().ToString();
    if (!record.ok() || !*record) return std::nullopt;
    return NumberOf(**record);
  }
  Status ReadStatus(const request::Consistency& consistency) {
    return test_.Read(consistency, TestEngine::Documents({"c/a"})).status();
  }
  Documents ScanAt(const request::Consistency& consistency) {
    const auto view = test_.Read(consistency, TestEngine::Everything());
    EXPECT_TRUE(view.ok()) << view.status().ToString();
    return *ScanAll(**view);
  }

  TestEngine test_;
};

TEST_F(EngineReadTest, ThePresentHasTheWallClocksTime) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(5s);
  for (const ReadScope& scope : {TestEngine::Documents({"c/a"}), TestEngine::Everything()}) {
    const auto view = test_.Read(request::Now{}, scope);
    ASSERT_TRUE(view.ok());
    EXPECT_EQ((*view)->read_time().micros(), test_.now());
    EXPECT_EQ((*view)->new_transaction(), "");
    EXPECT_EQ(NumberOf(**(*view)->Get(Path("c/a"))), 1);
  }
}

TEST_F(EngineReadTest, OneViewIsOneMoment) {
  const Timestamp first = test_.MustCommit({SetNumber("c/a", 1), SetNumber("c/b", 1)});
  const auto present = *test_.Read(request::Now{}, TestEngine::Documents({"c/a", "c/b", "c/c"}));
  const auto scanned = *test_.Read(request::Now{}, TestEngine::Everything());
  const Documents before = *ScanAll(*scanned);
  test_.MustCommit({SetNumber("c/a", 2), Delete("c/b"), SetNumber("c/c", 2)});
  for (const ReadView* view : {present.get(), scanned.get()}) {
    EXPECT_EQ(NumberOf(**view->Get(Path("c/a"))), 1);
    EXPECT_EQ(NumberOf(**view->Get(Path("c/b"))), 1);
    EXPECT_EQ(*view->Get(Path("c/c")), nullptr);
  }
  EXPECT_EQ(*ScanAll(*scanned), before);
  EXPECT_EQ(ScanAt(first), before);
}

TEST_F(EngineReadTest, ReadTimesHaveLimits) {
  test_.clock().Advance(24h);
  const int64_t now = test_.now();
  const int64_t hour = std::chrono::microseconds(1h).count();
  const auto at = [this](int64_t micros) { return ReadStatus(Timestamp::FromMicros(micros)); };
  EXPECT_EQ(at(now), Status());
  EXPECT_EQ(at(now + 1), kInFuture);
  EXPECT_EQ(at(now - hour), Status());
  EXPECT_EQ(at(now - hour - 1), kTooOld);
  EXPECT_EQ(at(1), kTooOld);
  for (const int64_t micros : {int64_t{0}, int64_t{-1}}) {
    EXPECT_EQ(at(micros), InvalidArgument("Only timestamps past epoch are supported."));
  }
  // The same for transactions.
  const auto begin = [this](int64_t micros) {
    return test_.engine()
        .BeginTransaction(test_.database(), ReadOnly(Timestamp::FromMicros(micros)))
        .status();
  };
  EXPECT_EQ(begin(now), Status());
  EXPECT_EQ(begin(now + 1), kInFuture);
  EXPECT_EQ(begin(now - hour - 1), kTooOld);
  EXPECT_EQ(ReadStatus(request::NewTransaction{ReadOnly(Timestamp::FromMicros(now + 1))}),
            kInFuture);
}

TEST_F(EngineReadTest, ACommitTimeAheadOfTheClockIsNotTheFuture) {
  const Timestamp commit = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().SetWall(kTestStartMicros - 3'600'000'000);
  EXPECT_EQ(NumberAt(commit), 1);
  const Timestamp next = test_.MustCommit(SetNumber("c/a", 2));
  EXPECT_EQ(NumberAt(next), 2);
}

TEST_F(EngineReadTest, AReadTimeThatWasHandedOutIsNotTheFuture) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(60s);
  const Timestamp read_time =
      (*test_.Read(request::Now{}, TestEngine::Documents({"c/a"})))->read_time();
  test_.clock().SetWall(kTestStartMicros);
  EXPECT_EQ(ReadStatus(read_time), Status());
}

TEST_F(EngineReadTest, HistoryEnds) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  const Timestamp second = test_.MustCommit(SetNumber("c/a", 2));
  test_.Pass(1h);
  EXPECT_EQ(NumberAt(second), 2);
  test_.Pass(1s);
  EXPECT_EQ(ReadStatus(first), kTooOld);
  test_.Pass(2h);
  const Timestamp third = test_.MustCommit(SetNumber("c/a", 3));  // Drops old history.
  EXPECT_EQ(NumberAt(third), 3);
  EXPECT_EQ(NumberAt(Before(third)), 2);
  EXPECT_EQ(NumberAt(request::Now{}), 3);
}

TEST_F(EngineReadTest, HistoryOutlivesATransactionThatBeganJustInside) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1s);
  test_.MustCommit(SetNumber("c/a", 2));
  test_.Pass(1h - 1s);
  const std::string transaction = test_.Begin(ReadOnly(first));
  for (std::chrono::seconds age = 0s; age < 250s; age += 50s) {
    test_.Pass(50s);
    test_.MustCommit(SetNumber("c/b", age.count()));  // The store drops history with its commits.
    EXPECT_EQ(NumberAt(request::InTransaction{transaction}), 1);
  }
}

TEST_F(EngineReadTest, LongerHistoryIfAskedFor) {
  EngineOptions options;
  options.history = 48h;
  TestEngine test(options);
  const Timestamp first = test.MustCommit(SetNumber("c/a", 1));
  test.MustCommit(SetNumber("c/a", 2));
  test.Pass(47h);
  test.MustCommit(SetNumber("c/a", 3));
  EXPECT_EQ(NumberOf(**test.Get(first, "c/a")), 1);
}

TEST_F(EngineReadTest, AClockThatJumpedAheadDoesNotFalsifyThePast) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1s);
  test_.MustCommit(SetNumber("c/a", 2));
  test_.clock().SetWall(kTestStartMicros + 86'400'000'000);
  test_.engine().Maintain();
  test_.clock().SetWall(kTestStartMicros + 2'000'000);
  test_.MustCommit(SetNumber("c/b", 1));
  // However much of the history is left, the answer is 1 or "too old".
  const Result<model::Record> record = test_.Get(first, "c/a");
  if (record.ok()) {
    EXPECT_EQ(NumberOf(**record), 1);
  } else {
    EXPECT_EQ(record.status(), kTooOld);
  }
}

TEST_F(EngineReadTest, APastMomentIncludesWhatIsUnderWayToIt) {
  test_.MustCommit(SetNumber("c/a", 1));
  Gate gate;
  gate.Close();
  test_.store().BeforeCommits([&gate] { gate.Pass(); });
  test_.clock().Advance(1s);
  const auto commit = test_.StartCommit({SetNumber("c/a", 2)});
  gate.AwaitArrivals(1);

  // The commit is not yet part of the present, and these reads do not wait for it.
  EXPECT_EQ(NumberAt(request::Now{}), 1);
  EXPECT_EQ(NumberOf(**test_.GetNewest("c/a")), 1);
  EXPECT_EQ(ScanAt(request::Now{}).size(), 1u);
  EXPECT_LT((*test_.Read(request::Now{}, TestEngine::Everything()))->read_time().micros(),
            test_.now());
  // A read at its own moment waits for it; the moment before is settled.
  const Timestamp moment = Timestamp::FromMicros(test_.now());
  const auto waiting = test_.StartRead(moment, TestEngine::Documents({"c/a"}));
  EXPECT_FALSE(waiting.IsThere());
  EXPECT_EQ(NumberAt(Timestamp::FromMicros(kTestStartMicros)), 1);

  gate.Open();
  EXPECT_EQ(commit.Take()->commit_time, moment);
  const auto view = waiting.Take();
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(NumberOf(**(*view)->Get(Path("c/a"))), 2);
}

TEST_F(EngineReadTest, ManyReadsCannotWaitForWhatIsUnderWay) {
  EngineOptions options;
  options.readers.threads = 1;
  options.readers.queued_tasks_max = 1;
  TestEngine test(options);
  Gate gate;
  gate.Close();
  test.store().BeforeCommits([&gate] { gate.Pass(); });
  const auto commit = test.StartCommit({SetNumber("c/a", 1)});
  gate.AwaitArrivals(1);
  const Timestamp moment = Timestamp::FromMicros(test.now());
  Gate busy;
  busy.Close();
  EXPECT_EQ(test.engine().RunOnReaders(ClientKey::kInternal, [&busy] { busy.Pass(); }), Status());
  busy.AwaitArrivals(1);
  const auto queued = test.StartRead(moment, TestEngine::Documents({"c/a"}));
  const auto refused = test.StartRead(moment, TestEngine::Documents({"c/a"}));
  EXPECT_EQ(refused.Take().status(),
            Status(Code::kResourceExhausted, "too many reads are waiting for the disk"));
  gate.Open();
  busy.Open();
  EXPECT_TRUE(commit.Take().ok());
  EXPECT_TRUE(queued.Take().ok());
}

// Between the moment when a commit is in the store and the moment when it is published, every kind
// of read must give the same answer: once one reader has seen the commit, all readers do.
TEST_F(EngineReadTest, AllReadsAgreeWhileACommitIsBeingPublished) {
  test_.MustCommit({SetNumber("c/changed", 1), SetNumber("c/deleted", 1)});
  for (const bool is_cached : {true, false}) {
    SCOPED_TRACE(is_cached);
    if (!is_cached) test_.Restart();
    EXPECT_EQ(NumberAt(request::Now{}, is_cached ? "c/changed" : "c/other"),
              is_cached ? std::optional<int64_t>(1) : std::nullopt);
    bool was_run = false;
    test_.store().AfterCommits([&] {
      was_run = true;
      for (const char* path : {"c/changed", "c/deleted", "c/new"}) {
        SCOPED_TRACE(path);
        const model::Record newest = *test_.GetNewest(path);
        const auto in_memory = test_.engine().GetNewestIfInMemory(test_.database(), Path(path));
        const model::Record single = *test_.Get(request::Now{}, path);
        const auto view = *test_.Read(request::Now{}, TestEngine::Everything());
        const Documents scanned = *ScanAll(*view);
        const model::Record in_view = *view->Get(Path(path));
        const std::string expected = single ? *single : "none";
        EXPECT_EQ(newest ? *newest : "none", expected);
        if (in_memory) {
          EXPECT_EQ(**in_memory ? ***in_memory : "none", expected);
        }
        EXPECT_EQ(in_view ? *in_view : "none", expected);
        EXPECT_EQ(scanned.contains(path) ? scanned.at(path) : "none", expected);
      }
    });
    test_.MustCommit({SetNumber("c/changed", 2), Delete("c/deleted"), SetNumber("c/new", 2)});
    EXPECT_TRUE(was_run);
    test_.store().AfterCommits(nullptr);
    EXPECT_EQ(NumberAt(request::Now{}, "c/changed"), 2);
    EXPECT_EQ(NumberAt(request::Now{}, "c/deleted"), std::nullopt);
    EXPECT_EQ(NumberAt(request::Now{}, "c/new"), 2);
    test_.MustCommit({SetNumber("c/changed", 1), SetNumber("c/deleted", 1), Delete("c/new")});
  }
}

TEST_F(EngineReadTest, CommitsThatStoreNothingDoNotHoldThePresentBack) {
  test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1h);
  const auto expect_present = [this] {
    test_.clock().Advance(1s);
    EXPECT_EQ((*test_.Read(request::Now{}, TestEngine::Everything()))->read_time().micros(),
              test_.now());
    EXPECT_EQ((*test_.Read(request::Now{}, TestEngine::Documents({})))->read_time().micros(),
              test_.now());
  };
  EXPECT_TRUE(test_.Commit(SetNumber("c/a", 1)).ok());  // Changes nothing.
  expect_present();
  EXPECT_EQ(test_.Commit(IfMissing(SetNumber("c/a", 2))).status().code(), Code::kAlreadyExists);
  expect_present();
  test_.store().FailCommit(1, storage::kDataLoss);
  EXPECT_EQ(test_.Commit(SetNumber("c/a", 2)).status(), storage::kDataLoss);
  expect_present();
}

TEST_F(EngineReadTest, ReadTimesNeverGoBack) {
  Timestamp last;
  const auto expect_later = [&] {
    for (const ReadScope& scope : {TestEngine::Documents({}), TestEngine::Everything()}) {
      const Timestamp time = (*test_.Read(request::Now{}, scope))->read_time();
      EXPECT_GE(time, last);
      last = time;
    }
  };
  expect_later();
  test_.MustCommit(SetNumber("c/a", 1));
  expect_later();
  test_.clock().Advance(1s);
  expect_later();
  test_.clock().SetWall(kTestStartMicros);
  expect_later();
  test_.store().AfterCommits(expect_later);
  const Timestamp commit = test_.MustCommit(SetNumber("c/a", 2));
  expect_later();
  EXPECT_GE(last, commit);
}

TEST_F(EngineReadTest, KnowsWhatIsInMemory) {
  TestEngine test({}, storage::FaultyStore::Values::kOnDisk);
  const Timestamp first = test.MustCommit(SetNumber("c/a", 1));
  test.MustCommit(SetNumber("c/a", 2));
  test.Restart();
  const auto in_memory = [&test] {
    return test.engine().GetNewestIfInMemory(test.database(), Path("c/a"));
  };
  const auto view = *test.Read(request::Now{}, TestEngine::Documents({"c/a"}));
  const auto past = *test.Read(first, TestEngine::Documents({"c/a"}));
  EXPECT_FALSE(in_memory().has_value());
  EXPECT_FALSE(view->GetIfInMemory(Path("c/a")).has_value());
  EXPECT_TRUE(test.GetNewest("c/a").ok());  // Now it is cached.
  EXPECT_EQ(NumberOf(***in_memory()), 2);
  EXPECT_EQ(NumberOf(***view->GetIfInMemory(Path("c/a"))), 2);
  EXPECT_FALSE(past->GetIfInMemory(Path("c/a")).has_value());  // The past is on disk.
  EXPECT_EQ(NumberOf(**past->Get(Path("c/a"))), 1);
}

TEST_F(EngineReadTest, ADamagedPastIsNotAbsence) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.MustCommit(SetNumber("c/a", 2));
  const auto view = *test_.Read(first, TestEngine::Everything());
  test_.store().FailScan(1, storage::kDataLoss);
  EXPECT_EQ(view->Get(Path("c/a")).status(), storage::kDataLoss);
  test_.store().FailScan(2, storage::kDataLoss);
  EXPECT_EQ(ScanAll(*view).status(), storage::kDataLoss);
  test_.store().FailGet(1, storage::kDataLoss);  // The newest commit's time.
  EXPECT_EQ(test_.Read(request::Now{}, TestEngine::Everything()).status(), storage::kDataLoss);

  storage::Batch batch;
  batch.Put(storage::Space::kHistory,
            documents::HistoryKey(model::DocumentKey(test_.database().number, Path("c/b")),
                                  Timestamp::FromMicros(first.micros() + 1)),
            "short");
  ASSERT_EQ(test_.store().Commit(batch), Status());
  EXPECT_EQ(test_.Get(first, "c/b").status().code(), Code::kDataLoss);
}

constexpr ClientKey kA{1};
constexpr ClientKey kB{2};

// The only reader is busy, so that reads wait in the queue, which has room for eight.
class QueuedReadTest : public testing::Test {
 protected:
  QueuedReadTest() {
    busy_.Close();
    EXPECT_EQ(test_.engine().RunOnReaders(ClientKey::kInternal, [this] { busy_.Pass(); }),
              Status());
    busy_.AwaitArrivals(1);
  }
  ~QueuedReadTest() override { busy_.Open(); }

  // Starts a scan; adds `name` to the order when it has its view.
  Outcome<Status> Start(Executor& executor, Caller caller, char name = ' ') {
    Outcome<Status> outcome;
    test_.engine().Read(
        test_.database(), request::Now{}, TestEngine::Everything(), executor,
        [this, name, told = outcome.Callback()](const Result<std::unique_ptr<ReadView>>& view) {
          order_ += name;
          told(view.status());
        },
        std::move(caller));
    return outcome;
  }
  static EngineOptions OneReader() {
    EngineOptions options;
    options.readers.threads = 1;
    options.readers.queued_tasks_max = 8;
    return options;
  }

  Gate busy_;
  std::string order_;  // Written by the only reader.
  TestEngine test_{OneReader()};
  Executor* const executors_[2] = {&test_.engine().readers(), &InlineExecutor::Get()};
};

TEST_F(QueuedReadTest, ScansWaitForTheirClientsTurn) {
  std::vector<Outcome<Status>> outcomes;
  for (Executor* const executor : executors_) {
    for (int i = 0; i < 2; ++i) outcomes.push_back(Start(*executor, {kA}, 'a'));
  }
  outcomes.push_back(Start(*executors_[0], {kB}, 'b'));
  busy_.Open();
  for (const Outcome<Status>& outcome : outcomes) EXPECT_EQ(outcome.Take(), Status());
  EXPECT_EQ(order_, "abaaa");
}

TEST_F(QueuedReadTest, AClientGetsItsShareOfTheQueue) {
  std::vector<Outcome<Status>> outcomes;
  for (Executor* const executor : executors_) {
    for (int i = 0; i < 2; ++i) outcomes.push_back(Start(*executor, {kA}));
  }
  std::vector<Outcome<Status>> refused;
  for (Executor* const executor : executors_) refused.push_back(Start(*executor, {kA}));
  outcomes.push_back(Start(*executors_[0], {kB}));
  busy_.Open();
  for (const Outcome<Status>& outcome : outcomes) EXPECT_EQ(outcome.Take(), Status());
  for (const Outcome<Status>& outcome : refused) {
    EXPECT_EQ(outcome.Take().code(), Code::kResourceExhausted);
  }
}

TEST_F(QueuedReadTest, AScanWhoseClientHasLeftIsNotStarted) {
  size_t snapshots = 0;
  test_.store().BeforeSnapshots([&snapshots] { ++snapshots; });
  std::stop_source source;
  const Outcome<Status> left = Start(*executors_[0], {kA, source.get_token()});
  source.request_stop();
  busy_.Open();
  EXPECT_EQ(left.Take().code(), Code::kCancelled);
  EXPECT_EQ(snapshots, 0u);
}

// Work that was admitted goes on, though its client may not begin any more.
TEST_F(QueuedReadTest, ATaskOnAReaderIsNotRefusedAView) {
  Outcome<Status> outcome;
  ASSERT_EQ(test_.engine().RunOnReaders(
                kA,
                [this, told = outcome.Callback()] {
                  test_.engine().Read(test_.database(), request::Now{}, TestEngine::Everything(),
                                      test_.engine().readers(),
                                      [told](const Result<std::unique_ptr<ReadView>>& view) {
                                        told(view.status());
                                      },
                                      {kA});
                }),
            Status());
  while (test_.engine().RunOnReaders(kA, [] {}).ok()) {
  }
  busy_.Open();
  EXPECT_EQ(outcome.Take(), Status());
}

TEST_F(EngineReadTest, AReadOfOneDocumentEndsWhenItsMomentLeavesTheHistory) {
  const Timestamp first = test_.MustCommit(SetNumber("c/a", 1));
  test_.clock().Advance(1s);
  test_.MustCommit(SetNumber("c/a", 2));
  const auto view = *test_.Read(first, TestEngine::Documents({"c/a"}));
  test_.Pass(60min);
  EXPECT_EQ(NumberOf(**view->Get(Path("c/a"))), 1);
  test_.Pass(6min);  // The slack.
  EXPECT_EQ(view->Get(Path("c/a")).status().code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace hearth::engine
