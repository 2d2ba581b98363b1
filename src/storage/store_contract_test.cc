// What every Store promises, tested on each implementation.
#include "storage/store_contract.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace hearth::storage {
namespace {

std::string KeysOf(const Entries& entries) {
  std::string keys;
  for (const auto& [key, value] : entries) keys += key + " ";
  return keys;
}

TEST_P(StoreContractTest, AbsenceIsNotAnError) {
  const Result<Maybe> absent = store_->Get(Space::kDocuments, "nothing");
  ASSERT_TRUE(absent.ok());
  EXPECT_EQ(*absent, std::nullopt);
  const auto in_memory = store_->GetIfInMemory(Space::kDocuments, "nothing");
  if (in_memory) {
    EXPECT_EQ(**in_memory, std::nullopt);
  }
}

TEST_P(StoreContractTest, ReadsWhatWasCommitted) {
  Put(Space::kDocuments, "a", "1");
  EXPECT_EQ(*store_->Get(Space::kDocuments, "a"), "1");
  const auto in_memory = store_->GetIfInMemory(Space::kDocuments, "a");
  ASSERT_TRUE(in_memory.has_value());
  EXPECT_EQ(**in_memory, "1");

  Batch batch;
  batch.Delete(Space::kDocuments, "a");
  ASSERT_EQ(store_->Commit(batch), Status());
  EXPECT_EQ(*store_->Get(Space::kDocuments, "a"), std::nullopt);
}

TEST_P(StoreContractTest, AnEmptyBatchChangesNothing) {
  EXPECT_EQ(store_->Commit(Batch()), Status());
}

TEST_P(StoreContractTest, TheLastChangeOfAKeyWins) {
  Batch batch;
  batch.Put(Space::kMeta, "a", "1");
  batch.Put(Space::kMeta, "a", "2");
  batch.Put(Space::kMeta, "b", "1");
  batch.Delete(Space::kMeta, "b");
  batch.Delete(Space::kMeta, "c");
  batch.Put(Space::kMeta, "c", "3");
  ASSERT_EQ(store_->Commit(batch), Status());
  EXPECT_EQ(*store_->Get(Space::kMeta, "a"), "2");
  EXPECT_EQ(*store_->Get(Space::kMeta, "b"), std::nullopt);
  EXPECT_EQ(*store_->Get(Space::kMeta, "c"), "3");
}

TEST_P(StoreContractTest, SpacesAreSeparate) {
  for (size_t space = 0; space < kSpaces; ++space) {
    Put(static_cast<Space>(space), "key", std::to_string(space));
  }
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  for (size_t space = 0; space < kSpaces; ++space) {
    const Entries expected = {{"key", std::to_string(space)}};
    EXPECT_EQ(ScanAll(*snapshot, static_cast<Space>(space), {}, Direction::kForward), expected);
  }
}

TEST_P(StoreContractTest, ASnapshotNeverChanges) {
  Put(Space::kDocuments, "kept", "old");
  Put(Space::kDocuments, "removed", "old");
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  const std::unique_ptr<Cursor> early = snapshot->Scan(Space::kDocuments, {}, Direction::kForward);
  Batch batch;
  batch.Put(Space::kDocuments, "kept", "new");
  batch.Delete(Space::kDocuments, "removed");
  batch.Put(Space::kDocuments, "added", "new");
  ASSERT_EQ(store_->Commit(batch), Status());

  const Entries expected = {{"kept", "old"}, {"removed", "old"}};
  EXPECT_EQ(Rest(*early), expected);
  EXPECT_EQ(ScanAll(*snapshot, Space::kDocuments, {}, Direction::kForward), expected);
  EXPECT_EQ(*snapshot->Get(Space::kDocuments, "kept"), "old");
  EXPECT_EQ(*snapshot->Get(Space::kDocuments, "added"), std::nullopt);
  EXPECT_EQ(*store_->Get(Space::kDocuments, "kept"), "new");
}

TEST_P(StoreContractTest, ScansARangeInBothDirections) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(Space::kDocuments, key, key);
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  const auto keys = [&](const KeyRange& range, Direction direction) {
    return KeysOf(ScanAll(*snapshot, Space::kDocuments, range, direction));
  };
  EXPECT_EQ(keys({"b", "d"}, Direction::kForward), "b c ");
  EXPECT_EQ(keys({"b", "d"}, Direction::kBackward), "c b ");
  EXPECT_EQ(keys({"bb", "dd"}, Direction::kForward), "c d ");
  EXPECT_EQ(keys({"bb", "dd"}, Direction::kBackward), "d c ");
  EXPECT_EQ(keys({"d", ""}, Direction::kForward), "d e ");
  EXPECT_EQ(keys({"d", ""}, Direction::kBackward), "e d ");
  EXPECT_EQ(keys({"", "b"}, Direction::kBackward), "a ");
  EXPECT_EQ(keys({"", ""}, Direction::kForward), "a b c d e ");
}

