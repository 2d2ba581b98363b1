// Compares every Store with std::map, using random commits, snapshots and scans.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "storage/store_contract.h"

namespace hearth::storage {
namespace {

class Differential {
 public:
  using Model = std::array<std::map<std::string, std::string>, kSpaces>;

  Differential(Store& store, uint64_t seed) : store_(store), random_(seed) {}

  void Commit() {
    Batch batch;
    const size_t changes = Below(8);
    for (size_t i = 0; i < changes; ++i) {
      const size_t space = Below(kSpaces);
      const std::string key = Key();
      if (Below(3) == 0) {
        batch.Delete(static_cast<Space>(space), key);
        model_[space].erase(key);
      } else {
        const std::string value(Below(40), static_cast<char>(Below(256)));
        batch.Put(static_cast<Space>(space), key, value);
        model_[space][key] = value;
      }
    }
    ASSERT_EQ(store_.Commit(batch), Status());
  }

  void TakeSnapshot() {
    constexpr size_t kSnapshots = 4;
    if (snapshots_.size() == kSnapshots) snapshots_.erase(snapshots_.begin());
    snapshots_.emplace_back(store_.NewSnapshot(), model_);
  }

  void Check() {
    const size_t space = Below(kSpaces);
    const std::string key = Key();
    EXPECT_EQ(*store_.Get(static_cast<Space>(space), key), Find(model_[space], key));
    if (snapshots_.empty()) return;
    const auto& [snapshot, model] = snapshots_[Below(snapshots_.size())];
    EXPECT_EQ(*snapshot->Get(static_cast<Space>(space), key), Find(model[space], key));
    CheckScan(*snapshot, model[space], static_cast<Space>(space));
  }

  size_t Below(size_t bound) { return random_() % bound; }

 private:
  static Maybe Find(const std::map<std::string, std::string>& model, const std::string& key) {
    const auto found = model.find(key);
    return found == model.end() ? Maybe() : Maybe(found->second);
  }

  std::string Key() {
    static constexpr std::string_view kBytes("\x00\x01\x7f\x80\xff", 5);
    std::string key;
    for (size_t length = Below(4); length > 0; --length)
      key.push_back(kBytes[Below(kBytes.size())]);
    return key;
  }

  void CheckScan(const Snapshot& snapshot, const std::map<std::string, std::string>& model,
                 Space space) {
    const KeyRange range = Below(2) == 0 ? PrefixRange(Key()) : KeyRange{Key(), Key()};
    const Direction direction = Below(2) == 0 ? Direction::kForward : Direction::kBackward;
    const bool seeks = Below(2) == 0;
    const std::string target = Key();
    Entries expected;
    for (const auto& [key, value] : model) {
      if (key < range.first || (!range.last.empty() && key >= range.last)) continue;
      if (seeks && (direction == Direction::kForward ? key < target : key > target)) continue;
      expected.emplace_back(key, value);
    }
    if (direction == Direction::kBackward) std::reverse(expected.begin(), expected.end());
    const std::unique_ptr<Cursor> cursor = snapshot.Scan(space, range, direction);
    if (seeks) cursor->Seek(target);
    EXPECT_EQ(Rest(*cursor), expected);
  }

  Store& store_;
  std::mt19937_64 random_;
  Model model_;
  std::vector<std::pair<std::unique_ptr<Snapshot>, Model>> snapshots_;
};

TEST_P(StoreContractTest, BehavesLikeAMap) {
  const uint64_t seed = TestSeed();
  Differential differential(*store_, seed);
  for (int step = 0; step < 1500 && !HasFailure(); ++step) {
    differential.Commit();
    if (differential.Below(10) == 0) differential.TakeSnapshot();
    differential.Check();
  }
}

}  // namespace
}  // namespace hearth::storage
