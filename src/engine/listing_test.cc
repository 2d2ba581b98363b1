#include "engine/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/testing/test_seed.h"
#include "engine/keys.h"
#include "engine/page_token.h"
#include "engine/testing/faulty_store.h"
#include "engine/testing/writes.h"
#include "model/numeric_id.h"
#include "storage/memory_store.h"

namespace hearth::engine {
namespace {

using model::EncodeInteger;
using model::EncodeString;
using Paths = std::vector<std::string>;

const Status kInvalid = InvalidArgument("invalid page token");

// By segments, numeric ids first and by their value, everything else by its bytes.
bool SortsBefore(const std::string& left, const std::string& right) {
  const std::optional<int64_t> left_number = model::NumericId(left);
  const std::optional<int64_t> right_number = model::NumericId(right);
  if (left_number && right_number) return *left_number < *right_number;
  if (left_number || right_number) return left_number.has_value();
  return left < right;
}

class ListingTest : public testing::Test {
 protected:
  void Put(const std::string& path, const FieldMap& fields = {}) {
    storage::Batch batch;
    batch.Put(storage::Space::kDocuments, DocumentKey(database_.number, Path(path)),
              RecordOf(1, 1, MakeFields(fields)));
    ASSERT_EQ(memory_->Commit(batch), Status());
    documents_.insert(path);
  }
  void PutAll(const Paths& paths) {
    for (const std::string& path : paths) Put(path);
  }

  std::unique_ptr<ReadView> View() {
    ReadView::Parts parts{};
    parts.database = &database_;
    parts.snapshot = store_.NewSnapshot();
    parts.is_present = true;
    return std::make_unique<ReadView>(std::move(parts));
  }

  static ListDocumentsRequest Request(std::string_view parent, std::string collection_id) {
    return {Parent(parent), std::move(collection_id)};
  }

  Result<DocumentPage> List(const ListDocumentsRequest& request) {
    return ListDocuments(*View(), request);
  }

