#include "client/query.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "client/query_changes.h"
#include "client/query_parts.h"
#include "client/transport.h"

namespace hearth::client {
namespace {

using query::CompositeFilter;
using query::SortDirection;

Status CheckNoCursorYet(const query::Query& query, std::string_view what) {
  if (!query.start && !query.end) return Status();
  return InvalidArgument("Cannot specify " + std::string(what) +
                         " after calling startAt(), startAfter(), endBefore() or endAt().");
}

// Both must hold.
query::Filter Join(query::Filter first, query::Filter second) {
  auto* joined = std::get_if<CompositeFilter>(&first.filter);
  if (joined && joined->op == CompositeFilter::Operator::kAnd) {
    joined->filters.push_back(std::move(second));
    return first;
  }
  CompositeFilter both{CompositeFilter::Operator::kAnd, {}};
  both.filters.push_back(std::move(first));
  both.filters.push_back(std::move(second));
  return query::Filter{std::move(both)};
}

// The name of a top-level field, with any characters.
Result<model::FieldPath> QuotedField(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return model::FieldPath::Parse(quoted + '`');
}

Result<query::FindNearest> ToNearest(NearestOptions options) {
  ASSIGN_OR_RETURN(model::FieldPath field, model::FieldPath::Parse(options.vector_field));
  query::FindNearest nearest{std::move(field), std::move(options.query_vector), options.measure,
                             options.limit};
  nearest.distance_threshold = options.distance_threshold;
  if (!options.distance_result_field.empty()) {
    ASSIGN_OR_RETURN(nearest.distance_result_field, QuotedField(options.distance_result_field));
  }
  return nearest;
}

}  // namespace

AggregateField AggregateField::Count() {
  return AggregateField(query::Aggregation::Kind::kCount, "");
}

AggregateField AggregateField::Sum(std::string field_path) {
  return AggregateField(query::Aggregation::Kind::kSum, std::move(field_path));
}

AggregateField AggregateField::Average(std::string field_path) {
  return AggregateField(query::Aggregation::Kind::kAverage, std::move(field_path));
}

Query::Query(std::shared_ptr<Transport> transport, Result<query::Query> query)
    : transport_(std::move(transport)), query_(std::move(query)) {}

Query Query::With(const std::function<Status(query::Query*)>& change) const {
  Query copy = *this;
  if (!copy.query_.ok()) return copy;
  if (const Status status = change(&*copy.query_); !status.ok()) copy.query_ = status;
  return copy;
}

Query Query::Where(std::string_view field_path, Op op, Value value) const {
  return Where(Filter::Where(field_path, op, std::move(value)));
}

Query Query::Where(Filter filter) const {
  return With([&filter](query::Query* query) -> Status {
    RETURN_IF_ERROR(CheckNoCursorYet(*query, "a where() filter"));
    ASSIGN_OR_RETURN(std::optional<query::Filter> read, FilterReader(*query).Read(filter));
    if (!read) return Status();
    query->where =
        query->where ? Join(*std::move(query->where), *std::move(read)) : std::move(read);
    return Status();
  });
}

Query Query::OrderBy(std::string_view field_path, Direction direction) const {
  return With([&](query::Query* query) -> Status {
    RETURN_IF_ERROR(CheckNoCursorYet(*query, "an orderBy() constraint"));
    ASSIGN_OR_RETURN(model::FieldPath path, model::FieldPath::Parse(field_path));
    query->orders.push_back({std::move(path), direction == Direction::kAscending
                                                  ? SortDirection::kAscending
                                                  : SortDirection::kDescending});
    return Status();
  });
}

Query Query::Limit(size_t limit) const {
  Query copy = *this;
  if (copy.query_.ok()) copy.query_->limit = limit;
  copy.limit_to_last_ = false;
  return copy;
}

Query Query::LimitToLast(size_t limit) const {
  Query copy = Limit(limit);
  copy.limit_to_last_ = true;
  return copy;
}

Query Query::Offset(size_t offset) const {
  Query copy = *this;
  if (copy.query_.ok()) copy.query_->offset = offset;
  return copy;
}

Query Query::Select(const std::vector<std::string>& field_paths) const {
  return With([&field_paths](query::Query* query) -> Status {
    std::vector<model::FieldPath> paths;
    for (const std::string& text : field_paths) {
      ASSIGN_OR_RETURN(model::FieldPath path, model::FieldPath::Parse(text));
      paths.push_back(std::move(path));
    }
    query->select = std::move(paths);
    return Status();
  });
}

Query Query::WithCursor(Edge edge, Side side, const std::vector<Value>& values) const {
  return With([&](query::Query* query) -> Status {
    ASSIGN_OR_RETURN(std::vector<std::string> encoded, CursorValues(*query, query->orders, values));
    std::optional<query::Bound>& bound = edge == Edge::kStart ? query->start : query->end;
    bound = query::Bound{std::move(encoded), side == Side::kBefore};
    return Status();
  });
}

Query Query::WithCursor(Edge edge, Side side, const DocumentSnapshot& document) const {
  return With([&](query::Query* query) -> Status {
    std::vector<query::Order> orders = OrdersWithImplicit(*query);
    ASSIGN_OR_RETURN(std::vector<std::string> encoded, CursorValues(*query, orders, document));
    query->orders = std::move(orders);
    std::optional<query::Bound>& bound = edge == Edge::kStart ? query->start : query->end;
    bound = query::Bound{std::move(encoded), side == Side::kBefore};
    return Status();
  });
}

Query Query::StartAt(std::vector<Value> values) const {
  return WithCursor(Edge::kStart, Side::kBefore, values);
}

Query Query::StartAt(const DocumentSnapshot& document) const {
  return WithCursor(Edge::kStart, Side::kBefore, document);
}

Query Query::StartAfter(std::vector<Value> values) const {
  return WithCursor(Edge::kStart, Side::kAfter, values);
}

Query Query::StartAfter(const DocumentSnapshot& document) const {
  return WithCursor(Edge::kStart, Side::kAfter, document);
}

Query Query::EndAt(std::vector<Value> values) const {
  return WithCursor(Edge::kEnd, Side::kAfter, values);
}

Query Query::EndAt(const DocumentSnapshot& document) const {
  return WithCursor(Edge::kEnd, Side::kAfter, document);
}

Query Query::EndBefore(std::vector<Value> values) const {
  return WithCursor(Edge::kEnd, Side::kBefore, values);
}

Query Query::EndBefore(const DocumentSnapshot& document) const {
  return WithCursor(Edge::kEnd, Side::kBefore, document);
}

Query Query::FindNearest(NearestOptions options) const {
  return With([&options](query::Query* query) -> Status {
    ASSIGN_OR_RETURN(query->nearest, ToNearest(std::move(options)));
    return Status();
  });
}

Result<query::Query> Query::Build() const {
  if (!query_.ok() || !limit_to_last_) return query_;
  if (query_->orders.empty()) {
    return InvalidArgument(
        "limitToLast() queries require specifying at least one orderBy() clause.");
  }
  return Reversed(*query_);
}

QuerySnapshot Query::ToSnapshot(std::vector<TransportDocument> documents,
                                Timestamp read_time) const {
  if (limit_to_last_) std::reverse(documents.begin(), documents.end());
  QuerySnapshot snapshot{{}, read_time};
  snapshot.documents.reserve(documents.size());
  for (TransportDocument& document : documents) {
    snapshot.documents.emplace_back(transport_, std::move(document.path),
                                    std::move(document.record), read_time, document.distance);
  }
  return snapshot;
}

Result<QuerySnapshot> Query::Run(const ReadMoment& moment) const {
  ASSIGN_OR_RETURN(const query::Query query, Build());
  std::vector<TransportDocument> documents;
  ASSIGN_OR_RETURN(const Timestamp read_time,
                   transport_->Query(query, moment, [&documents](TransportDocument document) {
                     documents.push_back(std::move(document));
                     return true;
                   }));
  return ToSnapshot(std::move(documents), read_time);
}

Result<QuerySnapshot> Query::Get() const { return Run(ReadMoment{}); }

Result<QuerySnapshot> Query::GetAt(Timestamp read_time) const {
  return Run(ReadMoment{.read_time = read_time});
}

Result<Timestamp> Query::Stream(const std::function<bool(DocumentSnapshot)>& on_document) const {
  if (limit_to_last_) {
    return InvalidArgument(
        "Query results for queries that include limitToLast() constraints cannot be streamed. Use "
        "Query.get() instead.");
  }
  ASSIGN_OR_RETURN(const query::Query query, Build());
  return transport_->Query(query, ReadMoment{}, [&](TransportDocument document) {
    return on_document(DocumentSnapshot(transport_, std::move(document.path),
                                        std::move(document.record), document.read_time,
                                        document.distance));
  });
}

Result<std::vector<Value>> Query::RunAggregate(const std::vector<AggregateField>& fields,
                                               const ReadMoment& moment) const {
  ASSIGN_OR_RETURN(const query::Query query, Build());
  std::vector<query::Aggregation> aggregations;
  for (const AggregateField& field : fields) {
    query::Aggregation aggregation{field.kind_, "aggregate_" + std::to_string(aggregations.size())};
    if (field.kind_ != query::Aggregation::Kind::kCount) {
      ASSIGN_OR_RETURN(aggregation.path, model::FieldPath::Parse(field.field_path_));
    }
    aggregations.push_back(std::move(aggregation));
  }
  ASSIGN_OR_RETURN(Transport::Aggregates answer,
                   transport_->Aggregate(query, aggregations, moment));
  return std::move(answer.values);
}

Result<std::vector<Value>> Query::Aggregate(const std::vector<AggregateField>& fields) const {
  return RunAggregate(fields, ReadMoment{});
}

Result<int64_t> Query::Count() const {
  ASSIGN_OR_RETURN(const std::vector<Value> values, Aggregate({AggregateField::Count()}));
  return values.at(0).integer().value_or(0);
}

Result<Listener> Query::Listen(OnSnapshot on_snapshot) const {
  ASSIGN_OR_RETURN(ListenTarget target, [this]() -> Result<ListenTarget> {
    ASSIGN_OR_RETURN(query::Query query, Build());
    return ListenTarget{.query = std::move(query)};
  }());
  // Used only by the calls of one listener, one at a time.
  auto previous = std::make_shared<std::vector<DocumentSnapshot>>();
  const auto on_state = [query = *this, previous,
                         on_snapshot = std::move(on_snapshot)](Result<ListenState> state) {
    if (!state.ok()) return on_snapshot(state.status());
    QuerySnapshot snapshot = query.ToSnapshot(std::move(state->documents), state->read_time);
    snapshot.changes = ChangesBetween(*previous, snapshot.documents);
    *previous = snapshot.documents;
    on_snapshot(std::move(snapshot));
  };
  ASSIGN_OR_RETURN(std::unique_ptr<TransportListener> listener,
                   transport_->Listen(std::move(target), on_state));
  return Listener(std::move(listener));
}

}  // namespace hearth::client
