// Turns data into writes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "client/snapshot.h"
#include "client/value.h"
#include "model/names.h"
#include "request/write.h"

namespace hearth::client {

class DocumentReference;
class Transport;

// A condition on a write; at most one of the two.
struct Precondition {
  std::optional<bool> exists = {};
  std::optional<Timestamp> last_update_time = {};
};

struct SetOptions {
  // Keep the fields that `data` does not mention. Otherwise the document is replaced.
  bool merge = false;
  // Only these field paths of `data` are written; others stay unchanged. Implies merge.
  std::vector<std::string> merge_fields = {};
};

// The writes that the official SDKs would send: FieldValues become transforms and masks.
// InvalidArgument for malformed paths, FieldValues in arrays, a Delete outside of merges and
// updates, merge fields that `data` lacks, updates where one path contains another.
Result<request::Write> CreateWrite(const model::DocumentPath& path, const Map& data);
Result<request::Write> SetWrite(const model::DocumentPath& path, const Map& data,
                                const SetOptions& options);
Result<request::Write> UpdateWrite(const model::DocumentPath& path, const Map& data,
                                   const Precondition& precondition);
Result<request::Write> DeleteWrite(const model::DocumentPath& path,
                                   const Precondition& precondition);

// Writes that happen together or not at all.
//
// Threads: one at a time. Errors: that of the first malformed write, from Commit.
class WriteBatch {
 public:
  WriteBatch& Create(const DocumentReference& document, const Map& data);
  WriteBatch& Set(const DocumentReference& document, const Map& data,
                  const SetOptions& options = {});
  WriteBatch& Update(const DocumentReference& document, const Map& data,
                     const Precondition& precondition = {});
  WriteBatch& Delete(const DocumentReference& document, const Precondition& precondition = {});

  size_t size() const { return writes_.size(); }
  // One result per write. The batch is empty afterwards.
  Result<std::vector<WriteResult>> Commit();

 private:
  friend class Firestore;
  friend class Transaction;
  explicit WriteBatch(std::shared_ptr<Transport> transport);
  WriteBatch& Add(Result<request::Write> write);
  Result<std::vector<WriteResult>> CommitIn(const std::string& transaction);

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
  std::vector<request::Write> writes_;
  Status error_;
};

}  // namespace hearth::client
