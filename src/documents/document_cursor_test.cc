#include "documents/document_cursor.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/testing/test_seed.h"
#include "documents/keys.h"
#include "model/testing/documents.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::documents {
namespace {

using model::Timestamp;
using storage::KeyRange;
using storage::Space;

using State = std::map<std::string, std::string>;  // Document keys and records.

// Writes the same keys as commits do, and remembers every state.
class History {
 public:
  explicit History(storage::Store& store) : store_(store) { states_[0] = {}; }

  // An empty record: the document is deleted.
  void Commit(int64_t time, const State& changes) {
    State state = newest();
    storage::Batch batch;
    for (const auto& [key, record] : changes) {
      const auto before = state.find(key);
      batch.Put(Space::kHistory, HistoryKey(key, Timestamp::FromMicros(time)),
                before == state.end() ? std::string() : before->second);
      if (record.empty()) {
        state.erase(key);
        batch.Delete(Space::kDocuments, key);
      } else {
        state[key] = record;
        batch.Put(Space::kDocuments, key, record);
      }
    }
    ASSERT_EQ(store_.Commit(batch), Status());
    states_[time] = std::move(state);
  }

  const State& newest() const { return states_.rbegin()->second; }
  const State& At(int64_t time) const { return std::prev(states_.upper_bound(time))->second; }

 private:
  storage::Store& store_;
  std::map<int64_t, State> states_;
};

State Within(const State& state, const KeyRange& range) {
  return {state.lower_bound(range.first),
          range.last.empty() ? state.end() : state.lower_bound(range.last)};
}

State Rest(DocumentCursor& cursor) {
  State rest;
  for (; cursor.Valid(); cursor.Next()) rest.emplace(cursor.key(), cursor.record());
  EXPECT_EQ(cursor.status(), Status());
  return rest;
}

class DocumentCursorTest : public testing::Test {
 protected:
  std::unique_ptr<DocumentCursor> Past(int64_t time, const KeyRange& range) {
    snapshot_ = store_->NewSnapshot();
    return NewPastCursor(*snapshot_, range, Timestamp::FromMicros(time));
  }

  static std::string Key(std::string_view path) {
    return model::DocumentKey(kDatabase, Path(path));
  }

