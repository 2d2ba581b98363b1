// The C++ Firestore client: one API for embedded and remote databases.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/bulk_writer.h"
#include "client/query.h"
#include "client/references.h"
#include "client/snapshot.h"
#include "client/transaction.h"
#include "client/transport.h"
#include "client/value.h"
#include "client/writes.h"

namespace hearth::client {

struct GetAllOptions {
  std::optional<std::vector<std::string>> field_mask = {};
  std::optional<Timestamp> read_time = {};
};

// A database. The function that makes it decides where it lives: OpenEmbedded (embedded.h), Connect
// (remote.h), or a custom transport.
//
// Threads: safe for concurrent use; calls block until they complete. Ownership: a handle, cheap to
// copy; the transport lives as long as anything made from it.
class Firestore {
 public:
  explicit Firestore(std::shared_ptr<Transport> transport);

  CollectionReference Collection(std::string_view path) const;
  DocumentReference Doc(std::string_view path) const;
  // The documents of all collections with this id.
  Query CollectionGroup(std::string_view collection_id) const;
  Result<std::vector<CollectionReference>> ListCollections() const;

  // In the order of the references.
  Result<std::vector<DocumentSnapshot>> GetAll(const std::vector<DocumentReference>& documents,
                                               const GetAllOptions& options = {}) const;
  WriteBatch Batch() const;
  BulkWriter Bulk(BulkWriterOptions options = {}, BulkWriter::OnError on_error = {}) const;

  // Runs `attempt`, then commits what it wrote. On a conflict all of it runs again, up to
  // `attempts_max` times, so `attempt` must have no side effects. An error returned by `attempt`
  // ends the transaction, unless it came from the database and is retryable.
  using Attempt = std::function<Status(Transaction&)>;
  Status RunTransaction(const Attempt& attempt, const TransactionOptions& options = {}) const;

  // Deletes the document or collection and everything below it, in no particular order.
  Status RecursiveDelete(const DocumentReference& document) const;
  Status RecursiveDelete(const CollectionReference& collection) const;

  // For a transport that wraps this one.
  const std::shared_ptr<Transport>& transport() const { return transport_; }

 private:
  struct AttemptOutcome {
    Status status;
    bool may_succeed_later;
  };
  AttemptOutcome TryTransaction(const Attempt& attempt, const std::string& id) const;
  Status DeleteResults(const query::Query& query, BulkWriter* writer) const;

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
};

}  // namespace hearth::client