TEST_P(StoreContractTest, EmptyRangesHoldNothing) {
  for (const char* key : {"a", "b", "c"}) Put(Space::kDocuments, key, key);
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  const KeyRange ranges[] = {{"b", "b"}, {"c", "a"}, {"aa", "ab"}, {"x", "z"}, {"x", ""}};
  for (const KeyRange& range : ranges) {
    for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
      EXPECT_EQ(ScanAll(*snapshot, Space::kDocuments, range, direction), Entries())
          << range.first << " " << range.last;
    }
  }
}

TEST_P(StoreContractTest, SeeksWithinItsRange) {
  for (const char* key : {"a", "c", "e", "g"}) Put(Space::kDocuments, key, key);
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  const auto seek = [&](Direction direction, const std::string& key) {
    const std::unique_ptr<Cursor> cursor = snapshot->Scan(Space::kDocuments, {"b", "g"}, direction);
    cursor->Seek(key);
    return KeysOf(Rest(*cursor));
  };
  EXPECT_EQ(seek(Direction::kForward, "c"), "c e ");
  EXPECT_EQ(seek(Direction::kForward, "d"), "e ");
  EXPECT_EQ(seek(Direction::kForward, "a"), "c e ");  // Before the range: its first key.
  EXPECT_EQ(seek(Direction::kForward, "f"), "");
  EXPECT_EQ(seek(Direction::kForward, "z"), "");
  EXPECT_EQ(seek(Direction::kBackward, "e"), "e c ");
  EXPECT_EQ(seek(Direction::kBackward, "d"), "c ");
  EXPECT_EQ(seek(Direction::kBackward, "z"), "e c ");  // After the range: its last key.
  EXPECT_EQ(seek(Direction::kBackward, "g"), "e c ");
  EXPECT_EQ(seek(Direction::kBackward, "a"), "");
}

TEST_P(StoreContractTest, AnExhaustedCursorCanSeekAgain) {
  for (const char* key : {"a", "b"}) Put(Space::kDocuments, key, key);
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    const std::unique_ptr<Cursor> cursor = snapshot->Scan(Space::kDocuments, {}, direction);
    Rest(*cursor);
    cursor->Seek("b");
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(cursor->key(), "b");
  }
}

TEST_P(StoreContractTest, KeysAreBytesAndSortUnsigned) {
  const std::vector<std::string> keys = {
      std::string(), std::string(1, '\0'), std::string(2, '\0'), "\x7f", "\x80", "\xff",
      "\xff\xff"};
  for (size_t i = keys.size(); i-- > 0;) Put(Space::kDocuments, keys[i], std::string(1, '\0'));
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  const Entries forward = ScanAll(*snapshot, Space::kDocuments, {}, Direction::kForward);
  ASSERT_EQ(forward.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(forward[i].first, keys[i]);
    EXPECT_EQ(forward[i].second, std::string(1, '\0'));
  }
  const Entries backward = ScanAll(*snapshot, Space::kDocuments, {}, Direction::kBackward);
  EXPECT_TRUE(std::equal(forward.begin(), forward.end(), backward.rbegin(), backward.rend()));
}

TEST_P(StoreContractTest, APrefixRangeHoldsExactlyThePrefix) {
  const std::vector<std::string> keys = {"a", "a\xff", "a\xff\xff", "a\xff\xffz",
                                         "b", "\xff",  "\xff\xff"};
  for (const std::string& key : keys) Put(Space::kDocuments, key, "");
  const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
  for (const std::string& prefix :
       {std::string(), std::string("a"), std::string("a\xff"), std::string("a\xff\xff"),
        std::string("\xff"), std::string("\xff\xff"), std::string("\xff\xff\xff")}) {
    Entries expected;
    for (const std::string& key : keys) {
      if (key.starts_with(prefix)) expected.emplace_back(key, "");
    }
    EXPECT_EQ(ScanAll(*snapshot, Space::kDocuments, PrefixRange(prefix), Direction::kForward),
              expected);
  }
}

