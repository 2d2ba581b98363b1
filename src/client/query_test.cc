#include "client/query.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "client/firestore.h"
#include "client/testing/scripted_transport.h"
#include "model/document.h"
#include "model/limits.h"

namespace hearth::client {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* kDocuments = "projects/p/databases/(default)/documents/";

class QueryTest : public testing::Test {
 protected:
  // The query as the transport gets it. Fails the test if it is not sent.
  query::Query Sent(const Query& query) {
    const Status status = query.Get().status();
    EXPECT_TRUE(status.ok()) << status.ToString();
    return transport_->last_query();
  }
  Status Error(const Query& query) { return query.Get().status(); }

  DocumentSnapshot Snapshot(const std::string& path, const Map& data) {
    const request::Write write = *SetWrite(*model::DocumentPath::Parse(path), data, {});
    auto record = std::make_shared<const std::string>(
        model::EncodeRecord(Timestamp(), Timestamp(), write.fields));
    return DocumentSnapshot(transport_, write.path, std::move(record), Timestamp());
  }

  std::shared_ptr<ScriptedTransport> transport_ = std::make_shared<ScriptedTransport>();
  Firestore db_{transport_};
  Query rooms_ = db_.Collection("rooms");
};

Texts OrdersOf(const query::Query& query) {
  Texts texts;
  for (const query::Order& order : query.orders) {
    const bool is_ascending = order.direction == query::SortDirection::kAscending;
    texts.push_back(order.path.ToString() + (is_ascending ? " asc" : " desc"));
  }
  return texts;
}

// "before [1, ref(…)]"
std::string TextOf(const std::optional<query::Bound>& bound) {
  if (!bound) return "none";
  Array values;
  for (const std::string& value : bound->values) values.push_back(Decode(model::ValueView(value)));
  return (bound->before ? "before " : "after ") + ToString(values);
}

std::string TextOf(const query::Filter& filter) {
  if (const auto* field = std::get_if<query::FieldFilter>(&filter.filter)) {
    std::string text = field->path.ToString() + " #" + std::to_string(static_cast<int>(field->op));
    if (!field->value.empty()) text += " " + ToString(Decode(model::ValueView(field->value)));
    return text;
  }
  const auto& composite = std::get<query::CompositeFilter>(filter.filter);
  std::string text = composite.op == query::CompositeFilter::Operator::kAnd ? "and(" : "or(";
  for (const query::Filter& part : composite.filters) text += TextOf(part) + ";";
  return text + ")";
}

std::string Filtered(const std::string& path, query::Operator op, const std::string& value = "") {
  return path + " #" + std::to_string(static_cast<int>(op)) + (value.empty() ? "" : " " + value);
}

using query::Operator;

TEST_F(QueryTest, CollectionsAndGroups) {
  query::Query query = Sent(db_.Collection("rooms/a/messages"));
  EXPECT_EQ(query.parent.document_path, "rooms/a");
  EXPECT_EQ(query.collection_id, "messages");
  EXPECT_FALSE(query.all_descendants);
  query = Sent(db_.CollectionGroup("messages"));
  EXPECT_EQ(query.parent.document_path, "");
  EXPECT_TRUE(query.all_descendants);
}

TEST_F(QueryTest, Filters) {
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a.b", Op::kGreater, 1)).where),
            Filtered("a.b", Operator::kGreater, "1"));
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a", Op::kEqual, nullptr)).where),
            Filtered("a", Operator::kIsNull));
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a", Op::kNotEqual, nullptr)).where),
            Filtered("a", Operator::kIsNotNull));
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a", Op::kEqual, std::nan(""))).where),
            Filtered("a", Operator::kIsNan));
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a", Op::kNotEqual, std::nan(""))).where),
            Filtered("a", Operator::kIsNotNan));
  // The list may hold values that no stored array can.
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("a", Op::kIn, Array{Array{1}, Vector{{1}}})).where),
            Filtered("a", Operator::kIn, "[[1], vector(1.0)]"));
}

