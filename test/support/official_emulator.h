#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "support/server_process.h"

namespace hearth::support {

// Google's emulator, in a separate process, on a free port.
//
// Threads: one at a time; the thread that starts it must outlive it. Ownership: the destructor ends
// the process.
class OfficialEmulator {
 public:
  // Returns once it accepts connections. NotFound if it is not installed, Unavailable, with its
  // output, if it does not start.
  static Result<std::unique_ptr<OfficialEmulator>> Start();

  uint16_t port() const { return port_; }
  // Its complete output so far.
  std::string Stderr() const { return process_.Stderr(); }

 private:
  explicit OfficialEmulator(uint16_t port);

  uint16_t port_;
  ServerProcess process_;
};

}  // namespace hearth::support
