#include "client/references.h"

#include <utility>

#include "base/status_macros.h"
#include "client/transport.h"

namespace hearth::client {
namespace {

// The path of something below `parent`, or the parent's error.
template <typename Path, typename Parent>
Result<Path> Below(const Result<Parent>& parent, std::string_view path) {
  if (!parent.ok()) return parent.status();
  return Path::Parse((parent->path() + "/").append(path));
}

Result<query::Query> AllOf(const Transport& transport, const Result<model::CollectionPath>& path) {
  if (!path.ok()) return path.status();
  return query::Query{model::ParentName{transport.database(), std::string(path->parent())},
                      std::string(path->id())};
}

}  // namespace

DocumentReference::DocumentReference(std::shared_ptr<Transport> transport,
                                     Result<model::DocumentPath> path)
    : transport_(std::move(transport)), path_(std::move(path)) {}

std::string DocumentReference::id() const { return path_.ok() ? std::string(path_->id()) : ""; }

std::string DocumentReference::path() const { return path_.ok() ? path_->path() : ""; }

std::string DocumentReference::name() const {
  return transport_->database().text() + "/documents/" + path();
}

CollectionReference DocumentReference::parent() const {
  if (!path_.ok()) return CollectionReference(transport_, path_.status());
  return CollectionReference(transport_, model::CollectionPath::Parse(path_->collection()));
}

CollectionReference DocumentReference::Collection(std::string_view path) const {
  return CollectionReference(transport_, Below<model::CollectionPath>(path_, path));
}

Result<DocumentSnapshot> DocumentReference::Get() const {
  if (!path_.ok()) return path_.status();
  ASSIGN_OR_RETURN(Transport::Documents answer,
                   transport_->Get({*path_}, std::nullopt, ReadMoment{}));
  TransportDocument& document = answer.documents.at(0);
  return DocumentSnapshot(transport_, std::move(document.path), std::move(document.record),
                          answer.read_time);
}

Result<request::Write> DocumentReference::CreateWrite(const Map& data) const {
  if (!path_.ok()) return path_.status();
  return client::CreateWrite(*path_, data);
}

Result<request::Write> DocumentReference::SetWrite(const Map& data,
                                                   const SetOptions& options) const {
  if (!path_.ok()) return path_.status();
  return client::SetWrite(*path_, data, options);
}

Result<request::Write> DocumentReference::UpdateWrite(const Map& data,
                                                      const Precondition& precondition) const {
  if (!path_.ok()) return path_.status();
  return client::UpdateWrite(*path_, data, precondition);
}

Result<request::Write> DocumentReference::DeleteWrite(const Precondition& precondition) const {
  if (!path_.ok()) return path_.status();
  return client::DeleteWrite(*path_, precondition);
}

Result<WriteResult> DocumentReference::Commit(Result<request::Write> write) const {
  if (!write.ok()) return write.status();
  std::vector<request::Write> writes;
  writes.push_back(*std::move(write));
  ASSIGN_OR_RETURN(const TransportCommit commit, transport_->Commit(std::move(writes), ""));
  return WriteResult{commit.results.at(0).update_time};
}

Result<WriteResult> DocumentReference::Create(const Map& data) const {
  return Commit(CreateWrite(data));
}

Result<WriteResult> DocumentReference::Set(const Map& data, const SetOptions& options) const {
  return Commit(SetWrite(data, options));
}

Result<WriteResult> DocumentReference::Update(const Map& data,
                                              const Precondition& precondition) const {
  return Commit(UpdateWrite(data, precondition));
}

Result<WriteResult> DocumentReference::Delete(const Precondition& precondition) const {
  return Commit(DeleteWrite(precondition));
}

Result<std::vector<CollectionReference>> DocumentReference::ListCollections() const {
  if (!path_.ok()) return path_.status();
  ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                   transport_->ListCollectionIds(path_->path()));
  std::vector<CollectionReference> collections;
  for (const std::string& id : ids) collections.push_back(Collection(id));
  return collections;
}

Result<Listener> DocumentReference::Listen(OnSnapshot on_snapshot) const {
  if (!path_.ok()) return path_.status();
  ListenTarget target;
  target.document = *path_;
  const auto on_state = [transport = transport_, path = *path_,
                         on_snapshot = std::move(on_snapshot)](const Result<ListenState>& state) {
    if (!state.ok()) return on_snapshot(state.status());
    model::Record record = state->documents.empty() ? nullptr : state->documents[0].record;
    on_snapshot(DocumentSnapshot(transport, path, std::move(record), state->read_time));
  };
  ASSIGN_OR_RETURN(std::unique_ptr<TransportListener> listener,
                   transport_->Listen(std::move(target), on_state));
  return Listener(std::move(listener));
}

CollectionReference::CollectionReference(std::shared_ptr<Transport> transport,
                                         Result<model::CollectionPath> path)
    : Query(transport, AllOf(*transport, path)), path_(std::move(path)) {}

std::string CollectionReference::id() const { return path_.ok() ? std::string(path_->id()) : ""; }

std::string CollectionReference::path() const { return path_.ok() ? path_->path() : ""; }

std::optional<DocumentReference> CollectionReference::parent() const {
  if (!path_.ok()) return DocumentReference(transport_, path_.status());
  if (path_->parent().empty()) return std::nullopt;
  return DocumentReference(transport_, model::DocumentPath::Parse(path_->parent()));
}

DocumentReference CollectionReference::Doc(std::string_view path) const {
  return DocumentReference(transport_, Below<model::DocumentPath>(path_, path));
}

DocumentReference CollectionReference::Doc() const { return Doc(transport_->NewDocumentId()); }

Result<DocumentReference> CollectionReference::Add(const Map& data) const {
  DocumentReference document = Doc();
  RETURN_IF_ERROR(document.Create(data).status());
  return document;
}

Result<std::vector<DocumentReference>> CollectionReference::ListDocuments() const {
  if (!path_.ok()) return path_.status();
  ASSIGN_OR_RETURN(std::vector<model::DocumentPath> paths, transport_->ListDocumentPaths(*path_));
  std::vector<DocumentReference> documents;
  documents.reserve(paths.size());
  for (model::DocumentPath& path : paths) {
    documents.push_back(DocumentReference(transport_, std::move(path)));
  }
  return documents;
}

}  // namespace hearth::client
