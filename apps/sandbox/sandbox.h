#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/status.h"

namespace hearth::sandbox {

struct SandboxOptions {
  std::string host = "127.0.0.1";
  uint16_t port = 0;  // 0 picks a free one.
  uint64_t seed = 1;  // Together with the clock, it determines all generated data.
  const Clock* clock = nullptr;
};

// Local stand-ins for the services that the applications call, reached over HTTP, each below its
// name: url() + "/hn/v0/newstories.json". The README in this folder lists them and says how to make
// a service fail.
//
// Threads: url() from any thread. Ownership: borrows the clock. The destructor stops serving.
class Sandbox {
 public:
  // InvalidArgument or FailedPrecondition for an address that cannot be listened on.
  static Result<std::unique_ptr<Sandbox>> Start(const SandboxOptions& options);
  ~Sandbox();

  // "http://127.0.0.1:4711", without a trailing slash.
  std::string url() const;
  // "127.0.0.1:4711", as OutboundOptions::private_hosts_allowed takes it.
  std::string host_port() const;

 private:
  struct State;
  explicit Sandbox(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace hearth::sandbox
