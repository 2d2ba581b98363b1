// Preloaded into a process: its wall clock is ahead of the machine's by
// HEARTH_CLOCK_AHEAD_SECONDS.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const char* const ahead = std::getenv("HEARTH_CLOCK_AHEAD_SECONDS");
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME && ahead) time->tv_sec += std::atol(ahead);
  return result;
}
