// The order of the keeper's work: nobody waits for more than a step of somebody else.
#include "indexing/index_keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/fake_clock.h"
#include "base/testing/gate.h"
#include "base/testing/test_time.h"
#include "index/testing/definitions.h"
#include "indexing/index_keys.h"
#include "model/testing/documents.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::indexing {
namespace {

using index::CollectionIndex;
using index::Definition;
using index::IndexNumber;
using index::Origin;
using index::State;
using index::Up;
using model::DatabaseNumber;
using storage::Space;

// Stores each step at once.
class ImmediateSteps final : public CommitSteps {
 public:
  explicit ImmediateSteps(storage::Store& store) : store_(store) {}

  void Submit(CommitStep step) override {
    storage::Batch batch;
    step.stage(&batch);
    step.done(store_.Commit(batch));
  }
  uint64_t failed_groups() const override { return 0; }

 private:
  storage::Store& store_;
};

class IndexKeeperTest : public testing::Test {
 protected:
  IndexKeeperTest() { Restart(); }
  ~IndexKeeperTest() override {
    keeper_.reset();
    store_.RemoveHooks();
  }

  void Restart() {
    keeper_.reset();
    IndexKeeperOptions options;
    options.step_documents_max = kStepMax;
    keeper_ = *IndexKeeper::Open(store_, clock_, registry_, options);
    keeper_->Start(steps_);
  }
  static documents::DatabaseHandle NewDatabase(uint32_t number) {
    return std::make_shared<documents::Database>(NameDatabase("d" + std::to_string(number)),
                                                 DatabaseNumber{number}, true);
  }
  static std::string Numbered(const std::string& text, size_t number) {
    return text + std::to_string(1'000'000 + number);
  }
  void Put(const documents::Database& database, const std::string& path) {
    storage::Batch batch;
    batch.Put(Space::kDocuments, model::DocumentKey(database.number, Path(path)),
              RecordOf(kTestStartMicros, kTestStartMicros, NumberFields(1)));
    ASSERT_EQ(store_.Commit(batch), Status());
  }
  bool IsReady(const documents::Database& database) const {
    const auto indexes = registry_.Current();
    for (const index::Index& index : indexes->OfDatabase(database.number)) {
      if (index.state == State::kReady) return true;
    }
    return false;
  }
  // Holds up the keeper in the next commit, calls `meanwhile`, and lets it go on.
  template <typename Begin, typename Meanwhile>
  void DuringFirstCommit(const Begin& begin, const Meanwhile& meanwhile) {
    Gate gate;
    gate.Close();
    std::atomic<bool> is_first = true;
    store_.BeforeCommits([&] {
      if (is_first.exchange(false)) gate.Pass();
    });
    begin();
    gate.AwaitArrivals(1);
    meanwhile();
    gate.Open();
    keeper_->AwaitIdle();
    store_.RemoveHooks();
  }

