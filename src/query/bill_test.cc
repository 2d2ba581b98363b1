#include "query/bill.h"

#include <gtest/gtest.h>

#include "query/testing/query_builder.h"

namespace hearth::query {
namespace {

constexpr auto kDocuments = BilledAnswer::kDocuments;
constexpr auto kAggregate = BilledAnswer::kAggregate;

uint64_t Reads(const QueryBuilder& query, BilledAnswer answer, const Statistics& statistics) {
  return BillFor(query.Build(), answer, statistics).ReadOperations();
}

TEST(BillTest, DocumentsThatAreReturnedOrSkipped) {
  EXPECT_EQ(Reads(QueryBuilder("c"), kDocuments, {.results_returned = 5}), 5u);
  EXPECT_EQ(Reads(QueryBuilder("c"), kDocuments, {.results_returned = 1, .results_skipped = 10}),
            11u);
}

TEST(BillTest, NotWhatElseWasRead) {
  const Statistics statistics{
      .results_returned = 5, .index_entries_scanned = 9'000, .documents_scanned = 7'000};
  EXPECT_EQ(Reads(QueryBuilder("c").Equal("a"), kDocuments, statistics), 5u);
  EXPECT_EQ(Reads(QueryBuilder("c").Above("a"), kDocuments, statistics), 5u);
}

TEST(BillTest, NothingCostsLessThanARead) {
  const Bill bill = BillFor(QueryBuilder("c").Build(), kDocuments, {.documents_scanned = 7});
  EXPECT_EQ(bill, (Bill{.minimum = 1}));
  EXPECT_EQ(bill.ReadOperations(), 1u);
  EXPECT_EQ(Reads(QueryBuilder("c"), kAggregate, {}), 1u);
  EXPECT_EQ(Reads(QueryBuilder("c").Nearest("v", {1}), kDocuments, {}), 1u);
}

TEST(BillTest, AggregationsByTheThousandResults) {
  const auto reads = [](uint64_t results) {
    return Reads(QueryBuilder("c").Equal("a"), kAggregate,
                 {.results_returned = results, .documents_scanned = 50'000});
  };
  EXPECT_EQ(reads(1), 1u);
  EXPECT_EQ(reads(1'000), 1u);
  EXPECT_EQ(reads(1'001), 2u);
  EXPECT_EQ(reads(1'500), 2u);
  EXPECT_EQ(Reads(QueryBuilder("c"), kAggregate, {.results_returned = 600, .results_skipped = 600}),
            2u);
}

TEST(BillTest, NeighboursByTheHundredVectors) {
  const Statistics statistics{.results_returned = 5, .vectors_compared = 1'550};
  const Bill bill = BillFor(QueryBuilder("c").Nearest("v", {1}).Build(), kDocuments, statistics);
  EXPECT_EQ(bill.documents, 5u);
  EXPECT_EQ(bill.index_entries, 1'550u);
  EXPECT_EQ(bill.ReadOperations(), 5u + 16u);
}

// Includes the examples in the documentation.
TEST(BillTest, EntriesWhereThereAreSeveralRangeFields) {
  const std::string name = model::EncodeReference("projects/p1/databases/(default)/documents/c/d");
  const auto by_name = [&](QueryBuilder query) {
    return query.Where("__name__", Operator::kIn, model::EncodeArray({name}));
  };
  const auto bills_entries = [](const QueryBuilder& query) {
    const Bill bill = BillFor(query.Build(), kDocuments,
                              {.results_returned = 5, .index_entries_scanned = 95'000});
    EXPECT_EQ(bill.ReadOperations(), bill.index_entries == 0 ? 5u : 100u);
    return bill.index_entries != 0;
  };
  EXPECT_TRUE(bills_entries(QueryBuilder("c").Above("a").Above("b")));
  EXPECT_TRUE(bills_entries(QueryBuilder("c").Above("a").Ascending("b")));
  EXPECT_TRUE(bills_entries(by_name(QueryBuilder("c")).Ascending("a")));
  EXPECT_TRUE(
      bills_entries(QueryBuilder("c").Where("__name__", Operator::kGreater, name).Above("a")));
  EXPECT_FALSE(bills_entries(QueryBuilder("c").Equal("a").Above("b")));
  EXPECT_FALSE(bills_entries(QueryBuilder("c").Above("a").Ascending("a")));
  EXPECT_FALSE(bills_entries(QueryBuilder("c").Above("a").Ascending("a").Ascending("__name__")));
  EXPECT_FALSE(bills_entries(QueryBuilder("c").Ascending("a").Ascending("b")));
  EXPECT_FALSE(bills_entries(by_name(QueryBuilder("c"))));
}

// Without an index, the number of skipped entries is unknown.
TEST(BillTest, SeveralRangeFieldsWithoutAnIndex) {
  const Statistics statistics{.results_returned = 1'500, .documents_scanned = 90'000};
  const QueryBuilder query = QueryBuilder("c").Above("a").Above("b");
  EXPECT_EQ(Reads(query, kDocuments, statistics), 1'500u + 2u);
  EXPECT_EQ(Reads(query, kAggregate, statistics), 2u);
}

}  // namespace
}  // namespace hearth::query
