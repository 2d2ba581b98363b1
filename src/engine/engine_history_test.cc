// Random commits on a few documents, with the whole state recorded after each of them; then random
// reads at random moments must show the state of that moment.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/testing/test_rounds.h"
#include "base/testing/test_seed.h"
#include "engine/engine.h"
#include "engine/listing.h"
#include "engine/testing/test_engine.h"
#include "model/numeric_id.h"

namespace hearth::engine {
namespace {

using namespace std::chrono_literals;
using model::Timestamp;
using State = std::map<std::string, std::string>;  // Paths and records.

const std::vector<std::string> kPaths = {
    "a/x",         "a/y", "a/__id1__", "a/__id-5__", "a/x/b/x",     "a/x/b/y", "a/z/b/x",
    "a/z/b/x/c/x", "b/x", "b/x!",      "b/y/d/x",    "b/y/d/x/e/x", "d/é",
};
const std::vector<std::string> kParents = {"",    "a/x", "a/z",     "a/z/b/x",  "b/y",
                                           "b/x", "d/é", "b/y/d/x", "none/none"};
const std::vector<std::string> kCollections = {"a", "b", "c", "d", "e"};

// All past states, by the time of the commit that produced them.
class Model {
 public:
  // Commits that change nothing leave no state.
  void Remember(Timestamp time, State state) {
    if (state != newest()) states_[time] = std::move(state);
  }

  const State& At(Timestamp time) const {
    const auto after = states_.upper_bound(time);
    return after == states_.begin() ? nothing_ : std::prev(after)->second;
  }
  const State& newest() const { return states_.empty() ? nothing_ : states_.rbegin()->second; }

  // A moment from `oldest` to `now` or the newest commit: a commit's, one just before it, or any.
  Timestamp Moment(Dice& dice, int64_t oldest, int64_t now) const {
    auto commit = states_.lower_bound(Timestamp::FromMicros(oldest));
    const auto commits = static_cast<size_t>(std::distance(commit, states_.end()));
    if (commits == 0 || dice.OneIn(4)) {
      const int64_t newest =
          states_.empty() ? now : std::max(now, states_.rbegin()->first.micros());
      const auto moments = static_cast<size_t>(newest - oldest + 1);
      return Timestamp::FromMicros(oldest + static_cast<int64_t>(dice.Below(moments)));
    }
    std::advance(commit, dice.Below(commits));
    const int64_t micros = commit->first.micros() - (dice.OneIn(2) ? 1 : 0);
    return Timestamp::FromMicros(std::max(micros, oldest));
  }

 private:
  std::map<Timestamp, State> states_;
  const State nothing_ = {};
};

enum class Missing { kHidden, kShown };

// Computes answers from one state, the slow way.
std::vector<std::string> NaiveList(const State& state, const std::string& parent,
                                   const std::string& collection_id, Missing missing) {
  const auto sorts_before = [](const std::string& left, const std::string& right) {
    const std::optional<int64_t> left_number = model::NumericId(left);
    const std::optional<int64_t> right_number = model::NumericId(right);
    if (left_number && right_number) return *left_number < *right_number;
    if (left_number || right_number) return left_number.has_value();
    return left < right;
  };
  std::set<std::string, decltype(sorts_before)> ids(sorts_before);
  const std::string prefix = (parent.empty() ? "" : parent + "/") + collection_id + "/";
  for (const auto& [path, record] : state) {
    if (!path.starts_with(prefix)) continue;
    const std::string rest = path.substr(prefix.size());
    const size_t slash = rest.find('/');
    if (slash == std::string::npos || missing == Missing::kShown) ids.insert(rest.substr(0, slash));
  }
  std::vector<std::string> paths;
  for (const std::string& id : ids) paths.push_back(prefix + id);
  return paths;
}

std::vector<std::string> NaiveCollectionIds(const State& state, const std::string& parent) {
  const std::string prefix = parent.empty() ? "" : parent + "/";
  std::set<std::string> ids;
  for (const auto& [path, record] : state) {
    if (!path.starts_with(prefix)) continue;
    const std::string rest = path.substr(prefix.size());
    ids.insert(rest.substr(0, rest.find('/')));
  }
  return {ids.begin(), ids.end()};
}

class EngineHistoryTest : public testing::TestWithParam<storage::FaultyStore::Values> {
 protected:
  static EngineOptions Options() {
    EngineOptions options;
    options.document_cache_bytes = 16 * 400;  // Two small documents per shard.
    return options;
  }

  void CommitSomething() {
    std::vector<request::Write> writes;
    for (size_t count = 1 + dice_.Below(4); count > 0; --count) {
      const std::string& path = kPaths[dice_.Below(kPaths.size())];
      switch (dice_.Below(5)) {
        case 0:
        case 1:
          writes.push_back(Delete(path));
          break;
        case 2:
          writes.push_back(Transform(path, {Increment("n", 1)}));
          break;
        default:  // Sometimes the value that is already there.
          writes.push_back(SetNumber(path, static_cast<int64_t>(dice_.Below(3))));
      }
    }
    const Result<request::CommitResult> result = test_.Commit(writes);
    ASSERT_TRUE(result.ok());
    State state = model_.newest();
    for (size_t i = 0; i < writes.size(); ++i) {
      const model::Record& after = result->write_results[i].document;
      if (after) {
        state[writes[i].path.path()] = *after;
      } else {
        state.erase(writes[i].path.path());
      }
    }
    model_.Remember(result->commit_time, std::move(state));
  }