  static constexpr size_t kStepMax = 10;
  const Definition definition_ = CollectionIndex("c", {Up("n")});
  const documents::DatabaseHandle a_ = NewDatabase(1);
  const documents::DatabaseHandle b_ = NewDatabase(2);
  FakeClock clock_{kTestStartMicros};
  const std::unique_ptr<storage::Store> memory_ = storage::NewMemoryStore();
  storage::FaultyStore store_{*memory_};
  ImmediateSteps steps_{store_};
  IndexRegistry registry_;
  std::unique_ptr<IndexKeeper> keeper_;
};

TEST_F(IndexKeeperTest, UrgentBuildsOfDatabasesTakeTurns) {
  for (size_t i = 0; i < 100 * kStepMax; ++i) Put(*a_, Numbered("c/d", i));
  for (size_t i = 0; i < 2 * kStepMax; ++i) Put(*b_, Numbered("c/d", i));
  size_t commits = 0;
  size_t ready_after = 0;
  DuringFirstCommit(
      [&] {
        keeper_->Want(*a_, definition_, Origin::kDeclared);
        keeper_->Want(*a_, CollectionIndex("c", {Up("m")}), Origin::kDeclared);
      },
      [&] {
        keeper_->Want(*b_, definition_, Origin::kTtl);
        store_.AfterCommits([&] {
          ++commits;
          if (ready_after == 0 && IsReady(*b_)) ready_after = commits;
        });
      });
  EXPECT_TRUE(IsReady(*a_));
  EXPECT_GT(commits, 200u);
  EXPECT_GT(ready_after, 0u);
  EXPECT_LT(ready_after, 25u);
}

TEST_F(IndexKeeperTest, AStepPassesOverABoundedNumberOfCollections) {
  constexpr size_t kForeign = 30 * kStepMax;
  for (size_t i = 0; i < kForeign; ++i) Put(*a_, Numbered("b/d", i) + "/s/x");
  Gate gate;
  gate.Close();
  std::atomic<size_t> steps = 0;
  store_.BeforeSteps([&] {
    if (++steps == kStepMax / 2) gate.Pass();
  });
  keeper_->Want(*a_, definition_, Origin::kDeclared);
  gate.AwaitArrivals(1);
  std::thread stop([this] { keeper_->Stop(); });
  keeper_->AwaitIdle();  // Until it is stopping.
  gate.Open();
  stop.join();
  EXPECT_LE(steps, kStepMax);

  // What it has passed over is not looked at again.
  Restart();
  keeper_->AwaitIdle();
  EXPECT_TRUE(IsReady(*a_));
  EXPECT_LE(steps, kForeign + 1);
}

TEST_F(IndexKeeperTest, UrgentWorkComesInBetweenStepsThatPassOverCollections) {
  for (size_t i = 0; i < 30 * kStepMax; ++i) Put(*a_, Numbered("b/d", i) + "/s/x");
  bool was_first = false;
  DuringFirstCommit([&] { keeper_->Want(*a_, definition_, Origin::kDeclared); },
                    [&] {
                      keeper_->Want(*b_, definition_, Origin::kTtl);
                      store_.AfterCommits([&] { was_first |= IsReady(*b_) && !IsReady(*a_); });
                    });
  EXPECT_TRUE(was_first);
  EXPECT_TRUE(IsReady(*a_));
}

TEST_F(IndexKeeperTest, TheRemovalOfEntriesGivesWay) {
  constexpr IndexNumber kGone{77};
  constexpr size_t kEntries = 20'000;
  storage::Batch batch;
  for (size_t i = 0; i < kEntries; ++i) {
    batch.Put(Space::kIndexes, Numbered(index::IndexKeyPrefix(kGone), i), "");
  }
  batch.Put(Space::kMeta, RemainsKey(kGone), "");
  ASSERT_EQ(store_.Commit(batch), Status());
  const auto entries_left = [&] {
    size_t count = 0;
    const auto snapshot = memory_->NewSnapshot();
    const auto cursor =
        snapshot->Scan(Space::kIndexes, storage::PrefixRange(index::IndexKeyPrefix(kGone)),
                       storage::Direction::kForward);
    for (; cursor->Valid(); cursor->Next()) ++count;
    return count;
  };
  size_t left_when_ready = 0;
  DuringFirstCommit([&] { Restart(); },
                    [&] {
                      keeper_->Want(*b_, definition_, Origin::kTtl);
                      store_.AfterCommits([&] {
                        if (left_when_ready == 0 && IsReady(*b_)) left_when_ready = entries_left();
                      });
                    });
  EXPECT_GE(left_when_ready, kEntries / 2);
  EXPECT_EQ(entries_left(), 0u);
  EXPECT_FALSE(store_.Get(Space::kMeta, RemainsKey(kGone))->has_value());
}

// What follows in the same database waits until a build has ended, however often that gives way.
TEST_F(IndexKeeperTest, TheTasksOfADatabaseKeepTheirOrder) {
  for (size_t i = 0; i < 10 * kStepMax; ++i) {
    Put(*a_, Numbered("c/d", i));
    Put(*b_, Numbered("c/d", i));
  }
  DuringFirstCommit(
      [&] { keeper_->Want(*a_, definition_, Origin::kDeclared); },
      [&] {
        keeper_->Want(*b_, definition_, Origin::kDeclared);
        keeper_->ReleaseAllBut(a_->number, {});
        store_.AfterCommits([&] {
          const auto indexes = registry_.Current();
          for (const index::Index& index : indexes->OfDatabase(a_->number)) {
            EXPECT_TRUE(index.state == State::kReady || index.origin == Origin::kDeclared);
          }
        });
      });
  EXPECT_TRUE(IsReady(*a_));
  EXPECT_TRUE(IsReady(*b_));
  const auto indexes = registry_.Current();
  EXPECT_EQ(indexes->OfDatabase(a_->number).front().origin, Origin::kOnDemand);
}

}  // namespace
}  // namespace hearth::indexing
