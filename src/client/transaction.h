#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "client/query.h"
#include "client/references.h"
#include "client/snapshot.h"
#include "client/writes.h"

namespace hearth::client {

struct TransactionOptions {
  bool read_only = false;
  std::optional<Timestamp> read_time = {};  // For a read-only one.
  size_t attempts_max = 5;
};

// One attempt of a transaction: reads first, then writes. The writes happen together when the
// function given to Firestore::RunTransaction returns success.
//
// Threads: one at a time. Errors: FailedPrecondition for a read after a write. Return the error of
// a failed read unchanged, so that the transaction is retried if that helps.
class Transaction {
 public:
  Result<DocumentSnapshot> Get(const DocumentReference& document);
  Result<std::vector<DocumentSnapshot>> GetAll(const std::vector<DocumentReference>& documents);
  Result<QuerySnapshot> Get(const Query& query);
  Result<std::vector<Value>> Aggregate(const Query& query,
                                       const std::vector<AggregateField>& fields);

  // Errors in these are returned when the transaction commits.
  void Create(const DocumentReference& document, const Map& data);
  void Set(const DocumentReference& document, const Map& data, const SetOptions& options = {});
  void Update(const DocumentReference& document, const Map& data,
              const Precondition& precondition = {});
  void Delete(const DocumentReference& document, const Precondition& precondition = {});

 private:
  friend class Firestore;
  Transaction(std::shared_ptr<Transport> transport, std::string id);
  Status CheckBeforeRead() const;
  // Records the database's error, so that it is recognised when the caller returns it.
  template <typename T>
  Result<T> Noted(Result<T> answer);
  bool IsFromDatabase(const Status& status) const { return status.code() == read_error_; }

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
  std::string id_;
  WriteBatch batch_;
  Code read_error_ = Code::kOk;  // Of the last failed read.
};

}  // namespace hearth::client
