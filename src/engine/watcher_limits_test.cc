// What listeners may hold: beyond their limits, targets end or start over, and all others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/testing/gate.h"
#include "base/testing/metric_value.h"
#include "engine/testing/test_engine.h"
#include "engine/testing/test_watch.h"
#include "watch/watcher.h"

namespace hearth::engine {
namespace {

using model::Timestamp;
using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using watch::Watcher;
using Speed = WatchClient::Speed;

constexpr size_t kBudgetBytes = 16 * 1024 * 1024;

// A client that leaves while the watcher works: it is gone when it is looked for the nth time.
class LeavingSink final : public watch::WatchSink {
 public:
  struct State {
    Mutex mutex;
    CondVar changed;
    size_t looks_left GUARDED_BY(mutex) = 0;
    size_t document_events GUARDED_BY(mutex) = 0;
  };

  explicit LeavingSink(std::shared_ptr<State> state) : state_(std::move(state)) {}

  void Send(const request::TargetEvent&) override {}
  void Send(const request::DocumentEvent&) override { NoteDocument(); }
  void Send(const request::DocumentGoneEvent&) override { NoteDocument(); }
  void Send(const request::ExistenceFilterEvent&) override {}
  void Flush() override {}
  bool IsFull() const override { return false; }
  void WhenWritable(Task callback) override { callback(); }
  void OnRequestTaken(size_t) override {}
  void End(const Status&) override {}
  bool closed() const override {
    MutexLock lock(state_->mutex);
    if (state_->looks_left > 0) --state_->looks_left;
    state_->changed.NotifyAll();
    return state_->looks_left == 0;
  }

 private:
  void NoteDocument() {
    MutexLock lock(state_->mutex);
    ++state_->document_events;
    state_->changed.NotifyAll();
  }

  const std::shared_ptr<State> state_;  // Shared with the test.
};

class WatcherLimitsTest : public testing::Test {
 protected:
  void Start(watch::WatcherOptions options = {}, EngineOptions engine_options = {}) {
    options.memory = &budget_;
    engine_options.watchers = options;
    test_ = std::make_unique<TestEngine>(engine_options);
    watch_ = std::make_unique<TestWatch>(*test_);
  }
  ~WatcherLimitsTest() override {
    EXPECT_THAT(watch_->client().Now().faults, IsEmpty());
    watch_->Close();
    watch_.reset();
    test_->Close();
    EXPECT_EQ(budget_.used_bytes(), taken_);
  }

  void TakeMemory(size_t bytes) {
    budget_.Take(bytes);
    taken_ += bytes;
  }
  Timestamp Put(const std::string& path, int64_t number) {
    return test_->MustCommit(SetNumber(path, number));
  }
  void PutNumbered(int64_t count) {
    std::vector<request::Write> writes;
    for (int64_t n = 0; n < count; ++n) writes.push_back(SetNumber("c/d" + std::to_string(n), n));
    test_->MustCommit(std::move(writes));
  }
  // Makes the client stop reading, commits `writes` one by one, and lets it go on.
  void WhileStopped(const std::vector<request::Write>& writes) {
    client().SetSpeed(Speed::kStopped);
    Put("c/first", ++number_);
    client().Await([](const WatchClient::State& state) { return state.waits_for_reader; });
    for (const request::Write& write : writes) test_->MustCommit(write);
    TestWatch other(*test_);
    other.AwaitFeed();
    client().SetSpeed(Speed::kReads);
  }
  WatchClient& client() { return watch_->client(); }