  void CheckPoint(Timestamp time) {
    const std::string& path = kPaths[dice_.Below(kPaths.size())];
    const Result<model::Record> record = test_.Get(time, path);
    ASSERT_TRUE(record.ok()) << record.status().ToString();
    const State& state = model_.At(time);
    ASSERT_EQ(*record != nullptr, state.contains(path)) << path;
    if (*record) {
      ASSERT_EQ(**record, state.at(path)) << path;
    }
  }

  void CheckBatch(Timestamp time) {
    const auto view = test_.Read(time, TestEngine::Documents({}));
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    State seen;
    for (const std::string& path : kPaths) {
      std::optional<Result<model::Record>> record = (*view)->GetIfInMemory(Path(path));
      if (!record) record = (*view)->Get(Path(path));
      ASSERT_TRUE(record->ok());
      if (**record) seen[path] = ***record;
    }
    ASSERT_EQ(seen, model_.At(time));
  }

  void CheckListing(const ReadView& view, const State& state) {
    request::ListDocumentsRequest request{Parent(kParents[dice_.Below(kParents.size())]),
                                          kCollections[dice_.Below(kCollections.size())]};
    request.show_missing = dice_.OneIn(2);
    request.page_size = 1 + dice_.Below(4);
    std::vector<std::string> listed;
    do {
      const Result<request::DocumentPage> page = ListDocuments(view, request);
      ASSERT_TRUE(page.ok()) << page.status().ToString();
      for (const request::ListedDocument& document : page->documents) {
        listed.push_back(document.path.path());
        ASSERT_EQ(document.record != nullptr, state.contains(listed.back()));
        if (document.record) {
          ASSERT_EQ(*document.record, state.at(listed.back()));
        }
      }
      request.page_token = page->next_page_token;
    } while (!request.page_token.empty());
    ASSERT_EQ(listed, NaiveList(state, request.parent.document_path, request.collection_id,
                                request.show_missing ? Missing::kShown : Missing::kHidden));
  }

  void CheckCollectionIds(const ReadView& view, const State& state) {
    const std::string& parent = kParents[dice_.Below(kParents.size())];
    std::vector<std::string> listed;
    std::string token;
    do {
      const Result<request::CollectionIdPage> page =
          ListCollectionIds(view, Parent(parent), 1 + dice_.Below(3), token);
      ASSERT_TRUE(page.ok());
      listed.insert(listed.end(), page->collection_ids.begin(), page->collection_ids.end());
      token = page->next_page_token;
    } while (!token.empty());
    ASSERT_EQ(listed, NaiveCollectionIds(state, parent));
  }

  void CheckScans(Timestamp time) {
    const auto view = test_.Read(time, TestEngine::Everything());
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    const State& state = model_.At(time);
    ASSERT_EQ(*ScanAll(**view), state);
    CheckListing(**view, state);
    CheckCollectionIds(**view, state);
  }

  void CheckSomething(Timestamp time) {
    SCOPED_TRACE(testing::Message() << "at " << time.micros());
    switch (dice_.Below(3)) {
      case 0:
        return CheckPoint(time);
      case 1:
        return CheckBatch(time);
      default:
        return CheckScans(time);
    }
  }

  Dice dice_{TestSeed()};
  TestEngine test_{Options(), GetParam()};
  Model model_;
};

TEST_P(EngineHistoryTest, EveryMomentIsAsItWas) {
  for (size_t i = 0; i < TestRounds(400); ++i) {
    ASSERT_NO_FATAL_FAILURE(CommitSomething());
    if (dice_.OneIn(3)) test_.clock().Advance(std::chrono::microseconds(dice_.Below(50)));
    if (dice_.OneIn(20)) test_.clock().SetWall(std::max(test_.now() - 30, kTestStartMicros));
    if (dice_.OneIn(50)) test_.Restart();
    for (int reads = 0; reads < 8; ++reads) {
      ASSERT_NO_FATAL_FAILURE(
          CheckSomething(model_.Moment(dice_, kTestStartMicros - 5, test_.now())));
    }
  }
}

TEST_P(EngineHistoryTest, EveryMomentOfTheLastHourIsAsItWas) {
  const int64_t hour = std::chrono::microseconds(1h).count();
  for (size_t i = 0; i < TestRounds(600); ++i) {
    ASSERT_NO_FATAL_FAILURE(CommitSomething());
    test_.Pass(std::chrono::seconds(dice_.Below(120)));
    const int64_t oldest = std::max(test_.now() - hour, kTestStartMicros - 5);
    for (int reads = 0; reads < 4; ++reads) {
      ASSERT_NO_FATAL_FAILURE(CheckSomething(model_.Moment(dice_, oldest, test_.now())));
    }
    ASSERT_NO_FATAL_FAILURE(CheckSomething(Timestamp::FromMicros(oldest)));
    EXPECT_EQ(test_.Get(Timestamp::FromMicros(test_.now() - hour - 1), "a/x").status(),
              Status(Code::kFailedPrecondition, "The requested 'read_time' is too old."));
  }
}

INSTANTIATE_TEST_SUITE_P(Values, EngineHistoryTest,
                         testing::Values(storage::FaultyStore::Values::kInMemory,
                                         storage::FaultyStore::Values::kOnDisk),
                         [](const auto& values) {
                           return values.param == storage::FaultyStore::Values::kInMemory
                                      ? "InMemory"
                                      : "OnDisk";
                         });

}  // namespace
}  // namespace hearth::engine
