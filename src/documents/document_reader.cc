#include "documents/document_reader.h"

#include <utility>

#include "base/status_macros.h"
#include "documents/keys.h"
#include "model/document.h"

namespace hearth::documents {
namespace {

using model::Timestamp;
using storage::Space;

Result<model::Record> ToRecord(Result<std::optional<std::string>> stored) {
  if (!stored.ok()) return stored.status();
  if (!*stored) return model::Record();
  if ((*stored)->size() < model::kRecordBytesMin) {
    return Status(Code::kDataLoss, "a document's record is too short");
  }
  return model::Record(std::make_shared<const std::string>(**std::move(stored)));
}

}  // namespace

Result<model::Record> DocumentReader::Load(const std::string& document_key, Source* source) const {
  *source = Source::kMemory;
  if (model::Record cached = cache_.Find(document_key)) return cached;
  *source = Source::kDisk;
  const DocumentCache::Ticket ticket = cache_.BeginFill(document_key);
  Result<model::Record> record = ToRecord(store_.Get(Space::kDocuments, document_key));
  if (record.ok()) cache_.Insert(document_key, *record, ticket);
  return record;
}

Result<model::Record> DocumentReader::Newest(const std::string& document_key) const {
  Source source;
  Result<model::Record> newest = Load(document_key, &source);
  Count(source);
  return newest;
}

std::optional<Result<model::Record>> DocumentReader::NewestIfInMemory(
    const std::string& document_key) const {
  if (model::Record cached = cache_.Find(document_key))
    return Result<model::Record>(std::move(cached));
  const DocumentCache::Ticket ticket = cache_.BeginFill(document_key);
  auto stored = store_.GetIfInMemory(Space::kDocuments, document_key);
  if (!stored) return std::nullopt;
  Result<model::Record> record = ToRecord(*std::move(stored));
  if (record.ok()) cache_.Insert(document_key, *record, ticket);
  return record;
}

bool DocumentReader::IsStateAt(const model::Record& newest, Timestamp read_time) const {
  if (newest) return model::RecordUpdateTime(*newest) <= read_time;
  // It may have been deleted after `read_time`, unless there was no commit after that time.
  return clock_.IsNewest(read_time);
}

bool DocumentReader::IsPresent(const model::Record& newest) const {
  // Nearly always the first condition holds, which takes no lock.
  return (newest && clock_.IsVisible(model::RecordUpdateTime(*newest))) ||
         IsStateAt(newest, clock_.ReadTime());
}

Result<model::Record> DocumentReader::Present(const std::string& document_key) const {
  Source source;
  ASSIGN_OR_RETURN(model::Record newest, Load(document_key, &source));
  if (!IsPresent(newest)) return At(document_key, clock_.ReadTime());
  Count(source);
  return newest;
}

std::optional<Result<model::Record>> DocumentReader::PresentIfInMemory(
    const std::string& document_key) const {
  std::optional<Result<model::Record>> newest = NewestIfInMemory(document_key);
  if (!newest || (newest->ok() && !IsPresent(**newest))) return std::nullopt;
  Count(Source::kMemory);
  return newest;
}

Result<model::Record> DocumentReader::At(const std::string& document_key,
                                         Timestamp read_time) const {
  Source source;
  ASSIGN_OR_RETURN(model::Record newest, Load(document_key, &source));
  const bool is_newest = IsStateAt(newest, read_time);
  Count(is_newest ? source : Source::kDisk);
  if (is_newest) return newest;

  const std::unique_ptr<storage::Snapshot> snapshot = store_.NewSnapshot();
  storage::KeyRange later = storage::PrefixRange(document_key);
  later.first = HistoryKey(document_key, Timestamp::FromMicros(read_time.micros() + 1));
  const std::unique_ptr<storage::Cursor> cursor =
      snapshot->Scan(Space::kHistory, std::move(later), storage::Direction::kForward);
  if (!cursor->Valid()) {
    RETURN_IF_ERROR(cursor->status());
    // Not changed since `read_time`: the newest state was read before the snapshot was taken, and a
    // change in between would be in the history.
    return newest;
  }
  if (cursor->value().empty()) return model::Record();  // It did not exist.
  return ToRecord(std::optional<std::string>(cursor->value()));
}

std::optional<Result<model::Record>> DocumentReader::AtIfInMemory(const std::string& document_key,
                                                                  Timestamp read_time) const {
  std::optional<Result<model::Record>> newest = NewestIfInMemory(document_key);
  if (!newest || (newest->ok() && !IsStateAt(**newest, read_time))) return std::nullopt;
  Count(Source::kMemory);
  return newest;
}

}  // namespace hearth::documents
