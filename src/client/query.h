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
  std::string distance_result_field = {};  // Empty: the distance is not among the fields.
  std::optional<double> distance_threshold = {};
};

// A question about the documents of a collection or collection group. Each function returns a new
// query; what is wrong with its arguments is said when it runs.
//
//   db.Collection("stories").Where("time", Op::kGreater, yesterday).OrderBy("time").Limit(20).Get()
//
// Threads: immutable. Errors: InvalidArgument, in Firestore's words, from the functions that run
// it.
class Query {
 public:
  Query Where(std::string_view field_path, Op op, Value value) const;
  Query Where(Filter filter) const;
  Query OrderBy(std::string_view field_path, Direction direction = Direction::kAscending) const;
  Query Limit(size_t limit) const;
  // The last ones, in the query's order. Needs an order.
  Query LimitToLast(size_t limit) const;
  Query Offset(size_t offset) const;
  // Only these fields; none of them means only the names.
  Query Select(const std::vector<std::string>& field_paths) const;
  // Values of the first orders, or a document: then those of all orders, the implicit ones too.
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
  // At a moment of the last hour.
  Result<QuerySnapshot> GetAt(Timestamp read_time) const;
  // One result after the other, whatever their number, until `on_document` returns false. Not with
  // LimitToLast.
  Result<Timestamp> Stream(const std::function<bool(DocumentSnapshot)>& on_document) const;

  Result<int64_t> Count() const;
  // One value a field, in order.
  Result<std::vector<Value>> Aggregate(const std::vector<AggregateField>& fields) const;

  // `on_snapshot` runs with the first results and with each later change, on a thread of the
  // client's, one call at a time; after an error, no more. In-process only.
  using OnSnapshot = std::function<void(const Result<QuerySnapshot>&)>;
  Result<Listener> Listen(OnSnapshot on_snapshot) const;

 protected:
  Query(std::shared_ptr<Transport> transport, Result<query::Query> query);

  std::shared_ptr<Transport> transport_;  // Shared by all that the database handed out.

 private:
  friend class Firestore;
  friend class Transaction;

  // The query as the database gets it: InvalidArgument for what was wrong with an argument.
  Result<query::Query> Build() const;
  // Changes a copy, unless an earlier argument was wrong already.
  Query With(const std::function<Status(query::Query*)>& change) const;
  enum class Edge : uint8_t { kStart, kEnd };
  enum class Side : uint8_t { kBefore, kAfter };
  Query WithCursor(Edge edge, Side side, const std::vector<Value>& values) const;
  Query WithCursor(Edge edge, Side side, const DocumentSnapshot& document) const;
  Result<QuerySnapshot> Run(const ReadMoment& moment) const;
  Result<std::vector<Value>> RunAggregate(const std::vector<AggregateField>& fields,
                                          const ReadMoment& moment) const;
  // The results as transports hand them out, made into what callers see.
  QuerySnapshot ToSnapshot(std::vector<TransportDocument> documents, Timestamp read_time) const;

  Result<query::Query> query_;  // Or the first error in its arguments.
  bool limit_to_last_ = false;
};

}  // namespace hearth::client
