// Queries: filters, orders, cursors, aggregates, neighbours.
#include <cmath>
#include <string>

#include "client/testing/transport_contract.h"

namespace hearth::client {
namespace {

TEST_P(TransportContract, NullAndNan) {
  PutRooms();
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kEqual, nullptr)), (Ids{"e"}));
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kEqual, std::nan(""))), (Ids{"f"}));
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kNotEqual, nullptr)), (Ids{"f", "a", "b", "c", "d"}));
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kNotEqual, std::nan(""))), (Ids{"a", "b", "c", "d"}));
  EXPECT_EQ(
      Rooms().Where("size", Op::kLess, nullptr).Get().status(),
      InvalidArgument("Invalid query. You can only perform '==' and '!=' comparisons on Null."));
  EXPECT_EQ(
      Rooms().Where("size", Op::kIn, std::nan("")).Get().status(),
      InvalidArgument("Invalid query. You can only perform '==' and '!=' comparisons on NaN."));
}

TEST_P(TransportContract, JoinedFilters) {
  PutRooms();
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kEqual, 2).Where("color", Op::kEqual, "red")),
            (Ids{"c"}));
  const Filter red = Filter::Where("color", Op::kEqual, "red");
  const Filter large = Filter::Where("size", Op::kGreaterOrEqual, 3);
  EXPECT_EQ(IdsOf(Rooms().Where(Filter::Or({red, large}))), (Ids{"a", "c", "d"}));
  EXPECT_EQ(IdsOf(Rooms().Where(
                Filter::And({Filter::Or({red, large}), Filter::Where("size", Op::kLess, 3)}))),
            (Ids{"a", "c"}));
  EXPECT_EQ(IdsOf(Rooms().Where(Filter::Or({red})).Where(Filter::And({}))), (Ids{"a", "c"}));
}

TEST_P(TransportContract, LimitToLast) {
  PutRooms();
  EXPECT_EQ(IdsOf(BySize().LimitToLast(2)), (Ids{"c", "d"}));
  EXPECT_EQ(IdsOf(BySize().StartAt({1}).EndBefore({3}).LimitToLast(2)), (Ids{"b", "c"}));
  EXPECT_EQ(IdsOf(BySize().StartAfter({1}).EndAt({2}).LimitToLast(5)), (Ids{"b", "c"}));
  EXPECT_EQ(IdsOf(BySize().EndAt(Snapshot("rooms/b")).LimitToLast(2)), (Ids{"a", "b"}));
  EXPECT_EQ(IdsOf(BySize().LimitToLast(2).Limit(1)), (Ids{"e"}));
  EXPECT_EQ(
      Rooms().LimitToLast(2).Get().status(),
      InvalidArgument("limitToLast() queries require specifying at least one orderBy() clause."));
  EXPECT_EQ(CodeOf(BySize().LimitToLast(2).Stream([](const DocumentSnapshot&) { return true; })),
            Code::kInvalidArgument);
}

TEST_P(TransportContract, CursorsOfValues) {
  PutRooms();
  EXPECT_EQ(IdsOf(BySize().StartAt({2})), (Ids{"b", "c", "d"}));
  EXPECT_EQ(IdsOf(BySize().StartAfter({2})), (Ids{"d"}));
  EXPECT_EQ(IdsOf(BySize().StartAt({1}).EndAt({2})), (Ids{"a", "b", "c"}));
  EXPECT_EQ(IdsOf(BySize().StartAt({1}).EndBefore({2})), (Ids{"a"}));
  EXPECT_EQ(IdsOf(Rooms().OrderBy("size").OrderBy("color").StartAfter({2, "blue"})),
            (Ids{"c", "d"}));
  EXPECT_EQ(IdsOf(Rooms().OrderBy("__name__").StartAfter({"b"}).EndAt({"d"})), (Ids{"c", "d"}));
}

TEST_P(TransportContract, CursorsOfDocuments) {
  PutRooms();
  EXPECT_EQ(IdsOf(BySize().StartAt(Snapshot("rooms/c"))), (Ids{"c", "d"}));
  EXPECT_EQ(IdsOf(BySize().StartAfter(Snapshot("rooms/b")).Limit(1)), (Ids{"c"}));
  EXPECT_EQ(IdsOf(Rooms().StartAfter(Snapshot("rooms/d"))), (Ids{"e", "f"}));
  EXPECT_EQ(IdsOf(Rooms().OrderBy("size", Direction::kDescending).StartAfter(Snapshot("rooms/c"))),
            (Ids{"b", "a", "f", "e"}));
  EXPECT_EQ(IdsOf(BySize().StartAt(Snapshot("rooms/a")).EndBefore(Snapshot("rooms/c"))),
            (Ids{"a", "b"}));
  // The field of an inequality is an implicit order.
  EXPECT_EQ(IdsOf(Rooms().Where("size", Op::kGreater, 1).StartAfter(Snapshot("rooms/b"))),
            (Ids{"c", "d"}));
  EXPECT_EQ(CodeOf(BySize().OrderBy("tags").StartAt(Snapshot("rooms/e")).Get()),
            Code::kInvalidArgument);
}

