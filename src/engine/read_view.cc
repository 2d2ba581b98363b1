#include "engine/read_view.h"

#include <utility>

#include "base/check.h"

namespace hearth::engine {

Result<Record> ReadView::Get(const model::DocumentPath& path) const {
  return parts_.reader->At(DocumentKey(parts_.database->number, path), parts_.read_time);
}

std::optional<Result<Record>> ReadView::GetIfInMemory(const model::DocumentPath& path) const {
  return parts_.reader->AtIfInMemory(DocumentKey(parts_.database->number, path), parts_.read_time);
}

std::unique_ptr<DocumentCursor> ReadView::Scan(storage::KeyRange range) const {
  CHECK(parts_.snapshot != nullptr);
  if (parts_.is_present) return NewPresentCursor(*parts_.snapshot, std::move(range));
  return NewPastCursor(*parts_.snapshot, std::move(range), parts_.read_time);
}

}  // namespace hearth::engine
