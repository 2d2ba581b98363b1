// Private to this folder: shows ThreadSanitizer that a snapshot comes after the commits in it.
// RocksDB, which Debian does not instrument, orders them with atomics that the tool cannot see. So
// in its builds, and only there, a lock orders them as well.
#pragma once

#include "base/mutex.h"

namespace hearth::storage {

#if defined(_GLIBCXX_TSAN)  // Defined by the standard library's headers.
using TsanOrder = Mutex;
using TsanOrderLock = MutexLock;
#else
struct TsanOrder {};
struct TsanOrderLock {
  explicit TsanOrderLock(TsanOrder&) {}
};
#endif

}  // namespace hearth::storage