  MemoryBudget budget_{kBudgetBytes};
  size_t taken_ = 0;
  int64_t number_ = 0;
  std::unique_ptr<TestEngine> test_;
  std::unique_ptr<TestWatch> watch_;
};

TEST_F(WatcherLimitsTest, MasksDoNotMultiplyWhatAnUnreadStreamHolds) {
  constexpr request::TargetId kTargets = 30;
  constexpr size_t kEventsMax = 5;
  Start();
  for (request::TargetId id = 1; id <= kTargets; ++id) {
    request::TargetRequest request = watch_->RequestFor(kAll);
    request.mask = {FieldAt("f" + std::to_string(id))};
    watch_->watcher().AddTarget(id, std::move(request));
  }
  client().AwaitSnapshotOf(kTargets);
  client().SetSpeed(Speed::kStopsWhenFull, kEventsMax);
  const Timestamp last = Put("c/a", 1);
  client().Await([](const WatchClient::State& state) { return state.waits_for_reader; });
  EXPECT_LE(client().Now().document_events, kEventsMax);
  client().SetSpeed(Speed::kReads, kEventsMax);
  const WatchSnapshot snapshot = client().AwaitSnapshot(last);
  EXPECT_EQ(client().Now().document_events, static_cast<size_t>(kTargets));
  for (const auto& [id, view] : snapshot.targets) {
    EXPECT_EQ(view.documents.at("c/a").mask, std::vector{FieldAt("f" + std::to_string(id))});
  }
}

TEST_F(WatcherLimitsTest, EqualMasksShareAMessage) {
  Start();
  for (request::TargetId id = 1; id <= 4; ++id) {
    request::TargetRequest request = watch_->RequestFor(kAll);
    request.mask = {FieldAt(id <= 3 ? "n" : "m")};
    watch_->watcher().AddTarget(id, std::move(request));
  }
  client().AwaitSnapshotOf(4);
  client().AwaitSnapshot(Put("c/a", 1));
  EXPECT_EQ(client().Now().document_events, 2u);
  for (const request::TargetId id : {1, 2}) {
    watch_->watcher().RemoveTarget(id);
    EXPECT_TRUE(client().AwaitRemoved(id).ok());
  }
  client().AwaitSnapshot(Put("c/a", 2));
  EXPECT_EQ(client().Now().document_events, 4u);
}

TEST_F(WatcherLimitsTest, ATargetWithoutMemoryEndsAlone) {
  Start();
  watch_->Start(1, kAll);
  const std::string large = model::EncodeString(std::string(kBudgetBytes / 4, 'x'));
  watch_->Add(2, QueryBuilder("c").Ascending("n").Start({large}, true));
  EXPECT_EQ(client().AwaitRemoved(2).code(), Code::kResourceExhausted);
  const std::string fits = model::EncodeString(std::string(kBudgetBytes / 100, 'x'));
  watch_->Start(3, QueryBuilder("c").Ascending("n").Start({fits}, true));
  EXPECT_THAT(watch_->At(1, Put("c/a", 1)).Paths(), ElementsAre("c/a"));
  EXPECT_GT(budget_.used_bytes(), kBudgetBytes / 100);
}

TEST_F(WatcherLimitsTest, AWindowWithoutMemoryEndsAlone) {
  Start();
  PutNumbered(400);
  watch_->Start(1, QueryBuilder("c").Ascending("n").Limit(1));
  TakeMemory(kBudgetBytes / 16 * 15 - 2 * MemoryBudget::kSmallBytesMax);
  watch_->Add(2, QueryBuilder("c").Ascending("n").Offset(300).Limit(1));
  EXPECT_EQ(client().AwaitRemoved(2).code(), Code::kResourceExhausted);
  watch_->Add(3, QueryBuilder("c").Ascending("n").Limit(300));
  EXPECT_EQ(client().AwaitRemoved(3).code(), Code::kResourceExhausted);
  EXPECT_THAT(watch_->Start(4, QueryBuilder("c").Ascending("n").Offset(20).Limit(1)).Paths(),
              ElementsAre("c/d20"));
  EXPECT_THAT(watch_->At(1, test_->MustCommit(Delete("c/d0"))).Paths(), ElementsAre("c/d1"));
}

TEST_F(WatcherLimitsTest, AWindowThatGrowsWithoutMemoryEndsAlone) {
  Start();
  watch_->Start(1, QueryBuilder("c").Ascending("n").Limit(10'000));
  watch_->Start(2, kAll);
  TakeMemory(kBudgetBytes / 8 * 7 + 1);
  PutNumbered(500);
  EXPECT_EQ(client().AwaitRemoved(1).code(), Code::kResourceExhausted);
  EXPECT_THAT(watch_->At(2, Put("c/d0", 1)).documents, SizeIs(500));
}

TEST_F(WatcherLimitsTest, AWindowThatFindsTooMuchStartsOver) {
  watch::WatcherOptions options;
  options.catch_up_max.bytes = 1'000;
  Start(options);
  PutNumbered(20);
  watch_->Start(1, QueryBuilder("c").Ascending("n").Limit(10));
  TargetView view = watch_->At(1, test_->MustCommit(Delete("c/d0")));
  EXPECT_EQ(view.resets, 0u);
  EXPECT_TRUE(view.documents.contains("c/d10"));
  std::vector<request::Write> writes;
  for (int n = 1; n <= 6; ++n) writes.push_back(Delete("c/d" + std::to_string(n)));
  view = watch_->At(1, test_->MustCommit(std::move(writes)));
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.documents, SizeIs(10));
  EXPECT_TRUE(view.documents.contains("c/d16"));
}

TEST_F(WatcherLimitsTest, TooManyPairsToCatchUpHaveTheTargetsReset) {
  watch::WatcherOptions options;
  options.pending_max.count = 1;
  options.catch_up_pairs_max = 8;
  Start(options);
  for (request::TargetId id = 1; id <= 2; ++id) watch_->Start(id, kAll);
  WhileStopped({SetNumber("c/a", 1), SetNumber("c/b", 1), SetNumber("c/c", 1)});
  TargetView view = watch_->At(2, Put("c/a", 2));
  EXPECT_EQ(view.resets, 0u);
  WhileStopped(
      {SetNumber("c/a", 3), SetNumber("c/b", 3), SetNumber("c/c", 3), SetNumber("c/d", 3)});
  view = watch_->At(2, Put("c/a", 4));
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.Paths(), ElementsAre("c/a", "c/b", "c/c", "c/d", "c/first"));
}

TEST_F(WatcherLimitsTest, WorkForAClientThatHasLeftEnds) {
  constexpr size_t kPaths = 1'000;
  Start();
  const Timestamp before = Put("c/before", 1);
  request::TargetRequest request;
  std::vector<model::DocumentPath> paths;
  for (size_t i = 0; i < kPaths; ++i) {
    paths.push_back(Path("d/d" + std::to_string(i)));
    Put(paths.back().path(), 1);
  }
  request.target = paths;
  request.resume = TestWatch::Resume{before};
  const auto state = std::make_shared<LeavingSink::State>();
  {
    MutexLock lock(state->mutex);
    state->looks_left = kPaths / 2;
  }
  const std::shared_ptr<Watcher> watcher =
      test_->engine().Watch(test_->database(), std::make_unique<LeavingSink>(state));
  watcher->AddTarget(1, std::move(request));
  {
    MutexLock lock(state->mutex);
    while (state->looks_left > 0 && state->document_events == 0) state->changed.Wait(state->mutex);
    EXPECT_EQ(state->looks_left, 0u);
    EXPECT_EQ(state->document_events, 0u);
  }
  watcher->Close();
}

// The only turn is taken by another listener.
TEST_F(WatcherLimitsTest, AWatcherThatWaitsForItsTurnEndsWhenItIsClosed) {
  Metrics metrics;
  EngineOptions options;
  options.metrics = &metrics;
  options.watch_threads.short_cpu_max = std::chrono::microseconds(0);
  options.watch_threads.short_time_max = std::chrono::milliseconds(0);
  options.watch_threads.slice = std::chrono::milliseconds(0);
  options.watch_threads.long_threads = 1;
  Start({}, options);
  PutNumbered(400);
  Gate gate;
  gate.Close();
  std::atomic<size_t> steps = 0;
  test_->store().BeforeSteps([&] {
    if (++steps == 300) gate.Pass();
  });
  watch_->Add(1, kAll);
  gate.AwaitArrivals(1);
  const auto await_long = [&metrics](double count) {
    while (MetricValue(metrics, "hearth_long_reads") != count) std::this_thread::yield();
  };
  await_long(1);
  const auto state = std::make_shared<LeavingSink::State>();
  {
    MutexLock lock(state->mutex);
    state->looks_left = SIZE_MAX;
  }
  const std::shared_ptr<Watcher> watcher =
      test_->engine().Watch(test_->database(), std::make_unique<LeavingSink>(state));
  watcher->AddTarget(1, watch_->RequestFor(kAll));
  await_long(2);
  watcher->Close();
  await_long(1);
  gate.Open();
  client().AwaitSnapshotOf(1);
  test_->store().RemoveHooks();
  watch_->Close();
  test_->Close();  // It uses the metrics.
}

TEST_F(WatcherLimitsTest, WithoutMemoryToCatchUpTheTargetsAreReset) {
  Start();
  watch_->Start(1, kAll);
  TakeMemory(kBudgetBytes / 8 * 7 + 1);
  const std::string large = model::EncodeString(std::string(MemoryBudget::kSmallBytesMax, 'x'));
  WhileStopped({Set("c/a", MakeFields({{"t", large}}))});
  const TargetView view = watch_->At(1, Put("c/b", 1));
  EXPECT_EQ(view.resets, 1u);
  EXPECT_THAT(view.Paths(), ElementsAre("c/a", "c/b", "c/first"));
}

}  // namespace
}  // namespace hearth::engine
