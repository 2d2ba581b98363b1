// Random queries and random changes: compares a live query's decision on a single document, the
// contents of a window, and the queries that the target index finds, with the brute force.
// HEARTH_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "queries/asking.h"
#include "queries/brute_force.h"
#include "queries/generator.h"
#include "request/testing/writes.h"
#include "watch/live_query.h"
#include "watch/result_window.h"
#include "watch/target_index.h"

namespace hearth::queries {
namespace {

using watch::LiveQuery;
using watch::ResultWindow;
using watch::TargetNumber;

constexpr model::DatabaseNumber kDatabase{1};

// A query that is listened to, with its window.
struct Listened {
  query::Query query;
  std::unique_ptr<const watch::Target> target;
  std::unique_ptr<ResultWindow> window;

  const LiveQuery& live() const { return *std::get<0>(*target); }
};

model::Record RecordOf(const Documents& documents, const std::string& path) {
  const auto found = documents.find(path);
  if (found == documents.end()) return nullptr;
  const model::Fields fields = WriteOf(path, *found->second).fields;
  return std::make_shared<const std::string>(hearth::RecordOf(1, 1, fields));
}

class LiveQueryRandomTest : public testing::Test {
 protected:
  Dice& dice() { return generator_.dice(); }

  void Change(Documents* documents, std::set<std::string>* changed) {
    for (size_t count = 1 + dice().Below(4); count > 0; --count) {
      const std::string path = generator_.Path();
      changed->insert(path);
      if (dice().OneIn(4)) {
        documents->erase(path);
      } else {
        (*documents)[path] = std::make_shared<const Document>(generator_.Fields());
      }
    }
  }

  std::vector<Listened> Listen(size_t count, const Documents& documents) {
    std::vector<Listened> all;
    while (all.size() < count) {
      RandomQuery random = generator_.Query(documents);
      random.aggregations.clear();
      Result<query::NormalizedQuery> normalized = NormalizeRandom(random);
      if (!normalized.ok()) continue;
      auto live = std::make_unique<const LiveQuery>(database_, *std::move(normalized));
      const bool has_window = live->HasWindow();
      all.push_back(
          {random.query, std::make_unique<const watch::Target>(std::move(live)), nullptr});
      if (has_window) Fill(all.back(), documents);
      index_.Add(TargetNumber{all.size() - 1}, kDatabase, *all.back().target);
    }
    return all;
  }

  static void Fill(Listened& listened, const Documents& documents) {
    listened.window = std::make_unique<ResultWindow>(listened.live());
    query::Query query = listened.query;
    query.offset = 0;
    if (query.limit) query.limit = listened.window->capacity();
    for (const std::string& path : Evaluate(query, documents)) {
      ASSERT_TRUE(listened.window->Append(Path(path), RecordOf(documents, path)));
    }
  }

  // All documents that pass the filters and cursors.
  static std::set<std::string> Matches(query::Query query, const Documents& documents) {
    query.offset = 0;
    query.limit.reset();
    const std::vector<std::string> paths = Evaluate(query, documents);
    return {paths.begin(), paths.end()};
  }

  static std::set<std::string> VisibleIn(const ResultWindow& window) {
    const std::vector<std::string_view> visible = window.Visible();
    return {visible.begin(), visible.end()};
  }

  void CheckWindow(Listened& listened, const std::vector<watch::Change>& changes,
                   const Documents& documents) {
    ResultWindow::Changes newest;
    for (const watch::Change& change : changes) {
      if (listened.live().IsConcernedBy(change)) newest.emplace_back(&change.path, change.after);
    }
    const std::set<std::string> before = VisibleIn(*listened.window);
    std::vector<std::string> pushed_out;
    const bool is_applied =
        listened.window->Apply(newest, &pushed_out) == ResultWindow::Outcome::kApplied;
    if (!is_applied) Fill(listened, documents);
    const std::vector<std::string> paths = Evaluate(listened.query, documents);
    const std::set<std::string> after = VisibleIn(*listened.window);
    ASSERT_EQ(after, std::set<std::string>(paths.begin(), paths.end())) << Show(listened.query);
    if (!is_applied) return;
    std::set<std::string> left = before;
    for (const std::string& path : after) left.erase(path);
    for (const auto& [path, record] : newest) left.erase(path->path());
    ASSERT_EQ(std::set<std::string>(pushed_out.begin(), pushed_out.end()), left)
        << Show(listened.query);
  }

  const model::DatabaseName database_ = NameDatabase();
  Generator generator_{TestSeed()};
  watch::TargetIndex index_;
  size_t concerned_ = 0;
  size_t found_ = 0;
};

TEST_F(LiveQueryRandomTest, DocumentsAloneTellWhatAQueryWould) {
  constexpr size_t kQueries = 60;
  for (size_t round = 0; round < TestRounds(40); ++round) {
    Documents before;
    std::set<std::string> written;
    for (int i = 0; i < 25; ++i) Change(&before, &written);
    std::vector<Listened> all = Listen(kQueries, before);
    for (int step = 0; step < 8; ++step) {
      Documents after = before;
      std::set<std::string> changed;
      Change(&after, &changed);
      std::vector<watch::Change> changes;
      std::vector<std::set<TargetNumber>> found;
      for (const std::string& path : changed) {
        changes.push_back({kDatabase, Path(path), RecordOf(before, path), RecordOf(after, path),
                           model::Timestamp()});
        std::vector<TargetNumber> numbers;
        index_.Find(changes.back(), &numbers);
        found.emplace_back(numbers.begin(), numbers.end());
        found_ += found.back().size();
      }
      for (size_t number = 0; number < all.size(); ++number) {
        const std::set<std::string> matched = Matches(all[number].query, before);
        const std::set<std::string> matches = Matches(all[number].query, after);
        for (size_t i = 0; i < changes.size(); ++i) {
          const std::string& path = changes[i].path.path();
          const bool concerns = matched.contains(path) || matches.contains(path);
          ASSERT_EQ(all[number].live().IsConcernedBy(changes[i]), concerns)
              << path << "\n"
              << Show(all[number].query);
          ASSERT_TRUE(!concerns || found[i].contains(TargetNumber{number}))
              << path << "\n"
              << Show(all[number].query);
          concerned_ += concerns ? 1 : 0;
        }
        if (all[number].window) CheckWindow(all[number], changes, after);
        if (HasFatalFailure()) return;
      }
      before = std::move(after);
    }
    for (size_t number = 0; number < all.size(); ++number) {
      index_.Remove(TargetNumber{number}, kDatabase, *all[number].target);
    }
    ASSERT_TRUE(index_.empty());
  }
  EXPECT_GT(concerned_, TestRounds(1'000));
  EXPECT_GE(found_, concerned_);
}

}  // namespace
}  // namespace hearth::queries
