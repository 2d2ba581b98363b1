#include "engine/listing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "base/testing/test_seed.h"
#include "documents/keys.h"
#include "engine/read_view_parts.h"
#include "model/numeric_id.h"
#include "request/page_token.h"
#include "request/testing/writes.h"
#include "storage/memory_store.h"
#include "storage/testing/faulty_store.h"

namespace hearth::engine {
namespace {

using model::EncodeInteger;
using model::EncodeString;
using Paths = std::vector<std::string>;

const Status kInvalid = InvalidArgument("invalid page token");

// By segments: numeric ids first, by value, and everything else by its bytes.
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
    batch.Put(storage::Space::kDocuments, model::DocumentKey(database_.number, Path(path)),
              RecordOf(1, 1, MakeFields(fields)));
    ASSERT_EQ(memory_->Commit(batch), Status());
    documents_.insert(path);
  }
  void PutAll(const Paths& paths) {
    for (const std::string& path : paths) Put(path);
  }

  std::unique_ptr<ReadView> View() {
    ReadViewParts parts;
    parts.database = handle_;
    parts.snapshot = store_.NewSnapshot();
    parts.is_present = true;
    parts.pause = pause_;
    parts.memory = memory_max_;
    return std::make_unique<ReadView>(std::make_unique<const ReadViewParts>(std::move(parts)));
  }

  static request::ListDocumentsRequest Request(std::string_view parent, std::string collection_id) {
    return {Parent(parent), std::move(collection_id)};
  }

  Result<request::DocumentPage> List(const request::ListDocumentsRequest& request) {
    return ListDocuments(*View(), request);
  }

