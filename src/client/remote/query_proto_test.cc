#include "client/remote/query_proto.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/status_macros.h"
#include "model/fields.h"
#include "model/value.h"
#include "wire/query_requests.h"
#include "wire/requests.h"

namespace hearth::client {
namespace {

using model::EncodeArray;
using model::EncodeDouble;
using model::EncodeInteger;
using model::EncodeReference;
using model::EncodeString;
using model::FieldPath;
using query::Aggregation;
using query::CompositeFilter;
using query::FieldFilter;
using query::Operator;
using query::SortDirection;

constexpr char kDatabase[] = "projects/p/databases/(default)";

FieldPath Path(std::string_view text) { return *FieldPath::Parse(text); }

model::DatabaseName Database() { return *model::DatabaseName::Parse(kDatabase); }

query::Query On(const std::string& parent, const std::string& collection) {
  return query::Query{*model::ParentName::Parse(std::string(kDatabase) + "/documents" + parent),
                      collection};
}

query::Filter Where(std::string_view path, Operator op, std::string value) {
  return query::Filter{FieldFilter{Path(path), op, std::move(value)}};
}

query::Filter Join(CompositeFilter::Operator op, std::vector<query::Filter> filters) {
  return query::Filter{CompositeFilter{op, std::move(filters)}};
}

// Parses the message as the server does and encodes it again. The result is equal if nothing was
// lost.
void ExpectThereAndBack(const query::Query& query) {
  const Result<proto::StructuredQuery> there = MakeStructuredQuery(query);
  ASSERT_TRUE(there.ok()) << there.status().ToString();
  const Result<query::Query> back = wire::ReadQuery(query.parent, *there);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->collection_id, query.collection_id);
  EXPECT_EQ(back->all_descendants, query.all_descendants);
  EXPECT_EQ(back->orders, query.orders);
  EXPECT_EQ(back->offset, query.offset);
  EXPECT_EQ(back->limit, query.limit);
  EXPECT_EQ(back->select, query.select);
  EXPECT_EQ(back->where.has_value(), query.where.has_value());
  const Result<proto::StructuredQuery> again = MakeStructuredQuery(*back);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->DebugString(), there->DebugString());
}

TEST(QueryProto, EveryOperator) {
  const std::pair<Operator, const char*> operators[] = {
      {Operator::kLess, "LESS_THAN"},
      {Operator::kLessOrEqual, "LESS_THAN_OR_EQUAL"},
      {Operator::kEqual, "EQUAL"},
      {Operator::kNotEqual, "NOT_EQUAL"},
      {Operator::kGreaterOrEqual, "GREATER_THAN_OR_EQUAL"},
      {Operator::kGreater, "GREATER_THAN"},
      {Operator::kArrayContains, "ARRAY_CONTAINS"},
      {Operator::kArrayContainsAny, "ARRAY_CONTAINS_ANY"},
      {Operator::kIn, "IN"},
      {Operator::kNotIn, "NOT_IN"},
  };
  for (const auto& [op, name] : operators) {
    query::Query query = On("", "rooms");
    query.where = Where("a.`b c`", op, EncodeArray({EncodeInteger(1), EncodeString("two")}));
    const auto message = MakeStructuredQuery(query);
    ASSERT_TRUE(message.ok());
    const auto& filter = message->where().field_filter();
    EXPECT_EQ(proto::StructuredQuery::FieldFilter::Operator_Name(filter.op()), name);
    EXPECT_EQ(filter.field().field_path(), "a.`b c`");
    EXPECT_EQ(filter.value().array_value().values(1).string_value(), "two");
    ExpectThereAndBack(query);
  }
}

TEST(QueryProto, EveryUnaryOperator) {
  const std::pair<Operator, const char*> operators[] = {
      {Operator::kIsNull, "IS_NULL"},
      {Operator::kIsNan, "IS_NAN"},
      {Operator::kIsNotNull, "IS_NOT_NULL"},
      {Operator::kIsNotNan, "IS_NOT_NAN"},
  };
  for (const auto& [op, name] : operators) {
    query::Query query = On("", "rooms");
    query.where = Where("a", op, "");
    const auto message = MakeStructuredQuery(query);
    ASSERT_TRUE(message.ok());
    const auto& filter = message->where().unary_filter();
    EXPECT_EQ(proto::StructuredQuery::UnaryFilter::Operator_Name(filter.op()), name);
    ExpectThereAndBack(query);
  }
}

