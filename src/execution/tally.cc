#include "execution/tally.h"

#include <functional>

namespace hearth::execution {

bool Tally::Memory::Add(std::string_view name) {
  if (!is_used) return true;
  const bool is_full =
      hashes.size() >= kRememberedMax || !claim.Reserve((hashes.size() + 1) * kBytesPerHash);
  if (is_full) return !Contains(name);
  return hashes.insert(std::hash<std::string_view>()(name)).second;
}

bool Tally::Memory::Contains(std::string_view name) const {
  return is_used && hashes.contains(std::hash<std::string_view>()(name));
}

void Tally::AddDocument(const model::DocumentPath& path) {
  if (documents_.Add(path.path())) ++statistics_.documents_scanned;
}

void Tally::AddResultDocument(const model::DocumentPath& path) {
  if (!documents_.Contains(path.path())) ++statistics_.documents_scanned;
}

bool Tally::AddEntry(std::string_view key) {
  if (!entries_.Add(key)) return false;
  ++statistics_.index_entries_scanned;
  return true;
}

bool Tally::IsTimeToPause(size_t bytes) {
  // A few tenths of a millisecond, even if the items are not in memory yet.
  constexpr size_t kStepsBetweenPauses = 64;
  constexpr size_t kBytesPerStep = 4 * 1024;
  steps_ += 1 + bytes / kBytesPerStep;
  if (steps_ < kStepsBetweenPauses) return false;
  steps_ = 0;
  return true;
}

}  // namespace hearth::execution