TEST_F(QueryTest, JoinedFilters) {
  const Filter a = Filter::Where("a", Op::kEqual, 1);
  const Filter b = Filter::Where("b", Op::kEqual, 2);
  const std::string a_text = Filtered("a", Operator::kEqual, "1");
  const std::string b_text = Filtered("b", Operator::kEqual, "2");
  EXPECT_EQ(TextOf(*Sent(rooms_.Where(a).Where(b).Where(a)).where),
            "and(" + a_text + ";" + b_text + ";" + a_text + ";)");
  EXPECT_EQ(TextOf(*Sent(rooms_.Where(Filter::Or({a, b})).Where(a)).where),
            "and(or(" + a_text + ";" + b_text + ";);" + a_text + ";)");
  EXPECT_EQ(TextOf(*Sent(rooms_.Where(Filter::Or({Filter::And({a})}))).where), a_text);
  EXPECT_FALSE(Sent(rooms_.Where(Filter::Or({Filter::And({})}))).where.has_value());
}

TEST_F(QueryTest, NamesInFilters) {
  const std::string a = "ref(" + std::string(kDocuments) + "rooms/a)";
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("__name__", Op::kEqual, "a")).where),
            Filtered("__name__", Operator::kEqual, a));
  EXPECT_EQ(TextOf(*Sent(rooms_.Where("__name__", Op::kNotIn,
                                      Array{"a", Reference{db_.Doc("rooms/b").name()}}))
                        .where),
            Filtered("__name__", Operator::kNotIn, "[" + a + ", ref(" + kDocuments + "rooms/b)]"));
  EXPECT_EQ(TextOf(*Sent(db_.CollectionGroup("m").Where("__name__", Op::kLess, "x/y/m/z")).where),
            Filtered("__name__", Operator::kLess, "ref(" + std::string(kDocuments) + "x/y/m/z)"));
}

TEST_F(QueryTest, NamesThatCannotBeResults) {
  const auto error = [this](const Query& query, Value value) {
    return Error(query.Where("__name__", Op::kEqual, std::move(value)));
  };
  EXPECT_EQ(error(rooms_, "a/b"),
            InvalidArgument("When querying a collection and ordering by FieldPath.documentId(), "
                            "the corresponding value must be a plain document ID, but 'a/b' "
                            "contains a slash."));
  EXPECT_EQ(error(db_.CollectionGroup("m"), "a"),
            InvalidArgument("When querying a collection group and ordering by "
                            "FieldPath.documentId(), the corresponding value must result in a "
                            "valid document path, but 'a' is not because it contains an odd "
                            "number of segments."));
  EXPECT_EQ(error(rooms_, Reference{std::string(kDocuments) + "users/u"}),
            InvalidArgument("\"users/u\" is not part of the query result set and cannot be used "
                            "as a query boundary."));
  EXPECT_EQ(error(rooms_, Reference{std::string(kDocuments) + "rooms/a/m/x"}),
            InvalidArgument(
                "Only a direct child can be used as a query boundary. Found: \"rooms/a/m/x\"."));
  EXPECT_EQ(error(rooms_, nullptr).code(), Code::kInvalidArgument);
  EXPECT_EQ(error(rooms_, "").code(), Code::kInvalidArgument);
  EXPECT_EQ(error(rooms_, Reference{"nonsense"}).code(), Code::kInvalidArgument);
}

TEST_F(QueryTest, LimitsPaths) {
  const std::string fits(model::kFieldPathBytesMax, 'a');
  EXPECT_TRUE(Error(rooms_.OrderBy(fits)).ok());
  EXPECT_TRUE(Error(rooms_.Where(fits, Op::kEqual, 1)).ok());
  EXPECT_EQ(Error(rooms_.OrderBy(fits + "a")).code(), Code::kInvalidArgument);
  EXPECT_EQ(Error(rooms_.Where(fits + "a", Op::kEqual, 1)).code(), Code::kInvalidArgument);
}

TEST_F(QueryTest, CursorsOfValues) {
  const Query query = rooms_.OrderBy("a").OrderBy("__name__", Direction::kDescending);
  const std::string x = "ref(" + std::string(kDocuments) + "rooms/x)";
  EXPECT_EQ(TextOf(Sent(query.StartAt({1})).start), "before [1]");
  EXPECT_EQ(TextOf(Sent(query.StartAfter({1, "x"})).start), "after [1, " + x + "]");
  EXPECT_EQ(TextOf(Sent(query.EndAt({nullptr})).end), "after [null]");
  EXPECT_EQ(TextOf(Sent(query.EndBefore({1, "x"})).end), "before [1, " + x + "]");
  EXPECT_EQ(TextOf(Sent(query.StartAt({1}).StartAfter({2})).start), "after [2]");
}

