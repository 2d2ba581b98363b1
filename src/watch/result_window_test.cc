#include "watch/result_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "watch/testing/documents.h"

namespace hearth::watch {
namespace {

using query::QueryBuilder;
using testing::ElementsAre;
using testing::IsEmpty;
using Outcome = ResultWindow::Outcome;

// A window over documents {n: number}, next to the expected results of the query.
class Windowed {
 public:
  explicit Windowed(const QueryBuilder& builder, WatchMemory memory = WatchMemory())
      : query_(Live(builder)), memory_(std::move(memory)) {
    Fill();
  }

  void Set(const std::string& id, int64_t number) { numbers_["c/" + id] = number; }
  void Erase(const std::string& id) { numbers_.erase("c/" + id); }

  // All paths in the order of the query.
  std::vector<std::string> Sorted() const {
    std::vector<std::pair<int64_t, std::string>> sorted;
    for (const auto& [path, number] : numbers_) sorted.emplace_back(number, path);
    std::ranges::sort(sorted);
    if (query_->layout().backward) std::ranges::reverse(sorted);
    std::vector<std::string> paths;
    for (const auto& [number, path] : sorted) paths.push_back(path);
    return paths;
  }
  // What the window should show.
  std::vector<std::string> Expected() const {
    std::vector<std::string> paths = Sorted();
    const query::Query& query = query_->query().query;
    paths.erase(paths.begin(),
                paths.begin() + static_cast<ptrdiff_t>(std::min(paths.size(), query.offset)));
    if (query.limit && paths.size() > *query.limit) paths.resize(*query.limit);
    std::ranges::sort(paths);
    return paths;
  }
  // False if there is no memory.
  bool Fill() {
    window_ = std::make_unique<ResultWindow>(*query_, memory_.Another());
    size_t filled_with = 0;
    for (const std::string& path : Sorted()) {
      if (filled_with++ == window_->capacity()) break;
      if (!window_->Append(Path(path), Number(numbers_[path]))) return false;
    }
    return true;
  }
  bool Apply(const std::vector<std::string>& ids) {
    const Outcome outcome = ApplyOnce(ids);
    EXPECT_NE(outcome, Outcome::kNoMemory);
    return outcome == Outcome::kApplied;
  }
  Outcome ApplyOnce(const std::vector<std::string>& ids) {
    std::vector<model::DocumentPath> paths;
    for (const std::string& id : ids) paths.push_back(Path("c/" + id));
    ResultWindow::Changes changes;
    for (const model::DocumentPath& path : paths) {
      const auto number = numbers_.find(path.path());
      changes.emplace_back(&path, number == numbers_.end() ? nullptr : Number(number->second));
    }
    pushed_out_.clear();
    return window_->Apply(changes, &pushed_out_);
  }
  // Sorted by path.
  std::vector<std::string> Visible() const {
    const std::vector<std::string_view> visible = window_->Visible();
    std::vector<std::string> paths(visible.begin(), visible.end());
    for (const auto& [path, number] : numbers_) {
      EXPECT_EQ(window_->Shows(path), std::ranges::count(paths, path) > 0) << path;
    }
    std::ranges::sort(paths);
    return paths;
  }
  const ResultWindow& window() const { return *window_; }
  const std::vector<std::string>& pushed_out() const { return pushed_out_; }