TEST(QueryProto, AllPartsOfAQuery) {
  query::Query query = On("/houses/h1", "rooms");
  EXPECT_EQ(ParentText(query.parent), std::string(kDatabase) + "/documents/houses/h1");
  query.all_descendants = true;
  query.where = Join(
      CompositeFilter::Operator::kAnd,
      {Where("a", Operator::kGreater, EncodeDouble(1.5)),
       Join(CompositeFilter::Operator::kOr,
            {Where("b", Operator::kEqual, EncodeString("x")), Where("c", Operator::kIsNan, "")})});
  query.orders = {{Path("a"), SortDirection::kDescending},
                  {Path("__name__"), SortDirection::kAscending}};
  const std::string room = EncodeReference(std::string(kDatabase) + "/documents/rooms/r1");
  query.start = {{EncodeDouble(2), room}, true};
  query.end = {{EncodeDouble(9)}, false};
  query.offset = 3;
  query.limit = 7;
  query.select = std::vector{Path("a"), Path("b.c")};
  ExpectThereAndBack(query);
  const auto message = MakeStructuredQuery(query);
  EXPECT_TRUE(message->start_at().before());
  EXPECT_FALSE(message->end_at().before());
  EXPECT_EQ(message->start_at().values_size(), 2);
}

TEST(QueryProto, ASelectionOfNothingIsNotAll) {
  query::Query query = On("", "rooms");
  EXPECT_FALSE(MakeStructuredQuery(query)->has_select());
  query.select.emplace();
  EXPECT_TRUE(MakeStructuredQuery(query)->has_select());
  ExpectThereAndBack(query);
}

TEST(QueryProto, ALimitOfZeroIsALimit) {
  query::Query query = On("", "rooms");
  EXPECT_FALSE(MakeStructuredQuery(query)->has_limit());
  query.limit = 0;
  EXPECT_TRUE(MakeStructuredQuery(query)->has_limit());
}

TEST(QueryProto, NearestNeighbours) {
  for (const auto measure : {query::DistanceMeasure::kEuclidean, query::DistanceMeasure::kCosine,
                             query::DistanceMeasure::kDotProduct}) {
    query::Query query = On("", "rooms");
    query.nearest = {Path("embedding"), {1, -2.5}, measure, 10, Path("`my distance`"), 0.25};
    ExpectThereAndBack(query);
    const auto message = MakeStructuredQuery(query);
    // The name itself, not a path.
    EXPECT_EQ(message->find_nearest().distance_result_field(), "my distance");
    const auto back = wire::ReadQuery(query.parent, *message);
    EXPECT_EQ(back->nearest->query_vector, query.nearest->query_vector);
    EXPECT_EQ(back->nearest->measure, measure);
    EXPECT_EQ(back->nearest->distance_threshold, 0.25);
  }
  query::Query query = On("", "rooms");
  query.nearest = {Path("e"), {1}, query::DistanceMeasure::kCosine, 10, Path("a.b"), {}};
  EXPECT_EQ(MakeStructuredQuery(query).status().code(), Code::kInvalidArgument);
}

TEST(QueryProto, NumbersThatDoNotFit) {
  const size_t most = 2'147'483'647;
  query::Query query = On("", "rooms");
  query.limit = query.offset = most;
  ExpectThereAndBack(query);
  query.limit = most + 1;
  EXPECT_EQ(MakeStructuredQuery(query).status().code(), Code::kInvalidArgument);
  query.limit.reset();
  query.offset = most + 1;
  EXPECT_EQ(MakeStructuredQuery(query).status().code(), Code::kInvalidArgument);
}

TEST(QueryProto, TextThatIsNotUtf8) {
  query::Query query = On("", "rooms");
  query.where = Where("a", Operator::kEqual, EncodeString("\xff"));
  EXPECT_EQ(MakeStructuredQuery(query).status().code(), Code::kInvalidArgument);
}

