#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "client/filter.h"
#include "client/listener.h"
#include "client/snapshot.h"
#include "client/transport.h"
#include "client/value.h"
#include "query/query.h"

namespace hearth::client {

class Transaction;

using query::DistanceMeasure;

enum class Direction : uint8_t { kAscending, kDescending };

// What to compute over the results of a query.
class AggregateField {
 public:
  static AggregateField Count();
  static AggregateField Sum(std::string field_path);
  static AggregateField Average(std::string field_path);

 private:
  friend class Query;
  AggregateField(query::Aggregation::Kind kind, std::string field_path)
      : kind_(kind), field_path_(std::move(field_path)) {}

  query::Aggregation::Kind kind_;
  std::string field_path_;
};

struct NearestOptions {
  std::string vector_field;
  std::vector<double> query_vector;
  DistanceMeasure measure = DistanceMeasure::kEuclidean;
  size_t limit = 10;
  std::string distance_result_field = {};  // Empty: the distance is not added to the fields.
  std::optional<double> distance_threshold = {};
};

// A query over the documents of a collection or collection group. Each function returns a new
// query. Errors in arguments are returned when the query runs.
//
//   db.Collection("stories").Where("time", Op::kGreater, yesterday).OrderBy("time").Limit(20).Get()
//
// Threads: immutable. Errors: InvalidArgument, with Firestore's messages, from the functions that
// run it.
class Query {
 public:
  Query Where(std::string_view field_path, Op op, Value value) const;
  Query Where(Filter filter) const;
  Query OrderBy(std::string_view field_path, Direction direction = Direction::kAscending) const;
  Query Limit(size_t limit) const;
  // The last results, in the query's order. Requires an order.
  Query LimitToLast(size_t limit) const;
  Query Offset(size_t offset) const;
  // Returns only these fields. An empty list returns only the names.
  Query Select(const std::vector<std::string>& field_paths) const;
  // Values for a prefix of the orders, or a document: then its values for all orders, including the
  // implicit ones.
  Query StartAt(std::vector<Value> values) const;
  Query StartAt(const DocumentSnapshot& document) const;
  Query StartAfter(std::vector<Value> values) const;
  Query StartAfter(const DocumentSnapshot& document) const;
  Query EndAt(std::vector<Value> values) const;
  Query EndAt(const DocumentSnapshot& document) const;
  Query EndBefore(std::vector<Value> values) const;
  Query EndBefore(const DocumentSnapshot& document) const;
  Query FindNearest(NearestOptions options) const;

  Result<QuerySnapshot> Get() const;
  // At a time within the last hour.
  Result<QuerySnapshot> GetAt(Timestamp read_time) const;
  // Any number of results, one by one, until `on_document` returns false. Not with LimitToLast.
  Result<Timestamp> Stream(const std::function<bool(DocumentSnapshot)>& on_document) const;

  Result<int64_t> Count() const;
  // One value per field, in order.
  Result<std::vector<Value>> Aggregate(const std::vector<AggregateField>& fields) const;

  // `on_snapshot` runs with the first results and on each later change, on a thread of the client,
  // one call at a time. No call follows an error. In-process only.
  using OnSnapshot = std::function<void(const Result<QuerySnapshot>&)>;
  Result<Listener> Listen(OnSnapshot on_snapshot) const;

 protected:
  Query(std::shared_ptr<Transport> transport, Result<query::Query> query);

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.

 private:
  friend class Firestore;
  friend class Transaction;

  // The query as it is sent. InvalidArgument if an argument was invalid.
  Result<query::Query> Build() const;
  // Changes a copy, unless an earlier argument was invalid.
  Query With(const std::function<Status(query::Query*)>& change) const;
  enum class Edge : uint8_t { kStart, kEnd };
  enum class Side : uint8_t { kBefore, kAfter };
  Query WithCursor(Edge edge, Side side, const std::vector<Value>& values) const;
  Query WithCursor(Edge edge, Side side, const DocumentSnapshot& document) const;
  Result<QuerySnapshot> Run(const ReadMoment& moment) const;
  Result<std::vector<Value>> RunAggregate(const std::vector<AggregateField>& fields,
                                          const ReadMoment& moment) const;
  // Converts the transport's results to the caller's form.
  QuerySnapshot ToSnapshot(std::vector<TransportDocument> documents, Timestamp read_time) const;

  Result<query::Query> query_;  // Or the first error in its arguments.
  bool limit_to_last_ = false;
};

}  // namespace hearth::client
