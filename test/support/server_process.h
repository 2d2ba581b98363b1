#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hearth::support {

// The upper bound of all waits in tests: a server that hangs fails a test instead of hanging it.
// Much longer than anything takes, since busy machines are slow.
inline constexpr std::chrono::seconds kPatience{120};

// How a process ended. If neither is set, it had not ended at the time limit.
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;
};

struct MemoryUse {
  size_t resident_kib = 0;
  size_t own_kib = 0;   // Of that, without file pages: heap, stacks, relocations.
  size_t peak_kib = 0;  // The most that was resident.
};

// A separate `hearth` process, started as a user would.
//
// Threads: one at a time; the thread that starts it must outlive it, because the kernel kills the
// process when that thread ends. Ownership: the destructor kills and reaps the process.
class ServerProcess {
 public:
  // Starts `program` with `arguments`. If it cannot be run, the exit code is 127.
  ServerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }

  // Waits until the process has printed this many `addresses`; false if it ends first.
  bool WaitUntilListening(size_t addresses = 1);
  // Require WaitUntilListening.
  uint16_t port(size_t address = 0) const { return ports_.at(address); }
  std::chrono::milliseconds start_time() const { return start_time_; }

  void Signal(int number) const;
  Exit Wait();
  // SIGKILL; returns once the process is gone.
  void Kill();

  // The complete output so far.
  std::string Stdout();
  std::string Stderr() const;

  // The processor time it has used, until now or until its end. Unlike time, it hardly depends on
  // what else the machine is doing.
  std::chrono::nanoseconds cpu_time() const;
  MemoryUse memory() const;  // Now.
  // The most memory since ForgetPeakMemory, or since the start. File pages count as they do now.
  size_t peak_own_kib() const;
  void ForgetPeakMemory() const;

 private:
  bool ReadStdout(std::chrono::milliseconds wait);
  void ParsePorts();

  pid_t pid_ = -1;
  int stdout_ = -1;
  int stderr_ = -1;  // In memory, so that a process with much output never waits for its reader.
  bool is_reaped_ = false;
  Exit exit_;
  std::chrono::nanoseconds cpu_time_at_end_{};
  std::chrono::steady_clock::time_point started_at_;
  std::chrono::milliseconds start_time_{};
  std::string stdout_text_;
  std::vector<uint16_t> ports_;
};

}  // namespace hearth::support