TEST(QueryProto, Aggregations) {
  proto::RunAggregationQueryRequest request;
  request.set_parent(std::string(kDatabase) + "/documents");
  const auto message = MakeAggregationQuery(
      On("", "rooms"), {{Aggregation::Kind::kCount, "all"},
                        {Aggregation::Kind::kCount, "some", {}, 10},
                        {Aggregation::Kind::kSum, "sum", Path("size")},
                        {Aggregation::Kind::kAverage, "average", Path("a.b")}});
  ASSERT_TRUE(message.ok());
  *request.mutable_structured_aggregation_query() = *message;
  const auto read = wire::ReadRunAggregationQuery(request);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->aggregations.size(), 4u);
  EXPECT_EQ(read->aggregations[0].kind, Aggregation::Kind::kCount);
  EXPECT_EQ(read->aggregations[0].alias, "all");
  EXPECT_EQ(read->aggregations[0].up_to, std::nullopt);
  EXPECT_EQ(read->aggregations[1].up_to, 10u);
  EXPECT_EQ(read->aggregations[2].kind, Aggregation::Kind::kSum);
  EXPECT_EQ(read->aggregations[2].path, Path("size"));
  EXPECT_EQ(read->aggregations[3].kind, Aggregation::Kind::kAverage);
}

// The write as the server parses it.
Result<request::Write> Sent(const request::Write& write) {
  ASSIGN_OR_RETURN(const std::string bytes, EncodeWrite(Database(), write));
  proto::Write message;
  RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
  return wire::ReadWrite(Database(), &message);
}

request::Write WriteOf(request::WriteKind kind) {
  return {*model::DocumentPath::Parse("rooms/r1"), kind, {}, {}, {}, {}};
}

TEST(QueryProto, Updates) {
  request::Write write = WriteOf(request::WriteKind::kUpdate);
  std::string fields;
  model::AppendField(model::MapView::Tag::kDocument, "a", EncodeInteger(1), &fields);
  model::AppendField(model::MapView::Tag::kDocument, "b", EncodeString("two"), &fields);
  write.fields = *model::Fields::Validate(fields);
  write.mask = std::vector{Path("a"), Path("`b c`.d")};
  write.precondition.update_time = model::Timestamp::FromMicros(1'234'567);
  const auto sent = Sent(write);
  ASSERT_TRUE(sent.ok()) << sent.status().ToString();
  EXPECT_EQ(sent->kind, request::WriteKind::kUpdate);
  EXPECT_EQ(sent->path, write.path);
  EXPECT_EQ(sent->fields, write.fields);
  EXPECT_EQ(sent->mask, write.mask);
  EXPECT_EQ(sent->precondition.update_time, write.precondition.update_time);
  EXPECT_EQ(sent->precondition.exists, std::nullopt);

  write.mask.reset();
  EXPECT_EQ(Sent(write)->mask, std::nullopt);
  write.mask.emplace();
  EXPECT_EQ(Sent(write)->mask, std::vector<FieldPath>());
}

TEST(QueryProto, DeletesAndChecks) {
  for (const auto kind : {request::WriteKind::kDelete, request::WriteKind::kVerify}) {
    request::Write write = WriteOf(kind);
    write.precondition.exists = true;
    const auto sent = Sent(write);
    ASSERT_TRUE(sent.ok()) << sent.status().ToString();
    EXPECT_EQ(sent->kind, kind);
    EXPECT_EQ(sent->path, write.path);
    EXPECT_EQ(sent->precondition.exists, true);
  }
}

TEST(QueryProto, Transforms) {
  using model::TransformKind;
  request::Write write = WriteOf(request::WriteKind::kUpdate);
  const std::string items = EncodeArray({EncodeInteger(1), EncodeString("two")});
  write.transforms = {{Path("a"), TransformKind::kServerTime, ""},
                      {Path("b"), TransformKind::kIncrement, EncodeDouble(0.5)},
                      {Path("c"), TransformKind::kMaximum, EncodeInteger(2)},
                      {Path("d"), TransformKind::kMinimum, EncodeInteger(3)},
                      {Path("e"), TransformKind::kArrayUnion, items},
                      {Path("f"), TransformKind::kArrayRemove, EncodeArray({})}};
  const auto sent = Sent(write);
  ASSERT_TRUE(sent.ok()) << sent.status().ToString();
  ASSERT_EQ(sent->transforms.size(), write.transforms.size());
  for (size_t i = 0; i < write.transforms.size(); ++i) {
    EXPECT_EQ(sent->transforms[i].path, write.transforms[i].path);
    EXPECT_EQ(sent->transforms[i].kind, write.transforms[i].kind);
    EXPECT_EQ(sent->transforms[i].operand, write.transforms[i].operand);
  }
}

}  // namespace
}  // namespace hearth::client
