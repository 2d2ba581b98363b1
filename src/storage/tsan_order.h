// Private to this folder: lets ThreadSanitizer see that a snapshot comes after the commits it
// shows. RocksDB, which Debian does not instrument, orders them with atomics that the tool knows
// nothing of; so in its builds, and only there, a lock does it as well.
#pragma once

#include "base/mutex.h"

#if defined(__SANITIZE_THREAD__)
#define HEARTH_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEARTH_TSAN_ 1
#endif
#endif

namespace hearth::storage {

#if defined(HEARTH_TSAN_)
using TsanOrder = Mutex;
using TsanOrderLock = MutexLock;
#else
struct TsanOrder {};
struct TsanOrderLock {
  explicit TsanOrderLock(TsanOrder&) {}
};
#endif

}  // namespace hearth::storage
