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
  std::optional<Timestamp> read_time = {};  // Of a read-only one.
  size_t attempts_max = 5;
};

// One attempt of a transaction: reads first, then writes, which happen together when the function
// that Firestore::RunTransaction was given returns success.
//
// Threads: one at a time. Errors: FailedPrecondition for a read after a write; a failed read should
// be returned as it is, so that the transaction is tried again where that helps.
class Transaction {
 public:
  Result<DocumentSnapshot> Get(const DocumentReference& document);
  Result<std::vector<DocumentSnapshot>> GetAll(const std::vector<DocumentReference>& documents);
  Result<QuerySnapshot> Get(const Query& query);
  Result<std::vector<Value>> Aggregate(const Query& query,
                                       const std::vector<AggregateField>& fields);

  // What is wrong with one of these is said when the transaction commits.
  void Create(const DocumentReference& document, const Map& data);
  void Set(const DocumentReference& document, const Map& data, const SetOptions& options = {});
  void Update(const DocumentReference& document, const Map& data,
              const Precondition& precondition = {});
  void Delete(const DocumentReference& document, const Precondition& precondition = {});

 private:
  friend class Firestore;
  Transaction(std::shared_ptr<Transport> transport, std::string id);
  Status CheckBeforeRead() const;
  // Remembers what the database said, so that the same from the caller is known to be its.
  template <typename T>
  Result<T> Noted(Result<T> answer);
  bool IsFromDatabase(const Status& status) const { return status.code() == read_error_; }

  std::shared_ptr<Transport> transport_;  // Shared by all that the database handed out.
  std::string id_;
  WriteBatch batch_;
  Code read_error_ = Code::kOk;  // Of the newest read that failed.
};

}  // namespace hearth::client