 private:
  std::unique_ptr<const LiveQuery> query_;
  WatchMemory memory_;
  std::unique_ptr<ResultWindow> window_;
  std::map<std::string, int64_t> numbers_;
  std::vector<std::string> pushed_out_;
};

Windowed Filled(const QueryBuilder& builder, int64_t count) {
  Windowed windowed(builder);
  for (int64_t n = 1; n <= count; ++n)
    windowed.Set(std::string(1, static_cast<char>('a' + n)), n * 10);
  windowed.Fill();
  return windowed;
}

const QueryBuilder kFirstThree = QueryBuilder("c").Ascending("n").Limit(3);

TEST(ResultWindowTest, ShowsTheFirstOnes) {
  EXPECT_THAT(Filled(kFirstThree, 5).Visible(), ElementsAre("c/b", "c/c", "c/d"));
  EXPECT_THAT(Filled(kFirstThree, 2).Visible(), ElementsAre("c/b", "c/c"));
}

TEST(ResultWindowTest, OneThatComesInPushesTheLastOneOut) {
  Windowed windowed = Filled(kFirstThree, 5);
  windowed.Set("x", 25);
  EXPECT_TRUE(windowed.Apply({"x"}));
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/b", "c/c", "c/x"));
  EXPECT_THAT(windowed.pushed_out(), ElementsAre("c/d"));
}

TEST(ResultWindowTest, WhatComesAfterTheLastOneChangesNothing) {
  Windowed windowed = Filled(kFirstThree, 5);
  windowed.Set("x", 31);
  windowed.Set("f", 99);
  windowed.Erase("e");
  EXPECT_TRUE(windowed.Apply({"x", "f", "e"}));
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/b", "c/c", "c/d"));
}

TEST(ResultWindowTest, OneThatGoesHasTheQueryAskedAgainWhereMoreMayFollow) {
  Windowed full = Filled(kFirstThree, 3);
  full.Erase("b");
  EXPECT_FALSE(full.Apply({"b"}));

  Windowed all = Filled(kFirstThree, 2);  // Nothing can follow.
  all.Erase("b");
  EXPECT_TRUE(all.Apply({"b"}));
  EXPECT_THAT(all.Visible(), ElementsAre("c/c"));
}

TEST(ResultWindowTest, ALastOneThatMovesBackMayBeOvertaken) {
  Windowed windowed = Filled(kFirstThree, 5);
  windowed.Set("d", 35);
  EXPECT_FALSE(windowed.Apply({"d"}));
  windowed.Fill();
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/b", "c/c", "c/d"));
  windowed.Set("d", 5);  // Moving forward needs no new query.
  EXPECT_TRUE(windowed.Apply({"d"}));
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/b", "c/c", "c/d"));
}

TEST(ResultWindowTest, OneThatGoesAndOneThatComesInMakeUpForEachOther) {
  Windowed windowed = Filled(kFirstThree, 5);
  windowed.Erase("b");
  windowed.Set("x", 1);
  EXPECT_TRUE(windowed.Apply({"b", "x"}));
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/c", "c/d", "c/x"));
}

TEST(ResultWindowTest, OfADescendingQueryTheGreatestAreTheFirst) {
  Windowed windowed = Filled(QueryBuilder("c").Descending("n").Limit(2), 4);
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/d", "c/e"));
  windowed.Set("b", 35);
  EXPECT_TRUE(windowed.Apply({"b"}));
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/b", "c/e"));
  windowed.Set("e", 1);
  EXPECT_FALSE(windowed.Apply({"e"}));
}

TEST(ResultWindowTest, AnOffsetLeavesTheFirstOnesOutAndIsAlwaysAskedAgain) {
  Windowed windowed = Filled(QueryBuilder("c").Ascending("n").Offset(1).Limit(2), 5);
  EXPECT_EQ(windowed.window().capacity(), 3u);
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/c", "c/d"));
  windowed.Set("b", 99);
  EXPECT_FALSE(windowed.Apply({"b"}));
  windowed.Fill();
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/d", "c/e"));
}

TEST(ResultWindowTest, OfNothingStaysEmpty) {
  Windowed windowed = Filled(QueryBuilder("c").Ascending("n").Limit(0), 3);
  EXPECT_EQ(windowed.window().capacity(), 0u);
  windowed.Set("x", 1);
  windowed.Erase("b");
  EXPECT_TRUE(windowed.Apply({"x", "b"}));
  EXPECT_THAT(windowed.Visible(), IsEmpty());
}

TEST(ResultWindowTest, WithoutALimitTheCapacityHasNoEnd) {
  Windowed windowed = Filled(QueryBuilder("c").Ascending("n").Offset(2), 5);
  EXPECT_THAT(windowed.Visible(), ElementsAre("c/d", "c/e", "c/f"));
  EXPECT_GT(windowed.window().capacity(), 1'000'000'000u);
}

TEST(ResultWindowTest, EachResultNeedsMemory) {
  const QueryBuilder all = QueryBuilder("c").Ascending("n").Limit(100);
  MemoryBudget budget(2'000);
  Windowed windowed(all, WatchMemory(&budget, ClientKey{1}));
  for (int64_t n = 0; n < 3; ++n) windowed.Set(std::to_string(n), n);
  EXPECT_TRUE(windowed.Fill());
  const size_t of_three = budget.used_bytes();
  EXPECT_GT(of_three, 0u);
  windowed.Erase("1");
  EXPECT_EQ(windowed.ApplyOnce({"1"}), Outcome::kApplied);
  EXPECT_EQ(budget.used_bytes(), of_three / 3 * 2);
  for (int64_t n = 10; n < 30; ++n) windowed.Set(std::to_string(n), n);
  EXPECT_EQ(windowed.ApplyOnce({"10", "11", "12", "13", "14", "15", "16"}), Outcome::kNoMemory);
  EXPECT_FALSE(windowed.Fill());
}

TEST(ResultWindowTest, AnyChangesLeaveWhatASortWould) {
  Dice dice(TestSeed());
  size_t kept = 0;
  for (int round = 0; round < 300; ++round) {
    QueryBuilder builder("c");
    dice.OneIn(2) ? builder.Ascending("n") : builder.Descending("n");
    if (dice.OneIn(5)) builder.Offset(dice.Below(3));
    builder.Limit(dice.Below(6));
    Windowed windowed = Filled(builder, static_cast<int64_t>(dice.Below(10)));
    for (int step = 0; step < 20; ++step) {
      std::set<std::string> ids;
      for (size_t count = 1 + dice.Below(3); count > 0; --count) {
        const std::string id(1, static_cast<char>('a' + dice.Below(12)));
        ids.insert(id);
        dice.OneIn(3) ? windowed.Erase(id) : windowed.Set(id, static_cast<int64_t>(dice.Below(15)));
      }
      if (windowed.Apply({ids.begin(), ids.end()})) {
        ++kept;
      } else {
        windowed.Fill();
      }
      ASSERT_EQ(windowed.Visible(), windowed.Expected()) << "round " << round << " step " << step;
    }
  }
  EXPECT_GT(kept, 2'000u);
}

}  // namespace
}  // namespace hearth::watch