TEST_P(TransportContract, PagesByDocument) {
  PutRooms();
  Ids all;
  Query query = BySize().Limit(2);
  while (true) {
    const Result<QuerySnapshot> page = query.Get();
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    if (page->empty()) break;
    for (const std::string& id : IdsOf(*page)) all.push_back(id);
    query = BySize().Limit(2).StartAfter(page->documents.back());
  }
  EXPECT_EQ(all, (Ids{"e", "f", "a", "b", "c", "d"}));
}

TEST_P(TransportContract, Names) {
  PutRooms();
  EXPECT_EQ(IdsOf(Rooms().Where("__name__", Op::kGreaterOrEqual, "e")), (Ids{"e", "f"}));
  EXPECT_EQ(IdsOf(Rooms().Where("__name__", Op::kEqual, Reference{db_.Doc("rooms/b").name()})),
            (Ids{"b"}));
  EXPECT_EQ(IdsOf(Rooms().Where("__name__", Op::kIn, Array{"a", "none", "d"})), (Ids{"a", "d"}));
  EXPECT_EQ(CodeOf(Rooms().Where("__name__", Op::kEqual, "a/b/c").Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Rooms().Where("__name__", Op::kEqual, 7).Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Rooms().Where("__name__", Op::kIn, Array{}).Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Rooms().Where("__name__", Op::kArrayContains, "a").Get()),
            Code::kInvalidArgument);
  EXPECT_EQ(
      CodeOf(Rooms().Where("__name__", Op::kEqual, Reference{db_.Doc("users/u").name()}).Get()),
      Code::kInvalidArgument);
}

