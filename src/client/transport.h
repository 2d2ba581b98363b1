// The interface between a client and its database.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/value.h"
#include "model/names.h"
#include "model/record.h"
#include "model/timestamp.h"
#include "query/query.h"
#include "request/write.h"

namespace hearth::client {

// When a read happens: in a transaction, at a moment, or now if neither is set.
struct ReadMoment {
  std::optional<model::Timestamp> read_time = {};
  std::string transaction = {};
};

struct TransportDocument {
  model::DocumentPath path;
  model::Record record;  // Null: the document does not exist.
  // For nearest neighbours with a distance field; also among the record's fields.
  std::optional<double> distance = {};
  model::Timestamp read_time = {};  // For a query's results.
};

struct TransportWriteResult {
  model::Timestamp update_time;  // For a deletion: when it happened.
};

struct TransportCommit {
  model::Timestamp commit_time;
  std::vector<TransportWriteResult> results;  // One per write, in order.
};

struct BeginOptions {
  bool read_only = false;
  std::optional<model::Timestamp> read_time = {};  // For a read-only one.
  std::string retry_transaction = {};              // The failed attempt.
};

// The live results of one query or document.
class TransportListener {
 public:
  // Stops listening. No callback runs after this returns, unless it is called from one.
  virtual ~TransportListener() = default;
};

struct ListenTarget {
  std::optional<query::Query> query = {};
  std::optional<model::DocumentPath> document = {};  // Instead of a query.
};

// A consistent state of a target: all results of a query in its order, or the document, if it
// exists.
struct ListenState {
  std::vector<TransportDocument> documents;
  model::Timestamp read_time;
};

// The operations of a database: the methods of google.firestore.v1 on our own types. All calls
// block until they complete.
//
// Two implementations, one contract (testing/transport_contract.h): embedded and gRPC.
// Threads: safe for concurrent use. Errors: Firestore's codes; Unavailable when the database cannot
// be reached.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual const model::DatabaseName& database() const = 0;
  virtual std::string NewDocumentId() = 0;

  // The documents in the order of `paths`. `mask`: return only these fields.
  struct Documents {
    std::vector<TransportDocument> documents;
    model::Timestamp read_time;
  };
  virtual Result<Documents> Get(const std::vector<model::DocumentPath>& paths,
                                const std::optional<std::vector<model::FieldPath>>& mask,
                                const ReadMoment& moment) = 0;

  // Hands out the results one by one; ends early, without an error, once `on_result` returns false.
  // Returns the moment that was read.
  using OnResult = std::function<bool(TransportDocument)>;
  virtual Result<model::Timestamp> Query(const query::Query& query, const ReadMoment& moment,
                                         const OnResult& on_result) = 0;

  // One value per aggregation, in order.
  struct Aggregates {
    std::vector<Value> values;
    model::Timestamp read_time;
  };
  virtual Result<Aggregates> Aggregate(const query::Query& query,
                                       const std::vector<query::Aggregation>& aggregations,
                                       const ReadMoment& moment) = 0;

  virtual Result<TransportCommit> Commit(std::vector<request::Write> writes,
                                         const std::string& transaction) = 0;
  // Each write on its own, in no order. An outer error means that the outcome of every write is
  // unknown.
  virtual Result<std::vector<Result<TransportWriteResult>>> BatchWrite(
      std::vector<request::Write> writes) = 0;

  virtual Result<std::string> BeginTransaction(const BeginOptions& options) = 0;
  virtual Status Rollback(const std::string& transaction) = 0;

  // All ids of collections below a document, or at the root if it is empty.
  virtual Result<std::vector<std::string>> ListCollectionIds(
      const std::string& parent_document_path) = 0;
  // All documents of a collection, including missing ones that have documents below them.
  virtual Result<std::vector<model::DocumentPath>> ListDocumentPaths(
      const model::CollectionPath& collection) = 0;

  // `on_state` runs on a thread of the transport, one call at a time. No call follows an error.
  // Unimplemented if the transport has no listeners.
  using OnState = std::function<void(Result<ListenState>)>;
  virtual Result<std::unique_ptr<TransportListener>> Listen(ListenTarget target,
                                                            OnState on_state) = 0;
};

}  // namespace hearth::client