  // All pages of `request`: paths, with a "-" after those that have no document.
  Paths ListAll(request::ListDocumentsRequest request, size_t page_size) {
    request.page_size = page_size;
    Paths all;
    while (true) {
      const Result<request::DocumentPage> page = List(request);
      if (!page.ok()) {
        ADD_FAILURE() << page.status().ToString();
        return all;
      }
      EXPECT_LE(page->documents.size(), page_size);
      for (const request::ListedDocument& document : page->documents) {
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
    return ListAll(Request(parent, std::move(collection_id)), request::kPageSizeMax);
  }
  Paths ListMissingToo(std::string_view parent, std::string collection_id, size_t page_size = 300) {
    request::ListDocumentsRequest request = Request(parent, std::move(collection_id));
    request.show_missing = true;
    return ListAll(request, page_size);
  }

  Paths ListIds(std::string_view parent, size_t page_size = request::kPageSizeMax) {
    Paths all;
    for (std::string token;;) {
      const Result<request::CollectionIdPage> page =
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
  storage::FaultyStore store_{*memory_};
  const documents::ConstDatabaseHandle handle_ =
      std::make_shared<documents::Database>(NameDatabase(), model::DatabaseNumber{7}, true);
  const documents::Database& database_ = *handle_;
  std::set<std::string> documents_;
  PauseFunction pause_;
  MemoryBudget* memory_max_ = nullptr;
};

TEST_F(ListingTest, OtherDatabasesAreOtherWorlds) {
  storage::Batch batch;
  for (const uint32_t number : {6u, 8u}) {
    batch.Put(storage::Space::kDocuments,
              model::DocumentKey(model::DatabaseNumber{number}, Path("c/x")), RecordOf(1, 1, {}));
  }
  ASSERT_EQ(memory_->Commit(batch), Status());
  EXPECT_EQ(ListAll("", "c"), Paths{});
  EXPECT_EQ(ListAll("", ""), Paths{});
  EXPECT_EQ(ListIds(""), Paths{});
}

// Clients cannot ask for this.
TEST_F(ListingTest, MissingDocumentsOfAllCollections) {
  PutAll({"b/2", "b/1", "a/9", "a/9/sub/x", "c/miss/sub/y", "a/9/tub/z"});
  for (size_t page_size = 1; page_size <= 4; ++page_size) {
    EXPECT_EQ(ListMissingToo("", "", page_size), (Paths{"a/9", "b/1", "b/2", "c/miss-"}))
        << page_size;
  }
}

TEST_F(ListingTest, PagesHaveABoundInBytes) {
  constexpr size_t kBytes = 900'000;
  for (int i = 0; i < 8; ++i) {
    Put("c/" + std::to_string(i),
        {{"n", EncodeInteger(8 - i)}, {"x", EncodeString(std::string(kBytes, 'x'))}});
  }
  request::ListDocumentsRequest request = Request("", "c");
  for (const std::vector<query::Order>& orders :
       {std::vector<query::Order>{}, {{FieldAt("n"), query::SortDirection::kDescending}}}) {
    request.orders = orders;
    request.page_token = "";
    const Result<request::DocumentPage> page = List(request);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->documents.size(), kPageBytesMax / kBytes);
    EXPECT_NE(page->next_page_token, "");
    EXPECT_EQ(ListAll(request, request::kPageSizeMax).size(), 8u);
  }
}

TEST_F(ListingTest, ADocumentBeyondThePagesBytesIsAPageOfItsOwn) {
  FieldMap fields;  // Larger on the wire than by Firestore's formula.
  const std::vector<std::string> nulls(1'000'000, model::EncodeNull());
  fields["x"] = model::EncodeArray(nulls);
  PutAll({"c/a"});
  Put("c/b", fields);
  PutAll({"c/c"});
  const Result<request::DocumentPage> first = List(Request("", "c"));
  ASSERT_EQ(first->documents.size(), 1u);
  request::ListDocumentsRequest request = Request("", "c");
  request.page_token = first->next_page_token;
  const Result<request::DocumentPage> second = List(request);
  ASSERT_EQ(second->documents.size(), 1u);
  EXPECT_EQ(second->documents[0].path.path(), "c/b");
  EXPECT_EQ(ListAll("", "c"), (Paths{"c/a", "c/b", "c/c"}));
}

TEST_F(ListingTest, RefusesForgedTokens) {
  PutAll({"c/a", "c/b"});
  request::ListDocumentsRequest request = Request("", "c");
  for (const std::string token : {"x", "!", "AAAAAAAA"}) {
    request.page_token = token;
    EXPECT_EQ(List(request).status(), kInvalid);
    EXPECT_EQ(ListCollectionIds(*View(), Parent(), 1, token).status(), kInvalid);
  }
  // With the right fingerprint, but not a valid end of a page.
  const std::string identity = "documents\n\nc";
  for (const Paths& parts : {Paths{}, Paths{""}, Paths{"c"}, Paths{"c/a", "c/b"}, Paths{"c/__x__"},
                             Paths{"c//"}, Paths{"\xff/\xff"}}) {
    request.page_token = request::EncodePageToken(identity, parts);
    EXPECT_EQ(List(request).status(), kInvalid) << testing::PrintToString(parts);
  }
  request.page_token = request::EncodePageToken(identity, {"c/a"});
  EXPECT_TRUE(List(request).ok());
  EXPECT_EQ(
      ListCollectionIds(*View(), Parent(), 1, request::EncodePageToken("collections\n", {"a", "b"}))
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
  request::ListDocumentsRequest request = Request("", "c");
  request::ListDocumentsRequest missing = Request("", "c");
  missing.show_missing = true;
  request::ListDocumentsRequest ordered = Request("", "c");
  ordered.orders = {{FieldAt("__name__"), query::SortDirection::kDescending}};
  request::ListDocumentsRequest every_collection = Request("", "");
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
            model::CollectionKeyPrefix(database_.number, *model::CollectionPath::Parse("c")) + "x",
            RecordOf(1, 1, {}));
  batch.Put(storage::Space::kDocuments, model::DatabaseKeyPrefix(database_.number) + "x",
            RecordOf(1, 1, {}));
  ASSERT_EQ(memory_->Commit(batch), Status());
  EXPECT_EQ(List(Request("", "c")).status().code(), Code::kDataLoss);
  EXPECT_EQ(ListCollectionIds(*View(), Parent(), 10, "").status().code(), Code::kDataLoss);
}

TEST_F(ListingTest, PagesAreShorterWhenMemoryIsScarce) {
  constexpr size_t kDocuments = 40;
  Paths paths;
  for (size_t i = 0; i < kDocuments; ++i) {
    paths.push_back("c/d" + std::to_string(100 + i));
    Put(paths.back(), {{"n", EncodeInteger(static_cast<int64_t>(i))},
                       {"text", EncodeString(std::string(1'000, 't'))}});
  }
  request::ListDocumentsRequest by_name = Request("", "c");
  request::ListDocumentsRequest ordered = Request("", "c");
  ordered.orders = {{FieldAt("n"), query::SortDirection::kAscending}};
  for (const size_t bytes_max : {size_t{0}, size_t{10'000}, size_t{1'000'000}}) {
    MemoryBudget memory(bytes_max);
    memory_max_ = &memory;
    for (request::ListDocumentsRequest each : {by_name, ordered}) {
      EXPECT_EQ(ListAll(each, kDocuments), paths) << bytes_max;
      each.page_size = kDocuments;
      const size_t first = List(each)->documents.size();
      const size_t least = bytes_max == 0 ? 1 : bytes_max == 10'000 ? 2 : kDocuments;
      const size_t most = bytes_max == 0 ? 1 : bytes_max == 10'000 ? 9 : kDocuments;
      EXPECT_GE(first, least) << bytes_max;
      EXPECT_LE(first, most) << bytes_max;
      EXPECT_EQ(memory.used_bytes(), 0u);
    }
  }
}

// Every step over something that is not returned pauses, so that a listing ends soon.
TEST_F(ListingTest, PausesOftenAndEndsWhenToldTo) {
  constexpr size_t kEach = 50;
  for (size_t i = 0; i < kEach; ++i) {
    Put("c/d" + std::to_string(i), {{"n", EncodeInteger(1)}});
    Put("deep" + std::to_string(i) + "/missing/s/d");
  }
  size_t pauses = 0;
  size_t pauses_max = 0;
  const Status cancelled(Code::kCancelled, "enough");
  pause_ = [&] { return ++pauses > pauses_max ? cancelled : Status(); };
  request::ListDocumentsRequest by_name = Request("", "c");
  request::ListDocumentsRequest missing = Request("", "c");
  missing.show_missing = true;
  request::ListDocumentsRequest ordered = Request("", "c");
  ordered.orders = {{FieldAt("n"), query::SortDirection::kDescending}};
  ordered.page_size = 1;
  request::ListDocumentsRequest every_collection = Request("", "");
  every_collection.page_size = kEach;
  const std::function<Status()> listings[] = {
      [&] { return List(by_name).status(); },
      [&] { return List(missing).status(); },
      [&] { return List(ordered).status(); },
      [&] { return List(every_collection).status(); },  // All but one have none of their own.
      [&] { return ListCollectionIds(*View(), Parent(), kEach, "").status(); },
  };
  for (size_t i = 0; i < std::size(listings); ++i) {
    pauses = 0;
    pauses_max = 1'000;
    EXPECT_EQ(listings[i](), Status()) << i;
    EXPECT_GE(pauses, i == 3 ? 2 * kEach : kEach) << i;
    pauses = 0;
    pauses_max = 2;
    EXPECT_EQ(listings[i](), cancelled) << i;
    EXPECT_EQ(pauses, 3u) << i;
  }
}

using ListingDeathTest = ListingTest;

TEST_F(ListingDeathTest, APageHasRoomForOne) {
  request::ListDocumentsRequest request = Request("", "c");
  request.page_size = 0;
  EXPECT_DEATH((void)List(request), "page_size");
  EXPECT_DEATH((void)ListCollectionIds(*View(), Parent(), 0, ""), "page_size");
}

}  // namespace
}  // namespace hearth::engine
