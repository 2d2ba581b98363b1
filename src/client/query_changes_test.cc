#include "client/query_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/testing/test_seed.h"
#include "model/document.h"

namespace hearth::client {
namespace {

using Kind = DocumentChange::Kind;
using Documents = std::vector<DocumentSnapshot>;

DocumentSnapshot Document(const std::string& id, int64_t version) {
  const Timestamp time = Timestamp::FromMicros(version);
  return DocumentSnapshot(
      nullptr, *model::DocumentPath::Parse("rooms/" + id),
      std::make_shared<const std::string>(model::EncodeRecord(time, time, model::Fields())), time);
}

// "a1" is document a at version 1.
Documents List(const std::vector<std::string>& texts) {
  Documents documents;
  for (const std::string& text : texts) {
    documents.push_back(Document(text.substr(0, 1), std::stoll(text.substr(1))));
  }
  return documents;
}

std::string TextOf(const DocumentSnapshot& document) {
  return std::string(document.id()) + std::to_string(document.update_time().micros());
}

// "+a1@0", "-b1@2", "~c2@1>0"
std::vector<std::string> TextsOf(const std::vector<DocumentChange>& changes) {
  std::vector<std::string> texts;
  for (const DocumentChange& change : changes) {
    const std::string text = TextOf(change.document) + "@";
    switch (change.kind) {
      case Kind::kAdded:
        texts.push_back("+" + text + std::to_string(change.new_index));
        break;
      case Kind::kRemoved:
        texts.push_back("-" + text + std::to_string(change.old_index));
        break;
      case Kind::kModified:
        texts.push_back("~" + text + std::to_string(change.old_index) + ">" +
                        std::to_string(change.new_index));
        break;
    }
  }
  return texts;
}

using Texts = std::vector<std::string>;

Texts Changes(const Texts& before, const Texts& after) {
  return TextsOf(ChangesBetween(List(before), List(after)));
}

TEST(QueryChangesTest, Simple) {
  EXPECT_EQ(Changes({}, {}), Texts{});
  EXPECT_EQ(Changes({"a1", "b1"}, {"a1", "b1"}), Texts{});
  EXPECT_EQ(Changes({}, {"a1", "b1"}), (Texts{"+a1@0", "+b1@1"}));
  EXPECT_EQ(Changes({"a1", "b1", "c1"}, {"b1"}), (Texts{"-a1@0", "-c1@1"}));
  EXPECT_EQ(Changes({"a1", "b1"}, {"a1", "x1", "b1", "y1"}), (Texts{"+x1@1", "+y1@3"}));
}

TEST(QueryChangesTest, ModifiedInPlace) {
  EXPECT_EQ(Changes({"a1", "b1", "c1"}, {"a2", "b1", "c2"}), (Texts{"~a2@0>0", "~c2@2>2"}));
  EXPECT_EQ(Changes({"a1", "m1", "b1"}, {"a1", "m2", "x1", "b1"}), (Texts{"+x1@2", "~m2@1>1"}));
}

TEST(QueryChangesTest, ModifiedAndMoved) {
  EXPECT_EQ(Changes({"a1", "b1", "c1"}, {"b1", "c1", "a2"}), (Texts{"~a2@0>2"}));
  EXPECT_EQ(Changes({"a1", "b1", "c1"}, {"c2", "a1", "b1"}), (Texts{"~c2@2>0"}));
}

TEST(QueryChangesTest, AllAtOnce) {
  EXPECT_EQ(Changes({"a1", "b1", "c1", "d1"}, {"d2", "x1", "b1", "a2"}),
            (Texts{"-c1@2", "+x1@0", "~d2@3>0", "~a2@2>3"}));
}

Texts Apply(const std::vector<DocumentChange>& changes, Texts list) {
  for (const DocumentChange& change : changes) {
    if (change.kind != Kind::kAdded) {
      EXPECT_EQ(list.at(change.old_index)[0], change.document.id()[0]);
      list.erase(list.begin() + static_cast<long>(change.old_index));
    }
    if (change.kind != Kind::kRemoved) {
      EXPECT_LE(change.new_index, list.size());
      list.insert(list.begin() + static_cast<long>(change.new_index), TextOf(change.document));
    }
  }
  return list;
}

// A query's results: documents ordered by a sort key that changes only with their version.
struct Model {
  struct Entry {
    size_t key;
    int version;
  };
  std::map<char, Entry> entries;

  Texts Sorted() const {
    std::vector<std::pair<size_t, char>> order;
    for (const auto& [id, entry] : entries) order.emplace_back(entry.key, id);
    std::sort(order.begin(), order.end());
    Texts texts;
    for (const auto& [key, id] : order) {
      texts.push_back(std::string(1, id) + std::to_string(entries.at(id).version));
    }
    return texts;
  }
};

TEST(QueryChangesTest, AppliedInOrderTheyMakeTheNewResults) {
  Dice dice(TestSeed());
  Model results;
  int version = 0;
  for (int round = 0; round < 3'000; ++round) {
    const Texts before = results.Sorted();
    for (size_t i = dice.Below(6); i > 0; --i) {
      const char id = static_cast<char>('a' + dice.Below(12));
      if (dice.OneIn(3)) {
        results.entries.erase(id);
      } else {
        results.entries[id] = {dice.Below(8), ++version};
      }
    }
    const Texts after = results.Sorted();
    const std::vector<DocumentChange> changes = ChangesBetween(List(before), List(after));
    ASSERT_EQ(Apply(changes, before), after) << testing::PrintToString(TextsOf(changes));
    const auto kinds_in_order = [](const DocumentChange& a, const DocumentChange& b) {
      const auto rank = [](Kind kind) {
        return kind == Kind::kRemoved ? 0 : kind == Kind::kAdded ? 1 : 2;
      };
      return rank(a.kind) < rank(b.kind);
    };
    ASSERT_TRUE(std::is_sorted(changes.begin(), changes.end(), kinds_in_order));
  }
}

}  // namespace
}  // namespace hearth::client
