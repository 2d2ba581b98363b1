#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "client/listener.h"
#include "client/query.h"
#include "client/snapshot.h"
#include "client/value.h"
#include "client/writes.h"

namespace hearth::client {

class CollectionReference;
class Transport;

// The name of a document, existing or not, and the operations on it.
//
//   db.Doc("rooms/r1").Set({{"topic", "fire"}});
//
// Threads: immutable. Errors: a malformed path is InvalidArgument from every operation.
class DocumentReference {
 public:
  std::string id() const;
  std::string path() const;  // "rooms/r1"
  std::string name() const;  // "projects/P/databases/D/documents/rooms/r1"
  CollectionReference parent() const;
  CollectionReference Collection(std::string_view path) const;

  Result<DocumentSnapshot> Get() const;
  // AlreadyExists if the document exists.
  Result<WriteResult> Create(const Map& data) const;
  Result<WriteResult> Set(const Map& data, const SetOptions& options = {}) const;
  // Keys are field paths: {"address.city", "Paris"} keeps the rest of the address. NotFound if the
  // document does not exist.
  Result<WriteResult> Update(const Map& data, const Precondition& precondition = {}) const;
  Result<WriteResult> Delete(const Precondition& precondition = {}) const;

  Result<std::vector<CollectionReference>> ListCollections() const;

  // As Query::Listen. For a missing document, exists() of the snapshot is false.
  using OnSnapshot = std::function<void(const Result<DocumentSnapshot>&)>;
  Result<Listener> Listen(OnSnapshot on_snapshot) const;

  // For code that builds requests from references.
  const Result<model::DocumentPath>& parsed_path() const { return path_; }
  Result<request::Write> CreateWrite(const Map& data) const;
  Result<request::Write> SetWrite(const Map& data, const SetOptions& options) const;
  Result<request::Write> UpdateWrite(const Map& data, const Precondition& precondition) const;
  Result<request::Write> DeleteWrite(const Precondition& precondition) const;

 private:
  friend class CollectionReference;
  friend class DocumentSnapshot;
  friend class Firestore;
  DocumentReference(std::shared_ptr<Transport> transport, Result<model::DocumentPath> path);
  Result<WriteResult> Commit(Result<request::Write> write) const;

  std::shared_ptr<Transport> transport_;  // Shared by all objects of this database.
  Result<model::DocumentPath> path_;
};

// The name of a collection: also the query for all its documents.
class CollectionReference : public Query {
 public:
  std::string id() const;
  std::string path() const;
  // Nullopt at the root.
  std::optional<DocumentReference> parent() const;
  // An id, or a path below this collection. Without an argument: a random id of 20 characters.
  DocumentReference Doc(std::string_view path) const;
  DocumentReference Doc() const;
  // Creates a document with a new id.
  Result<DocumentReference> Add(const Map& data) const;
  // All documents, including missing ones that have documents below them.
  Result<std::vector<DocumentReference>> ListDocuments() const;

  // For code that builds requests from references.
  const Result<model::CollectionPath>& parsed_path() const { return path_; }

 private:
  friend class DocumentReference;
  friend class Firestore;
  CollectionReference(std::shared_ptr<Transport> transport, Result<model::CollectionPath> path);

  Result<model::CollectionPath> path_;
};

}  // namespace hearth::client
