#include "expiry/ttl_sweeper.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/fake_clock.h"
#include "index/entries.h"
#include "request/testing/writes.h"
#include "storage/memory_store.h"

namespace hearth::expiry {
namespace {

using index::Index;
using index::IndexNumber;
using index::TtlPolicy;
using std::chrono::milliseconds;

constexpr int64_t kStart = 1'000'000'000'000'000;

// A sweeper on its own: the test deletes the documents, at once.
class TtlSweeperTest : public testing::Test {
 protected:
  TtlSweeperTest() { SetIndexes({PolicyOf("until")}); }

  static TtlPolicy PolicyOf(std::string_view field) {
    return {"rooms", FieldAt(field), std::chrono::seconds(0)};
  }
  // Ready, with the numbers 1, 2, ...
  void SetIndexes(const std::vector<TtlPolicy>& policies) {
    all_.clear();
    for (const TtlPolicy& policy : policies) {
      all_.push_back({IndexNumber{static_cast<uint32_t>(all_.size() + 1)}, database_->number,
                      TtlIndex(policy), index::State::kReady, index::Origin::kTtl,
                      std::make_shared<index::Activity>()});
    }
    indexes_.Set(std::make_shared<const index::IndexSet>(all_));
    policy_ = policies.back();
  }
  // Adds a document that has expired; later ones have expired later.
  void Add(const std::string& id, std::string_view field = "until") {
    const int64_t expired_at = kStart - 1'000'000'000 + static_cast<int64_t>(++added_);
    const auto at = model::Timestamp::FromMicros(expired_at);
    const std::string path = "rooms/" + id;
    const model::Fields fields = MakeFields({{std::string(field), model::EncodeTimestamp(at)}});
    records_[path] = std::make_shared<const std::string>(model::EncodeRecord(at, at, fields));
    storage::Batch batch;
    for (const index::Entry& entry : EntriesOf(path)) {
      batch.Put(storage::Space::kIndexes, entry.key, entry.value);
    }
    ASSERT_EQ(store_->Commit(batch), Status());
  }
  bool Exists(const std::string& id) const { return records_.contains("rooms/" + id); }

  std::unique_ptr<TtlSweeper> NewSweeper() {
    TtlSweeper::Hooks hooks;
    hooks.databases = [this] { return std::vector{database_}; };
    hooks.policies = [this](const documents::Database&) { return std::vector{policy_}; };
    hooks.get = [this](const documents::Database&, const model::DocumentPath& path) {
      const auto found = records_.find(path.path());
      return found == records_.end() ? model::Record() : found->second;
    };
    hooks.commit = [this](documents::Database&, request::Write write, Callback<void(Status)> done) {
      ++commits_;
      done(Commit(write.path.path()));
    };
    hooks.commits = [this] {
      if (commits_ > commits_seen_) steps_.push_back(commits_ - commits_seen_);
      commits_seen_ = commits_;
      return commits_ + client_commits_();
    };
    return std::make_unique<TtlSweeper>(*store_, clock_, indexes_, std::move(hooks));
  }

  // What happens at a deletion.
  std::function<void()> at_deletion_ = [] {};
  std::function<uint64_t()> client_commits_ = [] { return 0; };
  std::set<std::string> fail_once_;  // Paths.
  TtlPolicy policy_ = PolicyOf("until");

  FakeClock clock_{kStart};
  std::vector<size_t> steps_;  // The deletions of each step.
  size_t commits_ = 0;

 private:
  std::vector<index::Entry> EntriesOf(const std::string& path) {
    std::vector<index::Entry> all;
    for (const Index& index : all_) {
      const auto entries = *index::EntriesOf(index.number, index.definition, Path(path),
                                             model::RecordFields(*records_.at(path)));
      all.insert(all.end(), entries.begin(), entries.end());
    }
    return all;
  }
  Status Commit(const std::string& path) {
    at_deletion_();
    if (fail_once_.erase(path) > 0) return Status(Code::kAborted, "locked");
    storage::Batch batch;
    for (const index::Entry& entry : EntriesOf(path)) {
      batch.Delete(storage::Space::kIndexes, entry.key);
    }
    records_.erase(path);
    return store_->Commit(batch);
  }

  const documents::DatabaseHandle database_ =
      std::make_shared<documents::Database>(NameDatabase(), model::DatabaseNumber{1}, true);
  const std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore();
  indexing::IndexRegistry indexes_;
  std::vector<Index> all_;
  std::map<std::string, model::Record> records_;
  size_t added_ = 0;
  size_t commits_seen_ = 0;
};

// The failure ends the policy's first turn.
TEST_F(TtlSweeperTest, ASlowDiskIsRememberedFromTurnToTurn) {
  for (int i = 0; i < 100; ++i) Add("r" + std::to_string(i));
  fail_once_ = {"rooms/r0"};
  uint64_t client_commits = 0;
  client_commits_ = [&] { return ++client_commits; };
  at_deletion_ = [&] {
    if (commits_ <= SweepPace::kBusyStepMax) clock_.Advance(milliseconds(5));
  };
  const std::unique_ptr<TtlSweeper> sweeper = NewSweeper();
  sweeper->Sweep();
  ASSERT_GE(steps_.size(), 2u);
  EXPECT_EQ(steps_[0], SweepPace::kBusyStepMax);
  EXPECT_EQ(steps_[1], SweepPace::kBusyStepMax / 2);
}

TEST_F(TtlSweeperTest, APolicyThatChangesStartsOver) {
  SetIndexes({PolicyOf("other"), PolicyOf("until")});
  Add("r1");
  Add("r2", "other");
  fail_once_ = {"rooms/r1"};
  at_deletion_ = [&] { policy_ = PolicyOf("other"); };
  NewSweeper()->Sweep();
  EXPECT_TRUE(Exists("r1"));
  EXPECT_FALSE(Exists("r2"));
}

TEST_F(TtlSweeperTest, WhatCouldNotBeDeletedIsTriedAgainBeforeTheBacklogEnds) {
  constexpr size_t kBacklog = 200;
  constexpr size_t kEnd =
      2 * TtlSweeper::kTurnsBeforeRetry * TtlSweeper::kStepsPerTurn * SweepPace::kIdleStepMax;
  size_t added = 0;
  for (; added < kBacklog; ++added) Add("r" + std::to_string(added));
  fail_once_ = {"rooms/r0"};
  bool is_gone = false;
  at_deletion_ = [&] {
    is_gone = !Exists("r0");
    if (!is_gone && added < kEnd) Add("r" + std::to_string(added++));
  };
  NewSweeper()->Sweep();
  EXPECT_TRUE(is_gone);
  EXPECT_LT(added, kEnd);
}

}  // namespace
}  // namespace hearth::expiry
