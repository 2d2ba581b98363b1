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

// The name of a document, there or not, and what can be done with it.
//
//   db.Doc("rooms/r1").Set({{"topic", "fire"}});
//
// Threads: immutable. Errors: a malformed path is InvalidArgument from whatever is done with it.
class DocumentReference {
 public:
  std::string id() const;
  std::string path() const;  // "rooms/r1"
  std::string name() const;  // "projects/P/databases/D/documents/rooms/r1"
  CollectionReference parent() const;
  CollectionReference Collection(std::string_view path) const;

  Result<DocumentSnapshot> Get() const;
  // AlreadyExists where there is one.
  Result<WriteResult> Create(const Map& data) const;
  Result<WriteResult> Set(const Map& data, const SetOptions& options = {}) const;
  // Keys are field paths: {"address.city", "Paris"} leaves the rest of the address. NotFound where
  // there is no document.
  Result<WriteResult> Update(const Map& data, const Precondition& precondition = {}) const;
  Result<WriteResult> Delete(const Precondition& precondition = {}) const;

  Result<std::vector<CollectionReference>> ListCollections() const;

  // As Query::Listen; the snapshot of a document that is not there does not exist.
  using OnSnapshot = std::function<void(const Result<DocumentSnapshot>&)>;
  Result<Listener> Listen(OnSnapshot on_snapshot) const;

  // For those who make requests of references.
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

  std::shared_ptr<Transport> transport_;  // Shared by all that the database handed out.
  Result<model::DocumentPath> path_;
};

// The name of a collection: the query for all its documents, and a place for new ones.
class CollectionReference : public Query {
 public:
  std::string id() const;
  std::string path() const;
  // Nullopt at the root.
  std::optional<DocumentReference> parent() const;
  // An id, or a path below this collection. With an id of 20 random characters where none is given.
  DocumentReference Doc(std::string_view path) const;
  DocumentReference Doc() const;
  // Creates a document with a new id.
  Result<DocumentReference> Add(const Map& data) const;
  // All documents, those included that only have documents below them.
  Result<std::vector<DocumentReference>> ListDocuments() const;

  // For those who make requests of references.
  const Result<model::CollectionPath>& parsed_path() const { return path_; }

 private:
  friend class DocumentReference;
  friend class Firestore;
  CollectionReference(std::shared_ptr<Transport> transport, Result<model::CollectionPath> path);

  Result<model::CollectionPath> path_;
};

}  // namespace hearth::client
