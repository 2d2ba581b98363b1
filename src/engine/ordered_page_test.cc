#include "engine/ordered_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/testing/test_seed.h"
#include "model/testing/random_value.h"
#include "model/value_order.h"
#include "request/testing/writes.h"

namespace hearth::engine {
namespace {

using model::EncodeInteger;
using model::EncodeString;
using model::ValueView;
using query::Order;
using query::SortDirection;

const Status kInvalidPosition = InvalidArgument("invalid page token");

Order Ascending(std::string_view field) { return {FieldAt(field), SortDirection::kAscending}; }
Order Descending(std::string_view field) { return {FieldAt(field), SortDirection::kDescending}; }

request::ListedDocument Listed(std::string_view path, const FieldMap& fields) {
  return {Path(path), std::make_shared<const std::string>(RecordOf(1, 1, MakeFields(fields)))};
}

// A document whose record has about `bytes` bytes.
request::ListedDocument Large(std::string_view path, int64_t number, size_t bytes) {
  FieldMap fields = {{"n", EncodeInteger(number)}};
  for (int i = 0; bytes > 0; ++i) {
    const size_t part = std::min<size_t>(bytes, 1'000'000);
    fields["x" + std::to_string(i)] = EncodeString(std::string(part, 'x'));
    bytes -= part;
  }
  return Listed(path, fields);
}

using Paths = std::vector<std::string>;

struct Page {
  Paths paths;
  size_t bytes = 0;
  std::vector<std::string> next;
};

Page Pick(const std::vector<request::ListedDocument>& documents, const std::vector<Order>& orders,
          size_t page_size, const std::vector<std::string>& after = {}) {
  OrderedPage ordered(orders, page_size);
  if (!after.empty()) {
    EXPECT_EQ(ordered.StartAfter(after), Status());
  }
  for (const request::ListedDocument& document : documents) ordered.Add(document);
  std::vector<request::ListedDocument> picked;
  Page page;
  page.next = ordered.Finish(&picked);
  for (const request::ListedDocument& document : picked) {
    page.paths.push_back(document.path.path());
    page.bytes += document.record->size();
  }
  return page;
}

// All pages, one after another.
Paths PickAll(const std::vector<request::ListedDocument>& documents,
              const std::vector<Order>& orders, size_t page_size) {
  Paths all;
  for (std::vector<std::string> after;;) {
    const Page page = Pick(documents, orders, page_size, after);
    EXPECT_LE(page.paths.size(), page_size);
    EXPECT_TRUE(page.bytes <= kPageBytesMax || page.paths.size() == 1);
    all.insert(all.end(), page.paths.begin(), page.paths.end());
    if (page.next.empty()) return all;
    if (page.paths.empty() || all.size() > documents.size()) {
      ADD_FAILURE() << "paging does not come to an end";
      return all;
    }
    after = page.next;
  }
}

const std::vector<request::ListedDocument>& People() {
  static const std::vector<request::ListedDocument> people = {
      Listed("p/dora", {{"age", EncodeInteger(30)}, {"city", EncodeString("Oslo")}}),
      Listed("p/anna", {{"age", EncodeInteger(30)}, {"city", EncodeString("Bern")}}),
      Listed("p/emil", {{"city", EncodeString("Rome")}}),
      Listed("p/carl", {{"age", EncodeInteger(25)}, {"city", EncodeString("Oslo")}}),
      Listed("p/__id9__", {{"age", EncodeInteger(25)}, {"city", EncodeString("Oslo")}}),
  };
  return people;
}

TEST(OrderedPageTest, OrdersByFieldsThenByName) {
  const auto pick = [](const std::vector<Order>& orders) {
    return Pick(People(), orders, 100).paths;
  };
  EXPECT_EQ(pick({Ascending("age")}), (Paths{"p/__id9__", "p/carl", "p/anna", "p/dora"}));
  // Ties are ordered in the direction of the last order.
  EXPECT_EQ(pick({Descending("age")}), (Paths{"p/dora", "p/anna", "p/carl", "p/__id9__"}));
  EXPECT_EQ(pick({Descending("age"), Ascending("city")}),
            (Paths{"p/anna", "p/dora", "p/__id9__", "p/carl"}));
  EXPECT_EQ(pick({Ascending("city"), Ascending("__name__")}),
            (Paths{"p/anna", "p/__id9__", "p/carl", "p/dora", "p/emil"}));
  EXPECT_EQ(pick({Ascending("city"), Descending("__name__")}),
            (Paths{"p/anna", "p/dora", "p/carl", "p/__id9__", "p/emil"}));
  EXPECT_EQ(pick({Descending("__name__")}),
            (Paths{"p/emil", "p/dora", "p/carl", "p/anna", "p/__id9__"}));
  EXPECT_EQ(pick({}), (Paths{"p/__id9__", "p/anna", "p/carl", "p/dora", "p/emil"}));
  EXPECT_EQ(pick({Ascending("missing")}), Paths{});
  EXPECT_EQ(pick({Ascending("age.years")}), Paths{});
}

TEST(OrderedPageTest, OrdersByNestedFields) {
  const std::vector<request::ListedDocument> documents = {
      Listed("c/a", {{"m", model::EncodeMap({{"x", EncodeInteger(2)}})}}),
      Listed("c/b", {{"m", model::EncodeMap({{"x", EncodeInteger(1)}})}}),
      Listed("c/c", {{"m", EncodeInteger(0)}})};
  EXPECT_EQ(Pick(documents, {Ascending("m.x")}, 10).paths, (Paths{"c/b", "c/a"}));
}

TEST(OrderedPageTest, SaysWhereItEnded) {
  EXPECT_EQ(Pick(People(), {Ascending("age")}, 2).next,
            (std::vector<std::string>{EncodeInteger(25), "p/carl"}));
  EXPECT_EQ(Pick(People(), {Descending("__name__")}, 1).next,
            (std::vector<std::string>{"", "p/emil"}));
  EXPECT_TRUE(Pick(People(), {Ascending("age")}, 4).next.empty());  // The last page, exactly full.
  EXPECT_TRUE(Pick(People(), {Ascending("age")}, 5).next.empty());
}

TEST(OrderedPageTest, RefusesPlacesThatItDidNotMake) {
  const std::vector<Order> orders = {Ascending("age"), Ascending("__name__")};
  const std::string value = EncodeInteger(1);
  for (const std::vector<std::string>& parts :
       std::vector<std::vector<std::string>>{{},
                                             {value},
                                             {value, ""},
                                             {value, "", "p/x", "p/x"},
                                             {"", "", "p/x"},
                                             {"nonsense", "", "p/x"},
                                             {value, "not empty", "p/x"},
                                             {value, "", ""},
                                             {value, "", "p"},
                                             {value, "", "p/x/y"},
                                             {value, "", "p/__x__"}}) {
    EXPECT_EQ(OrderedPage(orders, 1).StartAfter(parts), kInvalidPosition);
  }
  EXPECT_EQ(OrderedPage(orders, 1).StartAfter({value, "", "p/x"}), Status());
}

TEST(OrderedPageTest, APlaceNeedNotBeCanonical) {
  // A client can send any bytes that decode to a value: here names out of order, a number in more
  // bytes than needed, and a time in nanoseconds.
  std::string unsorted;
  {
    std::string body;
    AppendField(model::MapView::Tag::kNestedMap, "b", EncodeInteger(2), &body);
    AppendField(model::MapView::Tag::kNestedMap, "a", EncodeInteger(1), &body);
    model::AppendBytes(model::kMapTag, body, &unsorted);
  }
  const std::string long_number = {model::kIntegerTag, '\x87', '\x80', '\x00'};
  std::string precise;
  {
    std::string body;
    model::AppendVarint(model::kNanosTag, &body);
    model::AppendVarint(1'999, &body);
    model::AppendBytes(model::kTimestampTag, body, &precise);
  }
  for (const std::string& value : {unsorted, long_number, precise}) {
    const std::string canonical = *model::ValidateValue(value);
    ASSERT_NE(value, canonical);
    const std::vector<request::ListedDocument> documents = {
        Listed("c/a", {{"v", canonical}}), Listed("c/c", {{"v", canonical}}),
        Listed("c/d", {{"v", EncodeString("x")}})};
    const Paths expected = Pick(documents, {Ascending("v")}, 10, {canonical, "c/b"}).paths;
    EXPECT_EQ(Pick(documents, {Ascending("v")}, 10, {value, "c/b"}).paths, expected);
  }
}

TEST(OrderedPageTest, EndsEarlyAtItsBytes) {
  const std::vector<request::ListedDocument> documents = {
      Large("c/1", 1, 1'000'000), Large("c/2", 2, 1'000'000), Large("c/3", 3, 1'200'000)};
  const Page page = Pick(documents, {Ascending("n")}, 10);
  EXPECT_EQ(page.paths, (Paths{"c/1", "c/2"}));
  EXPECT_EQ(Pick(documents, {Ascending("n")}, 10, page.next).paths, Paths{"c/3"});
}

TEST(OrderedPageTest, HasOneDocumentWhateverItsSize) {
  const std::vector<request::ListedDocument> documents = {Large("c/1", 1, kPageBytesMax + 1),
                                                          Large("c/2", 2, kPageBytesMax + 1)};
  const Page page = Pick(documents, {Ascending("n")}, 10);
  EXPECT_EQ(page.paths, Paths{"c/1"});
  EXPECT_EQ(Pick(documents, {Ascending("n")}, 10, page.next).paths, Paths{"c/2"});
}

TEST(OrderedPageTest, WhatDidNotFitIsNotSkipped) {
  // 2 displaces 3 and does not fit itself; then 4 would fit, but 2 and 3 come before it.
  const std::vector<request::ListedDocument> documents = {
      Large("c/1", 1, 1'000'000), Large("c/3", 3, 2'000'000), Large("c/2", 2, 2'500'000),
      Large("c/4", 4, 500'000)};
  EXPECT_EQ(Pick(documents, {Ascending("n")}, 10).paths, Paths{"c/1"});
  EXPECT_EQ(PickAll(documents, {Ascending("n")}, 10), (Paths{"c/1", "c/2", "c/3", "c/4"}));
}

TEST(OrderedPageTest, LargePagesConcatenateToTheWhole) {
  const uint64_t seed = TestSeed();
  Dice dice(seed);
  std::vector<request::ListedDocument> documents;
  Paths expected;
  for (int64_t i = 0; i < 24; ++i) {
    expected.push_back("c/" + std::to_string(100 + i));
    documents.push_back(Large(expected.back(), i, 100'000 + dice.Below(1'500'000)));
  }
  std::mt19937_64 shuffler(seed);
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(documents, shuffler);
    for (const size_t page_size : {1u, 3u, 24u}) {
      EXPECT_EQ(PickAll(documents, {Ascending("n")}, page_size), expected);
    }
  }
}

// Random values of all types under random orders, compared with a plain sort.
TEST(OrderedPageTest, PagesConcatenateToTheSortedWhole) {
  const uint64_t seed = TestSeed();
  model::RandomTrees random(seed);
  for (int i = 0; i < 100; ++i) {
    std::vector<request::ListedDocument> documents;
    for (int number = 0; number < 20; ++number) {
      FieldMap fields;
      for (const char* name : {"a", "b"}) {
        if (random.Below(6) > 0) fields[name] = EncodeTree(random.Value(1));
      }
      documents.push_back(Listed("c/" + std::to_string(number), fields));
    }
    std::vector<Order> orders;
    for (const char* name : {"a", "b"}) {
      if (random.Below(3) > 0) {
        orders.push_back(random.Below(2) == 0 ? Ascending(name) : Descending(name));
      }
    }
    // All documents, sorted.
    const auto find = [](const request::ListedDocument& document, const Order& order) {
      const auto fields =
          model::Fields::FromTrusted(std::string(model::RecordFields(*document.record)));
      const std::optional<ValueView> value = fields.Find(order.path);
      return value ? std::string(value->encoded()) : std::string();
    };
    std::vector<request::ListedDocument> sorted = documents;
    std::erase_if(sorted, [&](const request::ListedDocument& document) {
      return std::ranges::any_of(orders,
                                 [&](const Order& order) { return find(document, order).empty(); });
    });
    std::ranges::sort(sorted, [&](const request::ListedDocument& left,
                                  const request::ListedDocument& right) {
      SortDirection direction = SortDirection::kAscending;
      for (const Order& order : orders) {
        direction = order.direction;
        const std::string left_value = find(left, order);
        const std::string right_value = find(right, order);
        const auto compared = model::CompareValues(ValueView(left_value), ValueView(right_value));
        if (compared != 0) {
          return direction == SortDirection::kAscending ? compared < 0 : compared > 0;
        }
      }
      return direction == SortDirection::kAscending ? left.path < right.path
                                                    : left.path > right.path;
    });
    Paths expected;
    for (const request::ListedDocument& document : sorted) expected.push_back(document.path.path());
    for (const size_t page_size : {1u, 2u, 7u, 20u, 100u}) {
      ASSERT_EQ(PickAll(documents, orders, page_size), expected) << page_size;
    }
  }
}

}  // namespace
}  // namespace hearth::engine
