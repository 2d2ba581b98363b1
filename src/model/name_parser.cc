#include "model/name_parser.h"

#include <algorithm>

#include "base/utf8.h"
#include "model/limits.h"
#include "model/numeric_id.h"
#include "model/reserved_name.h"

namespace hearth::model {
namespace {

constexpr size_t kProjectBytesMax = 100;
constexpr size_t kDatabaseBytesMax = 100;
constexpr std::string_view kDefaultDatabase = "(default)";

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool HasOnly(std::string_view text, std::string_view punctuation) {
  return std::all_of(text.begin(), text.end(), [punctuation](char c) {
    return IsAlphanumeric(c) || punctuation.find(c) != std::string_view::npos;
  });
}

Status CheckProject(std::string_view project) {
  if (project.size() > kProjectBytesMax) {
    return InvalidArgument("The project is longer than 100 bytes.");
  }
  if (HasOnly(project, "._:-")) return Status();
  return InvalidArgument("Illegal string " + Quoted(project) + " in project.");
}

Status CheckDatabase(std::string_view database) {
  if (database == kDefaultDatabase) return Status();
  if (database.size() > kDatabaseBytesMax) {
    return InvalidArgument("The database is longer than 100 bytes.");
  }
  if (!HasOnly(database, "._-")) {
    return InvalidArgument("Illegal string " + Quoted(database) + " in database.");
  }
  // The emulator accepts this reserved database id.
  if (!IsReservedName(database) || database == "____") return Status();
  return InvalidArgument("The database " + Quoted(database) + " is reserved.");
}

Status ReservedId(IdKind kind, std::string_view id) {
  const bool is_document = kind == IdKind::kDocument;
  const std::string subject =
      (is_document ? "Resource id " : "Collection id ") + Quoted(id) + " is invalid because it is ";
  return InvalidArgument(
      subject + (is_document && LooksNumericId(id) ? "not a 64 bit integer." : "reserved."));
}

}  // namespace

Status CheckIdText(IdKind kind, std::string_view id) {
  if (id.size() > kIdBytesMax) {
    return InvalidArgument(kind == IdKind::kDocument
                               ? "The key path element name is longer than 1500 bytes."
                               : "The key path element kind is longer than 1500 bytes.");
  }
  if (IsReservedName(id) && (kind == IdKind::kCollection || !NumericId(id))) {
    return ReservedId(kind, id);
  }
  return Status();
}

bool NameParser::Fail(std::string message) {
  status_ = InvalidArgument(std::move(message));
  return false;
}

bool NameParser::FailHere(std::string_view complaint) {
  return Fail(std::string(noun_) + ' ' + Quoted(text_) + ' ' + std::string(complaint) + '.');
}

bool NameParser::FailAt(size_t position, std::string_view complaint) {
  const size_t index = Utf16Length(text_.substr(0, position));
  return FailHere(std::string(complaint) + " at index " + std::to_string(index));
}

Status NameParser::MissingPath() const {
  return InvalidArgument(std::string(noun_) + ' ' + Quoted(text_) +
                         " is invalid: Omit \"/documents\" when referencing a database (except as "
                         "the parent of a document).");
}

bool NameParser::Utf8() {
  return IsValidUtf8(text_) || Fail(std::string(noun_) + " is not valid UTF-8.");
}

bool NameParser::Literal(std::string_view word) {
  if (!text_.substr(position_).starts_with(word)) {
    return FailAt(position_, "lacks " + Quoted(word));
  }
  position_ += word.size();
  return true;
}

bool NameParser::Slash() {
  if (AtEnd() || text_[position_] != '/') return FailAt(position_, "lacks \"/\"");
  ++position_;
  return !AtEnd() || FailHere("has invalid trailing \"/\"");
}

bool NameParser::PathSeparator() {
  if (text_.substr(position_) == "/") return FailHere("is invalid: Omit trailing \"/\"");
  return Slash();
}

bool NameParser::Segment(std::string_view what, std::string_view* segment) {
  const size_t end = std::min(text_.find('/', position_), text_.size());
  *segment = text_.substr(position_, end - position_);
  if (segment->empty()) return FailAt(position_, "lacks a " + std::string(what));
  if (*segment == "." || *segment == "..") {
    return FailAt(position_, "contains a " + std::string(what) + ' ' + Quoted(*segment));
  }
  position_ = end;
  return true;
}

bool NameParser::Database() {
  std::string_view project;
  std::string_view database;
  if (!Literal("projects") || !Slash() || !Segment("project id", &project)) return false;
  if (!Slash() || !Literal("databases") || !Slash() || !Segment("database id", &database)) {
    return false;
  }
  status_ = CheckProject(project);
  if (status_.ok()) status_ = CheckDatabase(database);
  return status_.ok();
}

bool NameParser::Documents() { return Slash() && Literal("documents"); }

bool NameParser::End() {
  if (AtEnd()) return true;
  if (text_.substr(position_) == "/") return FailHere("has invalid trailing \"/\"");
  return FailAt(position_, "has extra characters");
}

bool NameParser::Id(IdKind kind) {
  std::string_view id;
  if (!Segment(kind == IdKind::kDocument ? "resource id" : "collection id", &id)) return false;
  if (id.size() <= kIdBytesMax && !id.starts_with("__")) return true;  // Nearly every id.
  status_ = CheckIdText(kind, id);
  return status_.ok();
}

bool NameParser::Path(IdKind last) {
  if (text_.size() - position_ > kDocumentNameBytesMax) {
    return Fail(std::string(noun_) + " is longer than 6144 bytes.");
  }
  for (size_t collections = 1; collections <= kCollectionDepthMax; ++collections) {
    if (!Id(IdKind::kCollection)) return false;
    if (AtEnd() && last == IdKind::kCollection) return true;
    if (!Slash() || !Id(IdKind::kDocument)) return false;
    if (AtEnd() && last == IdKind::kDocument) return true;
    if (!Slash()) return false;
  }
  return Fail("Key path is too long. Cannot exceed 100 elements.");
}

}  // namespace hearth::model
