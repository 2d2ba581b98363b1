#include "execution/tally.h"

#include <functional>

namespace hearth::execution {

bool Tally::Memory::Add(std::string_view name) {
  if (!is_used) return true;
  if (hashes.size() >= kRememberedMax) return !Contains(name);
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

bool Tally::IsTimeToPause() {
  constexpr uint64_t kStepsBetweenPauses = 256;
  return steps_++ % kStepsBetweenPauses == 0;
}

}  // namespace hearth::execution
