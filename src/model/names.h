// Names of databases, collections and documents. Each is validated once, when it is created: an
// invalid name cannot exist. All are immutable values.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace hearth::model {

// InvalidArgument unless `id` is a valid document id: 1 to 1,500 bytes of UTF-8, no '/', not "." or
// "..", and not `__.+__` unless it is a numeric id such as "__id7__".
Status ValidateId(std::string_view id);

// The same for a collection, which cannot have a numeric id.
Status ValidateCollectionId(std::string_view id);

// InvalidArgument unless `name` is the full name of a document, as in a reference value.
Status ValidateReference(std::string_view name);

// "projects/P/databases/D". P is at most 100 characters of `[A-Za-z0-9._:-]`. D is "(default)" or
// at most 100 characters of `[A-Za-z0-9._-]`, and not `__.+__`.
class DatabaseName {
 public:
  static Result<DatabaseName> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view project() const;
  std::string_view database() const;
  friend auto operator<=>(const DatabaseName&, const DatabaseName&) = default;

 private:
  friend struct DocumentName;
  friend struct ParentName;
  explicit DatabaseName(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

// The path of a document below its database's root: "rooms/r1/messages/m7". At most 100 collections
// deep and 6 KiB long.
class DocumentPath {
 public:
  static Result<DocumentPath> Parse(std::string_view path);

  const std::string& path() const { return path_; }
  std::string_view id() const;          // "m7"
  std::string_view collection() const;  // "rooms/r1/messages"
  friend auto operator<=>(const DocumentPath&, const DocumentPath&) = default;

 private:
  friend class CollectionPath;
  friend struct DocumentName;
  explicit DocumentPath(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// The path of a collection below its database's root: "rooms/r1/messages".
class CollectionPath {
 public:
  static Result<CollectionPath> Parse(std::string_view path);

  const std::string& path() const { return path_; }
  std::string_view id() const;      // "messages"
  std::string_view parent() const;  // "rooms/r1"; empty for a collection at the root.
  // The document `id` in this collection. InvalidArgument if `id` is not a valid id.
  Result<DocumentPath> Document(std::string_view id) const;
  friend auto operator<=>(const CollectionPath&, const CollectionPath&) = default;

 private:
  friend struct ParentName;
  explicit CollectionPath(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// A parsed name such as "projects/P/databases/D/documents/rooms/r1".
struct DocumentName {
  DatabaseName database;
  DocumentPath path;

  // InvalidArgument, with Firestore's message, which gives the position of the error.
  static Result<DocumentName> Parse(std::string_view text);
  std::string ToString() const;
};

// The parent of collections: "projects/P/databases/D/documents", optionally followed by a
// document's path.
struct ParentName {
  DatabaseName database;
  std::string document_path;  // Valid, or empty for the root.

  static Result<ParentName> Parse(std::string_view text);
  // The collection `collection_id` below this parent.
  Result<CollectionPath> Collection(std::string_view collection_id) const;
};

}  // namespace hearth::model
