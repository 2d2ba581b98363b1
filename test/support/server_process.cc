#include "support/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/check.h"

namespace hearth::support {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kCannotRun = 127;

std::chrono::nanoseconds TimeOf(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

milliseconds Until(steady_clock::time_point end) {
  return std::max(milliseconds(0), duration_cast<milliseconds>(end - steady_clock::now()));
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program, const std::vector<std::string>& arguments)
    : started_at_(steady_clock::now()) {
  std::array<int, 2> pipe_ends{};
  CHECK(pipe2(pipe_ends.data(), O_CLOEXEC) == 0);
  stdout_ = pipe_ends[0];
  stderr_ = memfd_create("stderr", MFD_CLOEXEC);
  CHECK(stderr_ >= 0);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);

  pid_ = fork();
  CHECK(pid_ >= 0);
  if (pid_ == 0) {  // Only functions that are safe after a fork with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(stderr_, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(kCannotRun);
  }
  close(pipe_ends[1]);
}

ServerProcess::~ServerProcess() {
  Kill();
  close(stdout_);
  close(stderr_);
}

// Appends the output that arrives within `wait`; false if there was none or standard output is
// closed.
bool ServerProcess::ReadStdout(milliseconds wait) {
  pollfd entry = {.fd = stdout_, .events = POLLIN, .revents = 0};
  if (poll(&entry, 1, static_cast<int>(wait.count())) != 1) return false;
  std::array<char, 4096> buffer{};
  const ssize_t size = read(stdout_, buffer.data(), buffer.size());
  if (size <= 0) return false;
  stdout_text_.append(buffer.data(), static_cast<size_t>(size));
  return true;
}

void ServerProcess::ParsePorts() {
  constexpr std::string_view kLine = "listening on ";
  ports_.clear();
  std::string_view rest = stdout_text_;
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (!line.starts_with(kLine)) continue;
    ports_.push_back(static_cast<uint16_t>(std::atoi(line.c_str() + line.rfind(':') + 1)));
  }
}

bool ServerProcess::WaitUntilListening(size_t addresses) {
  const auto end = steady_clock::now() + kPatience;
  while (ports_.size() < addresses) {
    if (!ReadStdout(Until(end))) return false;
    ParsePorts();
  }
  start_time_ = duration_cast<milliseconds>(steady_clock::now() - started_at_);
  return true;
}

void ServerProcess::Signal(int number) const {
  if (!is_reaped_) kill(pid_, number);
}

Exit ServerProcess::Wait() {
  if (is_reaped_) return exit_;
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  CHECK(handle >= 0);
  pollfd entry = {.fd = handle, .events = POLLIN, .revents = 0};
  const bool has_ended =
      poll(&entry, 1, static_cast<int>(duration_cast<milliseconds>(kPatience).count())) == 1;
  close(handle);
  if (!has_ended) return {};
  int status = 0;
  rusage use = {};
  CHECK(wait4(pid_, &status, 0, &use) == pid_);
  is_reaped_ = true;
  cpu_time_at_end_ = TimeOf(use.ru_utime) + TimeOf(use.ru_stime);
  if (WIFEXITED(status)) exit_.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
  return exit_;
}

void ServerProcess::Kill() {
  Signal(SIGKILL);
  Wait();
}

std::chrono::nanoseconds ServerProcess::cpu_time() const {
  if (is_reaped_) return cpu_time_at_end_;
  clockid_t clock = 0;
  timespec time = {};
  CHECK(clock_getcpuclockid(pid_, &clock) == 0 && clock_gettime(clock, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string ServerProcess::Stdout() {
  while (ReadStdout(milliseconds(0))) {
  }
  return stdout_text_;
}

std::string ServerProcess::Stderr() const {
  const off_t size = lseek(stderr_, 0, SEEK_END);
  std::string text(static_cast<size_t>(size), '\0');
  const ssize_t got = pread(stderr_, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

size_t ServerProcess::peak_own_kib() const {
  const MemoryUse use = memory();
  return use.peak_kib - std::min(use.peak_kib, use.resident_kib - use.own_kib);
}

void ServerProcess::ForgetPeakMemory() const {
  std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5";
}

MemoryUse ServerProcess::memory() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  MemoryUse memory;
  const auto read = [](const std::string& line, std::string_view field, size_t* kib) {
    if (line.starts_with(field)) *kib = std::strtoul(line.c_str() + field.size(), nullptr, 10);
  };
  for (std::string line; std::getline(status, line);) {
    read(line, "VmRSS:", &memory.resident_kib);
    read(line, "RssAnon:", &memory.own_kib);
    read(line, "VmHWM:", &memory.peak_kib);
  }
  return memory;
}

}  // namespace hearth::support
