// Private to this folder: lets ThreadSanitizer see that a snapshot comes after the commits it
// shows. RocksDB, which Debian does not instrument, orders them with atomics that the tool knows
// nothing of; so in its builds, and only there, a lock does it as well.
#pragma once

#include "base/mutex.h"

namespace hearth::storage {

#if defined(_GLIBCXX_TSAN)  // The standard library's headers know.
using TsanOrder = Mutex;
using TsanOrderLock = MutexLock;
#else
struct TsanOrder {};
struct TsanOrderLock {
  explicit TsanOrderLock(TsanOrder&) {}
};
#endif

}  // namespace hearth::storage