  // All pages of `request`: paths, with a "-" behind those that have no document.
  Paths ListAll(ListDocumentsRequest request, size_t page_size) {
    request.page_size = page_size;
    Paths all;
    while (true) {
      const Result<DocumentPage> page = List(request);
      if (!page.ok()) {
        ADD_FAILURE() << page.status().ToString();
        return all;
      }
      EXPECT_LE(page->documents.size(), page_size);
      for (const ListedDocument& document : page->documents) {
        EXPECT_EQ(document.record != nullptr, documents_.contains(document.path.path()));
        all.push_back(document.path.path() + (document.record ? "" : "-"));
      }
      request.page_token = page->next_page_token;
      if (request.page_token.empty()) return all;
      EXPECT_FALSE(page->documents.empty());
      if (page->documents.empty() || all.size() > 10'000) return all;
    }
  }
  Paths ListAll(std::string_view parent, std::string collection_id) {
    return ListAll(Request(parent, std::move(collection_id)), kPageSizeMax);
  }
  Paths ListMissingToo(std::string_view parent, std::string collection_id, size_t page_size = 300) {
    ListDocumentsRequest request = Request(parent, std::move(collection_id));
    request.show_missing = true;
    return ListAll(request, page_size);
  }

  Paths ListIds(std::string_view parent, size_t page_size = kPageSizeMax) {
    Paths all;
    for (std::string token;;) {
      const Result<CollectionIdPage> page =
          ListCollectionIds(*View(), Parent(parent), page_size, token);
      if (!page.ok()) {
        ADD_FAILURE() << page.status().ToString();
        return all;
      }
      EXPECT_LE(page->collection_ids.size(), page_size);
      all.insert(all.end(), page->collection_ids.begin(), page->collection_ids.end());
      token = page->next_page_token;
      if (token.empty() || all.size() > 10'000) return all;
    }
  }

  // The same answers from the set of all documents, the slow way.
  enum class Missing { kHidden, kShown };
  Paths NaiveList(const std::string& parent, const std::string& collection_id, Missing missing) {
    const std::string prefix = (parent.empty() ? "" : parent + "/") + collection_id + "/";
    std::set<std::string, decltype(&SortsBefore)> ids(&SortsBefore);
    for (const std::string& path : documents_) {
      if (!path.starts_with(prefix)) continue;
      const std::string rest = path.substr(prefix.size());
      const size_t slash = rest.find('/');
      if (slash == std::string::npos || missing == Missing::kShown)
        ids.insert(rest.substr(0, slash));
    }
    Paths paths;
    for (const std::string& id : ids) {
      paths.push_back(prefix + id + (documents_.contains(prefix + id) ? "" : "-"));
    }
    return paths;
  }
  Paths NaiveIds(const std::string& parent) {
    const std::string prefix = parent.empty() ? "" : parent + "/";
    std::set<std::string> ids;
    for (const std::string& path : documents_) {
      if (!path.starts_with(prefix)) continue;
      const std::string rest = path.substr(prefix.size());
      ids.insert(rest.substr(0, rest.find('/')));
    }
    return {ids.begin(), ids.end()};
  }

  std::unique_ptr<storage::Store> memory_ = storage::NewMemoryStore();
  FaultyStore store_{*memory_};
  const Database database_{NameDatabase(), DatabaseNumber{7}, true};
  std::set<std::string> documents_;
};

TEST_F(ListingTest, ListsTheDocumentsOfOneCollection) {
  PutAll({"rooms/b", "rooms/a", "rooms/a/messages/m", "room/x", "roomsx/x", "rooms2/x"});
  EXPECT_EQ(ListAll("", "rooms"), (Paths{"rooms/a", "rooms/b"}));
  EXPECT_EQ(ListAll("rooms/a", "messages"), (Paths{"rooms/a/messages/m"}));
  EXPECT_EQ(ListAll("", "nothing"), Paths{});
  EXPECT_EQ(ListAll("no/document", "messages"), Paths{});
}

TEST_F(ListingTest, OtherDatabasesAreOtherWorlds) {
  storage::Batch batch;
  for (const uint32_t number : {6u, 8u}) {
    batch.Put(storage::Space::kDocuments, DocumentKey(DatabaseNumber{number}, Path("c/x")),
              RecordOf(1, 1, {}));
  }
  ASSERT_EQ(memory_->Commit(batch), Status());
  EXPECT_EQ(ListAll("", "c"), Paths{});
  EXPECT_EQ(ListAll("", ""), Paths{});
  EXPECT_EQ(ListIds(""), Paths{});
}

TEST_F(ListingTest, NumericIdsComeFirst) {
  PutAll({"c/a", "c/__id10__", "c/__id9__", "c/__id-1__", "c/__", "c/\xef\xbf\xae", "c/\U0001f600",
          "c/A", "c/__id9223372036854775807__", "c/__id-9223372036854775808__"});
  const Paths expected = {"c/__id-9223372036854775808__",
                          "c/__id-1__",
                          "c/__id9__",
                          "c/__id10__",
                          "c/__id9223372036854775807__",
                          "c/A",
                          "c/__",
                          "c/a",
                          "c/\xef\xbf\xae",
                          "c/\U0001f600"};
  for (size_t page_size = 1; page_size <= 11; ++page_size) {
    EXPECT_EQ(ListAll(Request("", "c"), page_size), expected) << page_size;
    EXPECT_EQ(ListMissingToo("", "c", page_size), expected) << page_size;
  }
}

TEST_F(ListingTest, ATokenComesOnlyWhereSomethingFollows) {
  PutAll({"c/a", "c/b"});
  ListDocumentsRequest request = Request("", "c");
  request.page_size = 2;
  EXPECT_EQ(List(request)->next_page_token, "");
  request.page_size = 1;
  request.page_token = List(request)->next_page_token;
  EXPECT_NE(request.page_token, "");
  EXPECT_EQ(List(request)->next_page_token, "");
}

TEST_F(ListingTest, PagesGoOnWhereTheLastDocumentIsGone) {
  PutAll({"c/a", "c/b", "c/c"});
  ListDocumentsRequest request = Request("", "c");
  request.page_size = 2;
  request.page_token = List(request)->next_page_token;
  storage::Batch batch;
  batch.Delete(storage::Space::kDocuments, DocumentKey(database_.number, Path("c/b")));
  ASSERT_EQ(memory_->Commit(batch), Status());
  const Result<DocumentPage> page = List(request);
  ASSERT_EQ(page->documents.size(), 1u);
  EXPECT_EQ(page->documents[0].path.path(), "c/c");
}

TEST_F(ListingTest, ShowsMissingDocumentsWithDescendants) {
  PutAll({"h/a", "h/a/x/1", "h/miss1/x/1", "h/miss2/deep/d/deeper/e", "h/miss2/other/z", "h/z",
          "g/y/h/hidden", "h/__id5__/x/1"});
  EXPECT_EQ(ListMissingToo("", "h"), (Paths{"h/__id5__-", "h/a", "h/miss1-", "h/miss2-", "h/z"}));
  EXPECT_EQ(ListAll("", "h"), (Paths{"h/a", "h/z"}));
  EXPECT_EQ(ListMissingToo("h/miss2", "deep"), (Paths{"h/miss2/deep/d-"}));
  EXPECT_EQ(ListMissingToo("h/miss2/deep/d", "deeper"), (Paths{"h/miss2/deep/d/deeper/e"}));
  EXPECT_EQ(ListMissingToo("", "nothing"), Paths{});
}

TEST_F(ListingTest, WithoutCollectionIdAllCollectionsOfTheParent) {
  PutAll({"b/2", "b/1", "a/9", "a/9/sub/x", "c/miss/sub/y", "a/9/tub/z"});
  const Paths root = {"a/9", "b/1", "b/2"};
  const Paths below = {"a/9/sub/x", "a/9/tub/z"};
  for (size_t page_size = 1; page_size <= 4; ++page_size) {
    EXPECT_EQ(ListAll(Request("", ""), page_size), root) << page_size;
    EXPECT_EQ(ListAll(Request("a/9", ""), page_size), below) << page_size;
    EXPECT_EQ(ListMissingToo("", "", page_size), (Paths{"a/9", "b/1", "b/2", "c/miss-"}))
        << page_size;
  }
}

TEST_F(ListingTest, OrdersByFields) {
  Put("c/a", {{"x", EncodeInteger(2)}});
  Put("c/b", {{"x", EncodeInteger(1)}});
  Put("c/c", {});
  Put("c/d", {{"x", EncodeInteger(1)}});
  Put("c/e", {{"x", EncodeString("text")}});
  ListDocumentsRequest request = Request("", "c");
  request.orders = {{FieldAt("x"), SortDirection::kAscending}};
  for (size_t page_size = 1; page_size <= 5; ++page_size) {
    EXPECT_EQ(ListAll(request, page_size), (Paths{"c/b", "c/d", "c/a", "c/e"})) << page_size;
  }
  request.orders = {{FieldAt("x"), SortDirection::kDescending}};
  for (size_t page_size = 1; page_size <= 5; ++page_size) {
    EXPECT_EQ(ListAll(request, page_size), (Paths{"c/e", "c/a", "c/d", "c/b"})) << page_size;
  }
  request.orders = {{FieldAt("__name__"), SortDirection::kDescending}};
  for (size_t page_size = 1; page_size <= 6; ++page_size) {
    EXPECT_EQ(ListAll(request, page_size), (Paths{"c/e", "c/d", "c/c", "c/b", "c/a"}));
  }
}

TEST_F(ListingTest, PagesHaveABoundInBytes) {
  constexpr size_t kBytes = 900'000;
  for (int i = 0; i < 8; ++i) {
    Put("c/" + std::to_string(i),
        {{"n", EncodeInteger(8 - i)}, {"x", EncodeString(std::string(kBytes, 'x'))}});
  }
  ListDocumentsRequest request = Request("", "c");
  for (const std::vector<Order>& orders :
       {std::vector<Order>{}, {{FieldAt("n"), SortDirection::kDescending}}}) {
    request.orders = orders;
    request.page_token = "";
    const Result<DocumentPage> page = List(request);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->documents.size(), kPageBytesMax / kBytes);
    EXPECT_NE(page->next_page_token, "");
    EXPECT_EQ(ListAll(request, kPageSizeMax).size(), 8u);
  }
}

TEST_F(ListingTest, ADocumentBeyondThePagesBytesIsAPageOfItsOwn) {
  FieldMap fields;  // More bytes on the wire than by Firestore's formula.
  const std::vector<std::string> nulls(1'000'000, model::EncodeNull());
  fields["x"] = model::EncodeArray(nulls);
  PutAll({"c/a"});
  Put("c/b", fields);
  PutAll({"c/c"});
  const Result<DocumentPage> first = List(Request("", "c"));
  ASSERT_EQ(first->documents.size(), 1u);
  ListDocumentsRequest request = Request("", "c");
  request.page_token = first->next_page_token;
  const Result<DocumentPage> second = List(request);
  ASSERT_EQ(second->documents.size(), 1u);
  EXPECT_EQ(second->documents[0].path.path(), "c/b");
  EXPECT_EQ(ListAll("", "c"), (Paths{"c/a", "c/b", "c/c"}));
}

TEST_F(ListingTest, CollectionIds) {
  PutAll({"b/1", "a/9", "a/9/sub/x", "c/miss/sub/y/deep/z", "a/9/tub/z", "\U0001f600/x",
          "\xef\xbf\xae/x"});
  EXPECT_EQ(ListIds(""), (Paths{"a", "b", "c", "\xef\xbf\xae", "\U0001f600"}));
  EXPECT_EQ(ListIds("a/9"), (Paths{"sub", "tub"}));
  EXPECT_EQ(ListIds("c/miss"), (Paths{"sub"}));  // The parent need not exist.
  EXPECT_EQ(ListIds("b/1"), Paths{});
  for (size_t page_size = 1; page_size <= 6; ++page_size) {
    EXPECT_EQ(ListIds("", page_size), NaiveIds("")) << page_size;
  }
  EXPECT_EQ(ListCollectionIds(*View(), Parent(), 5, "")->next_page_token, "");
}

TEST_F(ListingTest, RefusesTokensOfOtherRequests) {
  PutAll({"c/a", "c/b", "d/a", "d/b", "c/a/c/a", "c/a/c/b"});
  ListDocumentsRequest by_name = Request("", "c");
  by_name.page_size = 1;
  ListDocumentsRequest ordered = by_name;
  ordered.orders = {{FieldAt("__name__"), SortDirection::kAscending}};
  ListDocumentsRequest backward = by_name;
  backward.orders = {{FieldAt("__name__"), SortDirection::kDescending}};
  ListDocumentsRequest missing = by_name;
  missing.show_missing = true;
  ListDocumentsRequest other_collection = by_name;
  other_collection.collection_id = "d";
  ListDocumentsRequest every_collection = by_name;
  every_collection.collection_id = "";
  ListDocumentsRequest other_parent = by_name;
  other_parent.parent = Parent("c/a");
  const std::vector<ListDocumentsRequest> requests = {
      by_name, ordered, backward, missing, other_collection, every_collection, other_parent};
  std::vector<std::string> tokens;
  for (const ListDocumentsRequest& request : requests) {
    tokens.push_back(List(request)->next_page_token);
    ASSERT_NE(tokens.back(), "");
  }
  tokens.push_back(ListCollectionIds(*View(), Parent(), 1, "")->next_page_token);
  for (size_t i = 0; i < requests.size(); ++i) {
    for (size_t j = 0; j < tokens.size(); ++j) {
      ListDocumentsRequest request = requests[i];
      request.page_token = tokens[j];
      const Status expected = i == j ? Status() : kInvalid;
      EXPECT_EQ(List(request).status(), expected) << i << " with the token of " << j;
    }
    EXPECT_EQ(ListCollectionIds(*View(), Parent(), 1, tokens[i]).status(), kInvalid);
  }
  EXPECT_EQ(ListCollectionIds(*View(), Parent("c/a"), 1, tokens.back()).status(), kInvalid);
}

TEST_F(ListingTest, RefusesForgedTokens) {
  PutAll({"c/a", "c/b"});
  ListDocumentsRequest request = Request("", "c");
  for (const std::string token : {"x", "!", "AAAAAAAA"}) {
    request.page_token = token;
    EXPECT_EQ(List(request).status(), kInvalid);
    EXPECT_EQ(ListCollectionIds(*View(), Parent(), 1, token).status(), kInvalid);
  }
  // With the right fingerprint, but not what a page ends with.
  const std::string identity = "documents\n\nc";
  for (const Paths& parts : {Paths{}, Paths{""}, Paths{"c"}, Paths{"c/a", "c/b"}, Paths{"c/__x__"},
                             Paths{"c//"}, Paths{"\xff/\xff"}}) {
    request.page_token = EncodePageToken(identity, parts);
    EXPECT_EQ(List(request).status(), kInvalid) << testing::PrintToString(parts);
  }
  request.page_token = EncodePageToken(identity, {"c/a"});
  EXPECT_TRUE(List(request).ok());
  EXPECT_EQ(ListCollectionIds(*View(), Parent(), 1, EncodePageToken("collections\n", {"a", "b"}))
                .status(),
            kInvalid);
}

TEST_F(ListingTest, RandomTreesAtEveryPageSize) {
  Dice dice(TestSeed());
  const Paths ids = {"a", "b", "ab", "__id1__", "__id2__", "é", "a b", std::string("a\0b", 3)};
  const Paths collections = {"c", "d", "cd", "\U0001f600"};
  std::set<std::string> parents = {""};
  for (int i = 0; i < 120; ++i) {
    std::string path;
    for (size_t depth = 1 + dice.Below(3); depth > 0; --depth) {
      path += (path.empty() ? "" : "/") + collections[dice.Below(collections.size())] + "/" +
              ids[dice.Below(ids.size())];
      parents.insert(path);
    }
    Put(path);
  }
  for (const std::string& parent : parents) {
    SCOPED_TRACE("below " + parent);
    const Paths expected_ids = NaiveIds(parent);
    for (const size_t page_size : {1u, 2u, 5u}) EXPECT_EQ(ListIds(parent, page_size), expected_ids);
    Paths everything;
    for (const std::string& collection : collections) {
      const Paths expected = NaiveList(parent, collection, Missing::kHidden);
      const Paths with_missing = NaiveList(parent, collection, Missing::kShown);
      for (size_t page_size = 1; page_size <= with_missing.size() + 1; ++page_size) {
        EXPECT_EQ(ListAll(Request(parent, collection), page_size), expected);
        EXPECT_EQ(ListMissingToo(parent, collection, page_size), with_missing);
      }
    }
    for (const std::string& collection : expected_ids) {
      const Paths part = NaiveList(parent, collection, Missing::kHidden);
      everything.insert(everything.end(), part.begin(), part.end());
    }
    for (size_t page_size = 1; page_size <= everything.size() + 1; ++page_size) {
      EXPECT_EQ(ListAll(Request(parent, ""), page_size), everything);
    }
  }
}

TEST_F(ListingTest, BrokenScansSaySo) {
  PutAll({"c/a", "c/b", "c/m/d/x", "d/a"});
  const Status broken(Code::kUnavailable, "disk");
  ListDocumentsRequest request = Request("", "c");
  ListDocumentsRequest missing = Request("", "c");
  missing.show_missing = true;
  ListDocumentsRequest ordered = Request("", "c");
  ordered.orders = {{FieldAt("__name__"), SortDirection::kDescending}};
  ListDocumentsRequest every_collection = Request("", "");
  for (size_t step = 1; step <= 3; ++step) {
    for (const auto& each : {request, missing, ordered, every_collection}) {
      store_.FailScan(step, broken);
      EXPECT_EQ(List(each).status(), broken) << step;
    }
    store_.FailScan(step, broken);
    EXPECT_EQ(ListCollectionIds(*View(), Parent(), 10, "").status(), broken) << step;
  }
}

TEST_F(ListingTest, DamagedKeysSaySo) {
  storage::Batch batch;
  batch.Put(storage::Space::kDocuments,
            CollectionKeyPrefix(database_.number, *model::CollectionPath::Parse("c")) + "x",
            RecordOf(1, 1, {}));
  batch.Put(storage::Space::kDocuments, DatabaseKeyPrefix(database_.number) + "x",
            RecordOf(1, 1, {}));
  ASSERT_EQ(memory_->Commit(batch), Status());
  EXPECT_EQ(List(Request("", "c")).status().code(), Code::kDataLoss);
  EXPECT_EQ(ListCollectionIds(*View(), Parent(), 10, "").status().code(), Code::kDataLoss);
}

using ListingDeathTest = ListingTest;

TEST_F(ListingDeathTest, APageHasRoomForOne) {
  ListDocumentsRequest request = Request("", "c");
  request.page_size = 0;
  EXPECT_DEATH((void)List(request), "page_size");
  EXPECT_DEATH((void)ListCollectionIds(*View(), Parent(), 0, ""), "page_size");
}

}  // namespace
}  // namespace hearth::engine