  std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore();
  std::unique_ptr<storage::Snapshot> snapshot_;
  History history_{*store_};
  const KeyRange everything_ = storage::PrefixRange(model::DatabaseKeyPrefix(kDatabase));
};

TEST_F(DocumentCursorTest, ThePresentIsTheSnapshot) {
  history_.Commit(10, {{Key("c/a"), "a1"}, {Key("c/b"), "b1"}});
  const std::unique_ptr<storage::Snapshot> snapshot = store_->NewSnapshot();
  history_.Commit(20, {{Key("c/a"), "a2"}, {Key("c/c"), "c2"}});
  const auto cursor = NewPresentCursor(*snapshot, everything_, storage::Direction::kForward);
  EXPECT_EQ(Rest(*cursor), (State{{Key("c/a"), "a1"}, {Key("c/b"), "b1"}}));
  cursor->Seek(Key("c/b"));
  ASSERT_TRUE(cursor->Valid());
  EXPECT_EQ(cursor->key(), Key("c/b"));
  EXPECT_EQ(cursor->record(), "b1");
}

TEST_F(DocumentCursorTest, PutsBackWhatLaterCommitsReplaced) {
  history_.Commit(10, {{Key("c/deleted"), "old"}, {Key("c/kept"), "old"}, {Key("c/set"), "old"}});
  history_.Commit(20, {{Key("c/deleted"), ""}, {Key("c/new"), "new"}, {Key("c/set"), "new"}});
  history_.Commit(30, {{Key("c/deleted"), "again"}, {Key("c/new"), ""}, {Key("c/set"), "newer"}});
  for (const int64_t time : {0, 9, 10, 11, 19, 20, 29, 30, 31}) {
    EXPECT_EQ(Rest(*Past(time, everything_)), history_.At(time)) << time;
  }
}

TEST_F(DocumentCursorTest, StaysWithinItsRange) {
  for (const char* path : {"b/x", "c/a", "c/a/d/x", "c/b", "c/c", "d/x"}) {
    history_.Commit(10, {{Key(path), "old"}});
  }
  history_.Commit(20, {{Key("b/x"), ""}, {Key("c/b"), ""}, {Key("c/a/d/x"), ""}, {Key("d/x"), ""}});
  const KeyRange collection = storage::PrefixRange(
      model::CollectionKeyPrefix(kDatabase, *model::CollectionPath::Parse("c")));
  EXPECT_EQ(Rest(*Past(15, collection)),
            (State{{Key("c/a"), "old"}, {Key("c/b"), "old"}, {Key("c/c"), "old"}}));
  EXPECT_EQ(Rest(*Past(15, {Key("c/b"), Key("c/c")})), (State{{Key("c/b"), "old"}}));
  EXPECT_EQ(
      Rest(*Past(15, {Key("c/b"), ""})),
      (State{
          {Key("c/b"), "old"}, {Key("c/c"), "old"}, {Key("c/a/d/x"), "old"}, {Key("d/x"), "old"}}));
}

TEST_F(DocumentCursorTest, NothingAtAll) {
  EXPECT_FALSE(Past(10, everything_)->Valid());
  history_.Commit(20, {{Key("c/a"), "new"}});
  const auto cursor = Past(10, everything_);
  EXPECT_FALSE(cursor->Valid());
  EXPECT_EQ(cursor->status(), Status());
}

// Random commits, then random ranges, times and seeks, compared with the remembered states.
TEST_F(DocumentCursorTest, EqualsTheStatesAsTheyWere) {
  Dice dice(TestSeed());
  std::vector<std::string> keys;
  for (const char* path : {"a/a", "a/b", "a/b/c/d", "a/__id1__", "a/__id-1__", "b/a", "b/a!", "b/b",
                           "b/b/c/d", "b/b/c/e", "c/x"}) {
    keys.push_back(Key(path));
  }
  const auto any_key = [&] {
    return dice.OneIn(3) ? keys[dice.Below(keys.size())] + '\x01' : keys[dice.Below(keys.size())];
  };
  int64_t time = 0;
  for (int i = 0; i < 200; ++i) {
    State changes;
    for (size_t count = 1 + dice.Below(4); count > 0; --count) {
      changes[keys[dice.Below(keys.size())]] = dice.OneIn(3) ? "" : "v" + std::to_string(i);
    }
    // Deleting a document that does not exist is not a change and leaves no trace.
    std::erase_if(changes, [&](const auto& change) {
      return change.second.empty() && !history_.newest().contains(change.first);
    });
    time += 1 + static_cast<int64_t>(dice.Below(3));
    history_.Commit(time, changes);
  }
  for (int i = 0; i < 5'000; ++i) {
    const auto read_time = static_cast<int64_t>(dice.Below(static_cast<size_t>(time) + 3));
    const KeyRange range = dice.OneIn(2) ? everything_ : KeyRange{any_key(), any_key()};
    if (range.first > range.last) continue;
    const auto cursor = Past(read_time, range);
    const State expected = Within(history_.At(read_time), range);
    if (dice.OneIn(2)) {
      ASSERT_EQ(Rest(*cursor), expected) << "at " << read_time;
      continue;
    }
    for (auto at = expected.begin(); at != expected.end();) {  // Walks and jumps ahead.
      ASSERT_TRUE(cursor->Valid());
      ASSERT_EQ(cursor->key(), at->first);
      ASSERT_EQ(cursor->record(), at->second);
      const std::string target = any_key();
      if (dice.OneIn(2) || target <= at->first) {
        cursor->Next();
        ++at;
      } else {
        cursor->Seek(target);
        at = expected.lower_bound(target);
      }
    }
    ASSERT_FALSE(cursor->Valid());
  }
}

TEST_F(DocumentCursorTest, PausesWhileItPassesOverLaterDocuments) {
  constexpr size_t kLater = 100;
  State later;
  for (size_t i = 0; i < kLater; ++i) later[Key("c/m" + std::to_string(i))] = "new";
  history_.Commit(10, {{Key("c/a"), "old"}, {Key("c/z"), "old"}});
  history_.Commit(20, later);
  const std::unique_ptr<storage::Snapshot> snapshot = store_->NewSnapshot();
  size_t pauses = 0;
  const Status cancelled(Code::kCancelled, "enough");
  size_t pauses_max = 1'000;
  const PauseFunction pause = [&] { return ++pauses > pauses_max ? cancelled : Status(); };
  const auto cursor = NewPastCursor(*snapshot, everything_, Timestamp::FromMicros(15), &pause);
  EXPECT_EQ(Rest(*cursor), history_.At(15));
  EXPECT_EQ(pauses, kLater);

  pauses = 0;
  pauses_max = 2;
  cursor->Seek(Key("c/a"));
  ASSERT_TRUE(cursor->Valid());
  EXPECT_EQ(pauses, 0u);
  cursor->Next();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_EQ(cursor->status(), cancelled);
  EXPECT_EQ(pauses, 3u);
  cursor->Seek(Key("c/z"));
  EXPECT_FALSE(cursor->Valid()) << "an error is final";
}

TEST_F(DocumentCursorTest, BrokenScansSaySo) {
  history_.Commit(10, {{Key("c/a"), "a1"}, {Key("c/b"), "b1"}});
  history_.Commit(20, {{Key("c/a"), "a2"}, {Key("c/b"), "b2"}});
  storage::FaultyStore faulty(*store_);
  const std::unique_ptr<storage::Snapshot> snapshot = faulty.NewSnapshot();
  const Status broken(Code::kDataLoss, "checksum");
  // A scan without faults takes this many steps; each of them can fail.
  for (size_t step = 1; step <= 8; ++step) {
    faulty.FailScan(step, broken);
    const auto cursor = NewPastCursor(*snapshot, everything_, Timestamp::FromMicros(15));
    while (cursor->Valid()) cursor->Next();
    EXPECT_EQ(cursor->status(), broken) << step;
  }
  for (size_t step = 1; step <= 3; ++step) {
    faulty.FailScan(step, broken);
    const auto cursor = NewPresentCursor(*snapshot, everything_, storage::Direction::kForward);
    while (cursor->Valid()) cursor->Next();
    EXPECT_EQ(cursor->status(), broken) << step;
  }
}

}  // namespace
}  // namespace hearth::documents