TEST_F(QueryTest, CursorsOfDocumentsBringTheImplicitOrders) {
  const DocumentSnapshot x = Snapshot("rooms/x", {{"a", 1}, {"b", 2}, {"c", 3}});
  const std::string name = "ref(" + std::string(kDocuments) + "rooms/x)";
  query::Query query = Sent(rooms_.StartAt(x));
  EXPECT_EQ(OrdersOf(query), (Texts{"__name__ asc"}));
  EXPECT_EQ(TextOf(query.start), "before [" + name + "]");

  query = Sent(rooms_.OrderBy("a", Direction::kDescending).EndAt(x));
  EXPECT_EQ(OrdersOf(query), (Texts{"a desc", "__name__ desc"}));
  EXPECT_EQ(TextOf(query.end), "after [1, " + name + "]");

  query = Sent(rooms_.Where("c", Op::kLess, 9)
                   .Where(Filter::Or({Filter::Where("b", Op::kNotEqual, nullptr),
                                      Filter::Where("a", Op::kEqual, 1)}))
                   .StartAfter(x));
  EXPECT_EQ(OrdersOf(query), (Texts{"b asc", "c asc", "__name__ asc"}));
  EXPECT_EQ(TextOf(query.start), "after [2, 3, " + name + "]");

  query =
      Sent(rooms_.Where("__name__", Op::kGreater, "a").OrderBy("__name__").StartAt(x).EndBefore(x));
  EXPECT_EQ(OrdersOf(query), (Texts{"__name__ asc"}));
  EXPECT_EQ(TextOf(query.end), "before [" + name + "]");
}

TEST_F(QueryTest, ADocumentMustHaveWhatACursorNeeds) {
  const DocumentSnapshot x = Snapshot("rooms/x", {{"a", 1}});
  EXPECT_EQ(Error(rooms_.OrderBy("b").StartAt(x)),
            InvalidArgument("Field \"b\" is missing in the provided DocumentSnapshot. Please "
                            "provide a document that contains values for all specified orderBy() "
                            "and where() constraints."));
  EXPECT_EQ(Error(db_.Collection("users").StartAt(x)).code(), Code::kInvalidArgument);
}

TEST_F(QueryTest, LimitToLastTurnsAllRound) {
  const query::Query query = Sent(rooms_.OrderBy("a")
                                      .OrderBy("b", Direction::kDescending)
                                      .StartAt({1})
                                      .EndBefore({5})
                                      .LimitToLast(3));
  EXPECT_EQ(OrdersOf(query), (Texts{"a desc", "b asc"}));
  EXPECT_EQ(TextOf(query.start), "after [5]");
  EXPECT_EQ(TextOf(query.end), "after [1]");
  EXPECT_EQ(query.limit, 3u);
}

TEST_F(QueryTest, TheFirstFaultCounts) {
  const Query faulty = rooms_.OrderBy("a..b");
  EXPECT_EQ(Error(faulty.Where("c", Op::kLess, nullptr).Limit(1).Select({"x"}).StartAt({1})),
            Error(faulty));
  EXPECT_EQ(transport_->calls(), Texts{}) << "the database is not bothered";
}

TEST_F(QueryTest, QueriesAreValues) {
  const Query ordered = rooms_.OrderBy("a");
  const Query limited = ordered.Limit(1);
  EXPECT_EQ(Sent(ordered).limit, std::nullopt);
  EXPECT_EQ(Sent(limited).limit, 1u);
  EXPECT_TRUE(Sent(rooms_).orders.empty());
}

TEST_F(QueryTest, Nearest) {
  const query::Query query = Sent(rooms_.FindNearest({.vector_field = "v.w",
                                                      .query_vector = {1, 2},
                                                      .measure = DistanceMeasure::kCosine,
                                                      .limit = 3,
                                                      .distance_result_field = "a.b",
                                                      .distance_threshold = 0.5}));
  ASSERT_TRUE(query.nearest.has_value());
  EXPECT_EQ(query.nearest->vector_field.ToString(), "v.w");
  EXPECT_EQ(query.nearest->limit, 3u);
  EXPECT_EQ(query.nearest->distance_result_field->ToString(), "`a.b`") << "a name, not a path";
  EXPECT_EQ(query.nearest->distance_threshold, 0.5);
}

}  // namespace
}  // namespace hearth::client
