#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::sandbox {

// More than twice as many as the applications of a process use at a time.
inline constexpr size_t kConnectionsMax = 64;

struct SandboxOptions {
  std::string host = "127.0.0.1";  // Must be an address of the loopback.
  uint16_t port = 0;               // 0 picks a free one.
  uint64_t seed = 1;               // Together with the clock, it determines all generated data.
  const Clock* clock = nullptr;
  std::string token = {};  // Empty: a random one.
  // A connection beyond this number takes the place of an idle one, or is refused.
  size_t connections_max = kConnectionsMax;
  MemoryBudget* memory = nullptr;  // Of the process. Null: no limit.
};

// Local stand-ins for the services that the applications call, reached over HTTP, each below its
// name: url() + "/hn/v0/newstories.json". The README in this folder lists them and says how to make
// a service fail.
// || Closed to strangers: it listens on the loopback only, every path begins with a secret token,
// and requests that a browser made for a web page are refused.
//
// Threads: url() from any thread. Ownership: borrows the clock and the memory budget. The
// destructor stops serving.
class Sandbox {
 public:
  static constexpr size_t kTokenCharactersMin = 16;

  // InvalidArgument or FailedPrecondition for an address that cannot be listened on, or that other
  // machines can reach; InvalidArgument for a token that is too short or not made of letters and
  // digits.
  static Result<std::unique_ptr<Sandbox>> Start(const SandboxOptions& options);
  ~Sandbox();

  // "http://127.0.0.1:4711/TOKEN", without a trailing slash.
  std::string url() const;
  // "127.0.0.1:4711", as OutboundOptions::private_hosts_allowed takes it.
  std::string host_port() const;

 private:
  struct State;
  explicit Sandbox(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace hearth::sandbox