TEST_P(TransportContract, CollectionGroups) {
  PutRooms();
  Put("rooms/a/messages/m1", {{"n", 1}});
  Put("rooms/b/messages/m2", {{"n", 2}});
  Put("messages/m3", {{"n", 3}});
  const Query messages = db_.CollectionGroup("messages");
  EXPECT_EQ(IdsOf(messages), (Ids{"m3", "m1", "m2"}));
  EXPECT_EQ(IdsOf(messages.Where("n", Op::kGreater, 1)), (Ids{"m2", "m3"}));
  EXPECT_EQ(IdsOf(messages.Where("__name__", Op::kGreater, "rooms/a/messages/m1")), (Ids{"m2"}));
  EXPECT_EQ(IdsOf(db_.Collection("rooms/a/messages")), (Ids{"m1"}));
  EXPECT_EQ(CodeOf(messages.Where("__name__", Op::kEqual, "rooms").Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(db_.CollectionGroup("rooms/a/messages").Get()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(db_.CollectionGroup("").Get()), Code::kInvalidArgument);
}

TEST_P(TransportContract, SelectedFields) {
  PutRooms();
  const Result<QuerySnapshot> sizes = BySize().Select({"size"}).Limit(3).Get();
  ASSERT_TRUE(sizes.ok()) << sizes.status().ToString();
  EXPECT_EQ(sizes->documents.at(2).Data(), (Map{{"size", 1}}));
  const Result<QuerySnapshot> names = Rooms().Select({}).Limit(1).Get();
  ASSERT_TRUE(names.ok()) << names.status().ToString();
  EXPECT_EQ(names->documents.at(0).id(), "a");
  EXPECT_EQ(names->documents.at(0).Data(), Map{});
}

TEST_P(TransportContract, StreamsUntilItIsEnough) {
  PutRooms();
  Ids ids;
  Timestamp told;
  const Result<Timestamp> read_time = BySize().Stream([&](DocumentSnapshot document) {
    ids.emplace_back(document.id());
    told = document.read_time();
    return ids.size() < 3;
  });
  ASSERT_TRUE(read_time.ok()) << read_time.status().ToString();
  EXPECT_EQ(ids, (Ids{"e", "f", "a"}));
  EXPECT_EQ(told, *read_time);
}

TEST_P(TransportContract, StreamsMany) {
  PutRooms();
  constexpr size_t kDocuments = 1'000;
  BulkWriter writer = db_.Bulk();
  for (size_t i = 0; i < kDocuments; ++i) {
    writer.Set(db_.Doc("many/" + std::to_string(i)), {{"text", std::string(2'000, 'x')}});
  }
  ASSERT_TRUE(writer.Flush().ok());
  size_t count = 0;
  const Result<Timestamp> read_time =
      db_.Collection("many").Stream([&count](const DocumentSnapshot&) {
        ++count;
        return true;
      });
  ASSERT_TRUE(read_time.ok()) << read_time.status().ToString();
  EXPECT_EQ(count, kDocuments);
}

TEST_P(TransportContract, Aggregates) {
  PutRooms();
  EXPECT_EQ(*Rooms().Count(), 6);
  EXPECT_EQ(*Rooms().Where("color", Op::kEqual, "red").Count(), 2);
  EXPECT_EQ(*Rooms().Limit(4).Count(), 4);
  EXPECT_EQ(*db_.Collection("none").Count(), 0);
  const auto values = Rooms()
                          .Where("size", Op::kGreaterOrEqual, 1)
                          .Aggregate({AggregateField::Count(), AggregateField::Sum("size"),
                                      AggregateField::Average("size")});
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  EXPECT_EQ(*values, (std::vector<Value>{4, 8, 2.0}));
  const auto nothing = db_.Collection("none").Aggregate(
      {AggregateField::Sum("size"), AggregateField::Average("size")});
  ASSERT_TRUE(nothing.ok()) << nothing.status().ToString();
  EXPECT_EQ(*nothing, (std::vector<Value>{0, nullptr}));
  EXPECT_EQ(CodeOf(Rooms().Aggregate({})), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Rooms().Aggregate({AggregateField::Sum("a..b")})), Code::kInvalidArgument);
}

TEST_P(TransportContract, NearestNeighbors) {
  PutRooms();
  for (int i = 0; i < 5; ++i) {
    Put("points/p" + std::to_string(i), {{"at", Vector{{1.0 * i, 0.0}}}, {"even", i % 2 == 0}});
  }
  const Query points = db_.Collection("points");
  NearestOptions options{.vector_field = "at", .query_vector = {3.2, 0.0}, .limit = 2};
  const Result<QuerySnapshot> plain = points.FindNearest(options).Get();
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(IdsOf(*plain), (Ids{"p3", "p4"}));
  EXPECT_EQ(plain->documents.at(0).distance(), std::nullopt);

  options.distance_result_field = "far";
  options.limit = 10;
  options.distance_threshold = 1.5;
  const Result<QuerySnapshot> near =
      points.Where("even", Op::kEqual, true).FindNearest(options).Get();
  ASSERT_TRUE(near.ok()) << near.status().ToString();
  ASSERT_EQ(IdsOf(*near), (Ids{"p4", "p2"}));
  ASSERT_TRUE(near->documents.at(0).distance().has_value());
  EXPECT_NEAR(*near->documents.at(0).distance(), 0.8, 1e-9);
  EXPECT_EQ(near->documents.at(0).Get("far"), Value(*near->documents.at(0).distance()));

  options.query_vector = {};
  EXPECT_EQ(CodeOf(points.FindNearest(options).Get()), Code::kInvalidArgument);
  options.query_vector = {1.0, 0.0};
  EXPECT_EQ(CodeOf(points.Limit(3).FindNearest(options).Get()), Code::kInvalidArgument);
}

TEST_P(TransportContract, QueriesThatCannotBe) {
  PutRooms();
  const auto error = [](const Query& query) { return query.Get().status(); };
  EXPECT_EQ(error(Rooms().Where("a..b", Op::kEqual, 1)).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(Rooms().OrderBy("")).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(Rooms().Select({"a..b"})).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(Rooms().Where("a", Op::kEqual, FieldValue::Delete())).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(error(Rooms().Where("a", Op::kIn, "no array")).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(BySize().StartAt({1, 2})),
            InvalidArgument("Too many cursor values specified. The specified values must match "
                            "the orderBy() constraints of the query."));
  EXPECT_EQ(error(BySize().StartAt({1}).Where("a", Op::kEqual, 1)),
            InvalidArgument("Cannot specify a where() filter after calling startAt(), "
                            "startAfter(), endBefore() or endAt()."));
  EXPECT_EQ(error(BySize().EndAt({1}).OrderBy("a")),
            InvalidArgument("Cannot specify an orderBy() constraint after calling startAt(), "
                            "startAfter(), endBefore() or endAt()."));
  EXPECT_EQ(error(Rooms().OrderBy("__name__").StartAt({"a/b/c"})).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(Rooms().OrderBy("a").OrderBy("a")).code(), Code::kInvalidArgument);
  // The first error counts, and every function that runs the query returns it.
  const Query faulty = Rooms().OrderBy("a..b").Where("c..d", Op::kEqual, 1).Limit(3);
  EXPECT_EQ(CodeOf(faulty.Count()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(faulty.Stream([](const DocumentSnapshot&) { return true; })),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(faulty.Listen([](const Result<QuerySnapshot>&) {})), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hearth::client
