#include <optional>
#include <utility>
#include <vector>

#include "cases/runner/parse.h"

namespace hearth::cases {
namespace {

using Query = proto::StructuredQuery;
using Filter = proto::StructuredQuery_Filter;

Filter ReadFilter(Scanner& scanner, const Scope& scope);

constexpr std::pair<std::string_view, Query::FieldFilter::Operator> kOperators[] = {
    {"==", Query::FieldFilter::EQUAL},
    {"!=", Query::FieldFilter::NOT_EQUAL},
    {"<=", Query::FieldFilter::LESS_THAN_OR_EQUAL},
    {">=", Query::FieldFilter::GREATER_THAN_OR_EQUAL},
    {"<", Query::FieldFilter::LESS_THAN},
    {">", Query::FieldFilter::GREATER_THAN},
};
constexpr std::pair<std::string_view, Query::FieldFilter::Operator> kOperatorWords[] = {
    {"in", Query::FieldFilter::IN},
    {"not_in", Query::FieldFilter::NOT_IN},
    {"contains", Query::FieldFilter::ARRAY_CONTAINS},
    {"contains_any", Query::FieldFilter::ARRAY_CONTAINS_ANY},
};

Query::FieldFilter::Operator ReadOperator(Scanner& scanner) {
  for (const auto& [symbol, op] : kOperators) {
    if (scanner.TrySymbol(symbol)) return op;
  }
  for (const auto& [word, op] : kOperatorWords) {
    if (scanner.TryWord(word)) return op;
  }
  scanner.FailExpecting("== != < <= > >= in not_in contains contains_any or is");
  return {};
}

// "is null", "is not null", "is nan", "is not nan"
Query::UnaryFilter::Operator ReadUnaryOperator(Scanner& scanner) {
  const bool is_not = scanner.TryWord("not");
  if (scanner.TryWord("null")) {
    return is_not ? Query::UnaryFilter::IS_NOT_NULL : Query::UnaryFilter::IS_NULL;
  }
  if (!scanner.TryWord("nan")) scanner.FailExpecting("null or nan");
  return is_not ? Query::UnaryFilter::IS_NOT_NAN : Query::UnaryFilter::IS_NAN;
}

Filter ReadComparison(Scanner& scanner, const Scope& scope) {
  Filter filter;
  if (scanner.Try('(')) {
    filter = ReadFilter(scanner, scope);
    scanner.Expect(')');
    return filter;
  }
  const std::string path = ReadFieldPath(scanner);
  if (scanner.TryWord("is")) {
    filter.mutable_unary_filter()->mutable_field()->set_field_path(path);
    filter.mutable_unary_filter()->set_op(ReadUnaryOperator(scanner));
    return filter;
  }
  filter.mutable_field_filter()->mutable_field()->set_field_path(path);
  filter.mutable_field_filter()->set_op(ReadOperator(scanner));
  *filter.mutable_field_filter()->mutable_value() = ReadValue(scanner, scope);
  return filter;
}

Filter Join(std::vector<Filter> filters, Query::CompositeFilter::Operator op) {
  if (filters.size() == 1) return std::move(filters.front());
  Filter joined;
  joined.mutable_composite_filter()->set_op(op);
  for (Filter& filter : filters) {
    *joined.mutable_composite_filter()->add_filters() = std::move(filter);
  }
  return joined;
}

Filter ReadConjunction(Scanner& scanner, const Scope& scope) {
  std::vector<Filter> filters;
  do {
    filters.push_back(ReadComparison(scanner, scope));
  } while (scanner.TryWord("and") && scanner.ok());
  return Join(std::move(filters), Query::CompositeFilter::AND);
}

Filter ReadFilter(Scanner& scanner, const Scope& scope) {
  std::vector<Filter> filters;
  do {
    filters.push_back(ReadConjunction(scanner, scope));
  } while (scanner.TryWord("or") && scanner.ok());
  return Join(std::move(filters), Query::CompositeFilter::OR);
}

void ReadOrders(Scanner& scanner, Query* query) {
  do {
    Query::Order* order = query->add_order_by();
    order->mutable_field()->set_field_path(ReadFieldPath(scanner));
    const bool is_descending = scanner.TryWord("desc");
    if (!is_descending) scanner.TryWord("asc");
    order->set_direction(is_descending ? Query::DESCENDING : Query::ASCENDING);
  } while (scanner.Try(',') && scanner.ok());
}

void ReadCursor(Scanner& scanner, const Scope& scope, bool before, proto::Cursor* cursor) {
  cursor->set_before(before);
  if (scanner.TryWord("none")) return;
  do {
    *cursor->add_values() = ReadValue(scanner, scope);
  } while (scanner.Try(',') && scanner.ok());
}

void ReadSelect(Scanner& scanner, Query* query) {
  query->mutable_select();
  for (const std::string& path : ReadFieldPaths(scanner)) {
    query->mutable_select()->add_fields()->set_field_path(path);
  }
}

// "nearest v to vector(1, 2) by euclidean top 10 [distance_field d] [threshold 1.5]"
void ReadNearest(Scanner& scanner, const Scope& scope, Query::FindNearest* nearest) {
  nearest->mutable_vector_field()->set_field_path(ReadFieldPath(scanner));
  if (!scanner.TryWord("to")) scanner.FailExpecting("to");
  *nearest->mutable_query_vector() = ReadValue(scanner, scope);
  if (scanner.TryWord("by")) {
    if (scanner.TryWord("euclidean")) {
      nearest->set_distance_measure(Query::FindNearest::EUCLIDEAN);
    } else if (scanner.TryWord("cosine")) {
      nearest->set_distance_measure(Query::FindNearest::COSINE);
    } else if (scanner.TryWord("dot_product")) {
      nearest->set_distance_measure(Query::FindNearest::DOT_PRODUCT);
    } else {
      scanner.FailExpecting("euclidean, cosine or dot_product");
    }
  }
  if (scanner.TryWord("top")) {
    nearest->mutable_limit()->set_value(static_cast<int32_t>(scanner.Integer()));
  }
  if (scanner.TryWord("distance_field")) nearest->set_distance_result_field(ReadFieldPath(scanner));
  if (scanner.TryWord("threshold")) {
    const proto::Value number = ReadValue(scanner, scope);
    nearest->mutable_distance_threshold()->set_value(
        number.has_integer_value() ? static_cast<double>(number.integer_value())
                                   : number.double_value());
  }
}

// The collections that a query covers.
struct QueryText {
  std::string parent;
  Query query;
  bool is_limit_to_last = false;
};

// "rooms", "rooms/a/seats", "all seats", "*" or "all *"
void ReadSource(Scanner& scanner, const Scope& scope, QueryText* text) {
  const bool is_group = scanner.TryWord("all");
  const auto [parent, id] = SplitCollection(ReadPath(scanner), scope);
  text->parent = parent;
  Query::CollectionSelector* from = text->query.add_from();
  if (id != "*") from->set_collection_id(id);
  from->set_all_descendants(is_group);
}

void AddFilter(Filter filter, Query* query) {
  if (!query->has_where()) {
    *query->mutable_where() = std::move(filter);
    return;
  }
  std::vector<Filter> both = {query->where(), std::move(filter)};
  *query->mutable_where() = Join(std::move(both), Query::CompositeFilter::AND);
}

bool TryCursorClause(Scanner& scanner, const Scope& scope, Query* query) {
  if (scanner.TryWord("start_at")) {
    ReadCursor(scanner, scope, true, query->mutable_start_at());
  } else if (scanner.TryWord("start_after")) {
    ReadCursor(scanner, scope, false, query->mutable_start_at());
  } else if (scanner.TryWord("end_at")) {
    ReadCursor(scanner, scope, false, query->mutable_end_at());
  } else if (scanner.TryWord("end_before")) {
    ReadCursor(scanner, scope, true, query->mutable_end_at());
  } else {
    return false;
  }
  return true;
}

bool TryQueryClause(Scanner& scanner, const Scope& scope, QueryText* text) {
  Query* query = &text->query;
  if (scanner.TryWord("under")) {
    text->parent = ReadDocumentName(scanner, scope);
  } else if (scanner.TryWord("where")) {
    AddFilter(ReadFilter(scanner, scope), query);
  } else if (scanner.TryWord("order_by")) {
    ReadOrders(scanner, query);
  } else if (scanner.TryWord("limit")) {
    query->mutable_limit()->set_value(static_cast<int32_t>(scanner.Integer()));
  } else if (scanner.TryWord("limit_to_last")) {
    query->mutable_limit()->set_value(static_cast<int32_t>(scanner.Integer()));
    text->is_limit_to_last = true;
  } else if (scanner.TryWord("offset")) {
    query->set_offset(static_cast<int32_t>(scanner.Integer()));
  } else if (scanner.TryWord("select")) {
    ReadSelect(scanner, query);
  } else if (scanner.TryWord("nearest")) {
    ReadNearest(scanner, scope, query->mutable_find_nearest());
  } else {
    return TryCursorClause(scanner, scope, query);
  }
  return true;
}

constexpr std::string_view kQueryClauses =
    "under, where, order_by, limit, limit_to_last, offset, select, nearest, start_at, start_after, "
    "end_at, end_before";

// "at T", "in t1", "new t1", "explain [analyze]"
template <typename QueryRequest>
bool TryRunClause(Scanner& scanner, const Scope& scope, QueryRequest* request,
                  Operation* operation) {
  if (scanner.TryWord("at")) {
    *request->mutable_read_time() = ReadTime(scanner, scope);
  } else if (scanner.TryWord("in")) {
    request->set_transaction(ReadTransaction(scanner, scope));
  } else if (scanner.TryWord("new")) {
    operation->new_transaction = scanner.Word();
    *request->mutable_new_transaction() = ReadTransactionOptions(scanner, scope);
  } else if (scanner.TryWord("explain")) {
    request->mutable_explain_options()->set_analyze(scanner.TryWord("analyze"));
  } else {
    return false;
  }
  return true;
}

template <typename QueryRequest>
QueryText ReadWholeQuery(Scanner& scanner, const Scope& scope, QueryRequest* request,
                         Operation* operation) {
  QueryText text;
  ReadSource(scanner, scope, &text);
  while (scanner.ok() && !scanner.AtEnd()) {
    if (TryQueryClause(scanner, scope, &text)) continue;
    if (TryRunClause(scanner, scope, request, operation)) continue;
    scanner.FailExpecting(std::string(kQueryClauses) + ", at, in, new or explain");
  }
  return text;
}

// "count [up_to N]", "sum(n)" or "avg(n)", each optionally with "as alias".
void ReadAggregation(Scanner& scanner, int number,
                     proto::StructuredAggregationQuery::Aggregation* aggregation) {
  if (scanner.TryWord("count")) {
    aggregation->mutable_count();
    if (scanner.TryWord("up_to")) {
      aggregation->mutable_count()->mutable_up_to()->set_value(scanner.Integer());
    }
  } else {
    const bool is_sum = scanner.TryWord("sum");
    if (!is_sum && !scanner.TryWord("avg")) scanner.FailExpecting("count, sum or avg");
    scanner.Expect('(');
    const std::string path = ReadFieldPath(scanner);
    (is_sum ? aggregation->mutable_sum()->mutable_field()
            : aggregation->mutable_avg()->mutable_field())
        ->set_field_path(path);
    scanner.Expect(')');
  }
  aggregation->set_alias(scanner.TryWord("as") ? ReadFieldPath(scanner)
                                               : "a" + std::to_string(number));
}

void ReadAggregate(Scanner& scanner, const Scope& scope, Operation* operation) {
  proto::RunAggregationQueryRequest request;
  auto* aggregate = request.mutable_structured_aggregation_query();
  if (!scanner.TryWord("nothing")) {
    do {
      const int number = aggregate->aggregations_size() + 1;
      ReadAggregation(scanner, number, aggregate->add_aggregations());
    } while (scanner.Try(',') && scanner.ok());
  }
  if (!scanner.TryWord("of")) scanner.FailExpecting("of");
  QueryText text = ReadWholeQuery(scanner, scope, &request, operation);
  request.set_parent(text.parent);
  *aggregate->mutable_structured_query() = std::move(text.query);
  operation->is_limit_to_last = text.is_limit_to_last;
  operation->request = std::move(request);
}

void ReadPartition(Scanner& scanner, const Scope& scope, Operation* operation) {
  proto::PartitionQueryRequest request;
  QueryText text;
  ReadSource(scanner, scope, &text);
  while (scanner.ok() && !scanner.AtEnd()) {
    if (TryQueryClause(scanner, scope, &text)) continue;
    if (scanner.TryWord("into")) {
      request.set_partition_count(scanner.Integer());
    } else if (scanner.TryWord("page_size")) {
      request.set_page_size(static_cast<int32_t>(scanner.Integer()));
    } else if (scanner.TryWord("page_token")) {
      request.set_page_token(ReadToken(scanner, scope));
    } else if (scanner.TryWord("all_pages")) {
      operation->is_all_pages = true;
    } else if (scanner.TryWord("at")) {
      *request.mutable_read_time() = ReadTime(scanner, scope);
    } else {
      scanner.FailExpecting(std::string(kQueryClauses) +
                            ", into, page_size, page_token, all_pages or at");
    }
  }
  request.set_parent(text.parent);
  *request.mutable_structured_query() = std::move(text.query);
  operation->request = std::move(request);
}

}  // namespace

void ReadQueryTarget(Scanner& scanner, const Scope& scope, proto::Target_QueryTarget* target) {
  QueryText text;
  ReadSource(scanner, scope, &text);
  while (scanner.ok() && TryQueryClause(scanner, scope, &text)) {
  }
  if (text.is_limit_to_last) scanner.Fail("a listener has no limit_to_last: turn the order round");
  target->set_parent(text.parent);
  *target->mutable_structured_query() = std::move(text.query);
}

bool ReadQueryCall(std::string_view verb, Scanner& scanner, const Scope& scope,
                   Operation* operation) {
  if (verb == "query") {
    proto::RunQueryRequest request;
    QueryText text = ReadWholeQuery(scanner, scope, &request, operation);
    request.set_parent(text.parent);
    *request.mutable_structured_query() = std::move(text.query);
    operation->is_limit_to_last = text.is_limit_to_last;
    operation->request = std::move(request);
  } else if (verb == "aggregate") {
    ReadAggregate(scanner, scope, operation);
  } else if (verb == "partition") {
    ReadPartition(scanner, scope, operation);
  } else {
    return false;
  }
  return true;
}

}  // namespace hearth::cases
