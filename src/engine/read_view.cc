#include "engine/read_view.h"

#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "documents/change_log.h"
#include "documents/document_cursor.h"
#include "documents/keys.h"
#include "engine/read_view_parts.h"

namespace hearth::engine {

ReadView::ReadView(std::unique_ptr<const ReadViewParts> parts) : parts_(std::move(parts)) {}

ReadView::~ReadView() = default;

const documents::Database& ReadView::database() const { return *parts_->database; }

model::Timestamp ReadView::read_time() const { return parts_->read_time; }

const std::string& ReadView::new_transaction() const { return parts_->new_transaction; }

Result<model::Record> ReadView::Get(const model::DocumentPath& path) const {
  const documents::Database& database = *parts_->database;
  Result<model::Record> record =
      parts_->reader->At(model::DocumentKey(database.number, path), parts_->read_time);
  if (database.is_deleted) return documents::DatabaseDeleted(database);
  RETURN_IF_ERROR(CheckIsInHistory());  // After the read, which needed the history.
  return record;
}

std::optional<Result<model::Record>> ReadView::GetIfInMemory(
    const model::DocumentPath& path) const {
  return parts_->reader->AtIfInMemory(model::DocumentKey(parts_->database->number, path),
                                      parts_->read_time);
}

Status ReadView::CheckIsInHistory() const {
  const bool is_forgotten =
      parts_->forgotten_micros != nullptr && parts_->read_time.micros() < *parts_->forgotten_micros;
  if (!is_forgotten) return Status();
  return Status(Code::kDeadlineExceeded, "the read took longer than history is kept");
}

Status ReadView::Pause() const {
  RETURN_IF_ERROR(CheckIsInHistory());
  return parts_->pause ? parts_->pause() : Status();
}

std::unique_ptr<documents::DocumentCursor> ReadView::Scan(storage::KeyRange range) const {
  CHECK(parts_->snapshot != nullptr);
  if (parts_->is_present) {
    return documents::NewPresentCursor(*parts_->snapshot, std::move(range),
                                       storage::Direction::kForward, &parts_->pause);
  }
  return documents::NewPastCursor(*parts_->snapshot, std::move(range), parts_->read_time,
                                  &parts_->pause);
}

std::unique_ptr<documents::DocumentCursor> ReadView::ScanBackward(storage::KeyRange range) const {
  CHECK(parts_->snapshot != nullptr);
  if (!parts_->is_present) return nullptr;
  return documents::NewPresentCursor(*parts_->snapshot, std::move(range),
                                     storage::Direction::kBackward, &parts_->pause);
}

Result<std::optional<std::set<std::string, std::less<>>>> ReadView::ChangedDocuments(
    size_t max) const {
  using Keys = std::set<std::string, std::less<>>;
  Keys keys;
  if (parts_->is_present) return std::optional<Keys>(std::move(keys));
  const std::string prefix = model::DatabaseKeyPrefix(parts_->database->number);
  storage::KeyRange later = storage::PrefixRange(prefix);
  later.first = documents::LogKey(parts_->database->number,
                                  model::Timestamp::FromMicros(parts_->read_time.micros() + 1));
  const std::unique_ptr<storage::Cursor> cursor = parts_->snapshot->Scan(
      storage::Space::kLog, std::move(later), storage::Direction::kForward, &parts_->pause);
  size_t bytes = 0;
  for (; cursor->Valid(); cursor->Next()) {
    // There may be millions of commits to the same few documents.
    RETURN_IF_ERROR(Pause());
    ASSIGN_OR_RETURN(const std::vector<std::string> changed,
                     documents::DecodeLogEntry(cursor->value()));
    for (const std::string& key : changed) {
      if (keys.insert(prefix + key).second) bytes += prefix.size() + key.size();
    }
    if (keys.size() > max || bytes > kChangedKeysBytesMax) return std::optional<Keys>();
  }
  RETURN_IF_ERROR(cursor->status());
  return std::optional<Keys>(std::move(keys));
}

}  // namespace hearth::engine
