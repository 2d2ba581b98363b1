#include "model/names.h"

#include "base/status_macros.h"
#include "base/utf8.h"
#include "model/limits.h"
#include "model/name_parser.h"

namespace hearth::model {
namespace {

constexpr std::string_view kProjects = "projects/";
constexpr std::string_view kDatabases = "/databases/";
constexpr std::string_view kDocuments = "/documents/";

std::string_view AfterLastSlash(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view BeforeLastSlash(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// Validates an id that is given on its own, not as part of a name.
Status ValidateLoneId(IdKind kind, std::string_view id) {
  const bool is_document = kind == IdKind::kDocument;
  if (id.empty()) {
    return InvalidArgument(is_document ? "documentId is the empty string."
                                       : "collectionId is the empty string.");
  }
  const std::string_view noun = is_document ? "Resource id" : "Collection id";
  if (!IsValidUtf8(id)) return InvalidArgument(std::string(noun) + " is not valid UTF-8.");
  const bool has_slash = id.find('/') != std::string_view::npos;
  if (has_slash || id == "." || id == "..") {
    return InvalidArgument(std::string(noun) + " \"" + std::string(id) +
                           "\" is invalid because it " +
                           (has_slash ? "contains \"/\"." : "is reserved."));
  }
  return CheckIdText(kind, id);
}

}  // namespace

Status ValidateId(std::string_view id) { return ValidateLoneId(IdKind::kDocument, id); }

Status ValidateCollectionId(std::string_view id) { return ValidateLoneId(IdKind::kCollection, id); }

Status ValidateReference(std::string_view name) {
  NameParser parser("Resource name", name);
  if (!parser.Utf8() || !parser.Database()) return parser.status();
  if (parser.AtEnd()) {
    return InvalidArgument("Non-document resource reference value not supported.");
  }
  if (!parser.Documents()) return parser.status();
  if (parser.AtEnd()) return parser.MissingPath();
  if (!parser.PathSeparator() || !parser.Path(IdKind::kDocument)) return parser.status();
  return Status();
}

Result<DatabaseName> DatabaseName::Parse(std::string_view text) {
  NameParser parser("Database name", text);
  if (!parser.Utf8() || !parser.Database() || !parser.End()) return parser.status();
  return DatabaseName(std::string(text));
}

std::string_view DatabaseName::project() const {
  const std::string_view rest = std::string_view(text_).substr(kProjects.size());
  return rest.substr(0, rest.find('/'));
}

std::string_view DatabaseName::database() const {
  return std::string_view(text_).substr(kProjects.size() + project().size() + kDatabases.size());
}

Result<DocumentPath> DocumentPath::Parse(std::string_view path) {
  NameParser parser("Document path", path);
  if (!parser.Utf8() || !parser.Path(IdKind::kDocument)) return parser.status();
  return DocumentPath(std::string(path));
}

std::string_view DocumentPath::id() const { return AfterLastSlash(path_); }

std::string_view DocumentPath::collection() const { return BeforeLastSlash(path_); }

Result<CollectionPath> CollectionPath::Parse(std::string_view path) {
  NameParser parser("Collection path", path);
  if (!parser.Utf8() || !parser.Path(IdKind::kCollection)) return parser.status();
  return CollectionPath(std::string(path));
}

std::string_view CollectionPath::id() const { return AfterLastSlash(path_); }

std::string_view CollectionPath::parent() const { return BeforeLastSlash(path_); }

Result<DocumentPath> CollectionPath::Document(std::string_view id) const {
  RETURN_IF_ERROR(ValidateId(id));
  if (path_.size() + 1 + id.size() > kDocumentNameBytesMax) {
    return InvalidArgument("Document path is longer than 6144 bytes.");
  }
  return DocumentPath(path_ + '/' + std::string(id));
}

Result<DocumentName> DocumentName::Parse(std::string_view text) {
  NameParser parser("Document name", text);
  if (!parser.Utf8() || !parser.Database()) return parser.status();
  const std::string_view database = text.substr(0, parser.position());
  if (!parser.Documents()) return parser.status();
  if (parser.AtEnd()) return parser.MissingPath();
  if (!parser.PathSeparator()) return parser.status();
  const std::string_view path = text.substr(parser.position());
  if (!parser.Path(IdKind::kDocument)) return parser.status();
  return DocumentName{DatabaseName(std::string(database)), DocumentPath(std::string(path))};
}

std::string DocumentName::ToString() const {
  std::string text;
  text.reserve(database.text().size() + kDocuments.size() + path.path().size());
  return text.append(database.text()).append(kDocuments).append(path.path());
}

Result<ParentName> ParentName::Parse(std::string_view text) {
  NameParser parser("Document parent name", text);
  if (!parser.Utf8() || !parser.Database()) return parser.status();
  const std::string_view database = text.substr(0, parser.position());
  if (!parser.Documents()) return parser.status();
  if (parser.AtEnd()) return ParentName{DatabaseName(std::string(database)), std::string()};
  if (!parser.PathSeparator()) return parser.status();
  const std::string_view path = text.substr(parser.position());
  if (!parser.Path(IdKind::kDocument)) return parser.status();
  return ParentName{DatabaseName(std::string(database)), std::string(path)};
}

Result<CollectionPath> ParentName::Collection(std::string_view collection_id) const {
  RETURN_IF_ERROR(ValidateCollectionId(collection_id));
  if (document_path.empty()) return CollectionPath(std::string(collection_id));
  return CollectionPath::Parse(document_path + '/' + std::string(collection_id));
}

}  // namespace hearth::model
