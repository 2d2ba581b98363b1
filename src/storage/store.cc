#include "storage/store.h"

#include "base/check.h"

namespace hearth::storage {

KeyRange PrefixRange(std::string_view prefix) {
  KeyRange range{std::string(prefix), std::string(prefix)};
  // The first key after all that begin with `prefix` is `prefix` with its last byte raised by one.
  // A 0xFF cannot be raised: it is dropped and the byte before it raised instead. A prefix of
  // 0xFF only has no key after it, which an empty bound says.
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
