#include "storage/store.h"

#include "base/check.h"

namespace hearth::storage {

KeyRange PrefixRange(std::string_view prefix) {
  KeyRange range{std::string(prefix), std::string(prefix)};
  // The first key after all keys with `prefix` is `prefix` with its last byte incremented. A 0xFF
  // cannot be incremented: it is dropped, and the byte before it is incremented instead. A prefix
  // of only 0xFF has no key after it, which an empty bound expresses.
  while (!range.last.empty() && range.last.back() == '\xff') range.last.pop_back();
  if (!range.last.empty()) {
    range.last.back() = static_cast<char>(static_cast<unsigned char>(range.last.back()) + 1);
  }
  return range;
}

Status Store::Commit(const Batch& batch) {
  CHECK(!is_committing_.exchange(true, std::memory_order_acquire));
  Status status = DoCommit(batch);
  is_committing_.store(false, std::memory_order_release);
  return status;
}

}  // namespace hearth::storage