TEST_P(StoreContractTest, HoldsBigValues) {
  const std::string big(size_t{1} << 20, 'x');
  Put(Space::kDocuments, "big", big);
  EXPECT_EQ(*store_->Get(Space::kDocuments, "big"), big);
  Batch batch;
  for (int i = 0; i < 4; ++i) batch.Put(Space::kDocuments, "big" + std::to_string(i), big);
  ASSERT_EQ(store_->Commit(batch), Status());
  EXPECT_EQ(*store_->Get(Space::kDocuments, "big3"), big);
}

TEST_P(StoreContractTest, ExpirySparesUnstampedSpacesAndNewerStamps) {
  for (const Space space : {Space::kMeta, Space::kDocuments, Space::kHistory, Space::kLog}) {
    for (const uint64_t stamp : {uint64_t{9}, uint64_t{10}, uint64_t{300}}) {
      Put(space, Stamped("key", stamp), "value");
    }
    Put(space, "short", "value");
  }
  store_->ExpireBefore(10);
  store_->ExpireBefore(5);
  Put(Space::kMeta, "after", "value");
  for (const Space space : {Space::kMeta, Space::kDocuments}) {
    EXPECT_EQ(*store_->Get(space, Stamped("key", 9)), "value");
  }
  for (const Space space : {Space::kHistory, Space::kLog}) {
    EXPECT_EQ(*store_->Get(space, Stamped("key", 10)), "value");
    EXPECT_EQ(*store_->Get(space, Stamped("key", 300)), "value");
    EXPECT_EQ(*store_->Get(space, "short"), "value");
  }
}

// Every commit writes one number to all spaces; no reader may ever see two different numbers.
TEST_P(StoreContractTest, ReadersSeeWholeCommitsWhileOthersAreMade) {
  constexpr int kCommitCount = 200;
  constexpr int kReaders = 3;
  const auto commit = [this](int number) {
    Batch batch;
    for (size_t space = 0; space < kSpaces; ++space) {
      for (const char* key : {"a", "b"}) {
        batch.Put(static_cast<Space>(space), key, std::to_string(number));
      }
    }
    ASSERT_EQ(store_->Commit(batch), Status());
  };
  commit(0);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([this, &done] {
      int newest = 0;
      while (!done) {
        const std::unique_ptr<Snapshot> snapshot = store_->NewSnapshot();
        const Maybe number = *snapshot->Get(Space::kMeta, "a");
        ASSERT_TRUE(number.has_value());
        ASSERT_GE(std::stoi(*number), newest);
        newest = std::stoi(*number);
        for (size_t space = 0; space < kSpaces; ++space) {
          const Entries expected = {{"a", *number}, {"b", *number}};
          ASSERT_EQ(ScanAll(*snapshot, static_cast<Space>(space), {}, Direction::kForward),
                    expected);
        }
        ASSERT_GE(std::stoi((*store_->Get(Space::kLog, "b")).value()), newest);
      }
    });
  }
  for (int number = 1; number <= kCommitCount; ++number) commit(number);
  done = true;
  for (std::thread& reader : readers) reader.join();
}

// Also for the tests of this fixture in other files.
INSTANTIATE_TEST_SUITE_P(All, StoreContractTest, testing::ValuesIn(kImplementations),
                         [](const auto& test) { return std::string(test.param.name); });

// A store that calls Commit within Commit.
class ReentrantStore final : public Store {
 public:
  Result<std::optional<std::string>> Get(Space, std::string_view) const override {
    return std::optional<std::string>();
  }
  std::optional<Result<std::optional<std::string>>> GetIfInMemory(Space,
                                                                  std::string_view) const override {
    return std::nullopt;
  }
  std::unique_ptr<Snapshot> NewSnapshot() const override { return nullptr; }
  uint64_t ApproximateBytes(Space, const KeyRange&) const override { return 0; }
  void ExpireBefore(uint64_t) override {}

 private:
  Status DoCommit(const Batch& batch) override { return Commit(batch); }
};

TEST(StoreDeathTest, TwoCommitsAtATimeAreOurBug) {
  EXPECT_DEATH(IgnoreError(ReentrantStore().Commit(Batch()), "it ends before"), "is_committing_");
}

}  // namespace
}  // namespace hearth::storage
