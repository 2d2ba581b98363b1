#include "support/official_emulator.h"

#include <chrono>
#include <thread>

#include "http/testing/test_socket.h"

namespace hearth::support {
namespace {

constexpr int kNotInstalled = 3;
constexpr std::chrono::milliseconds kBetweenAttempts{100};
constexpr std::chrono::minutes kEmulatorStartMax{3};  // Time for a JVM to start on a busy machine.

}  // namespace

OfficialEmulator::OfficialEmulator(uint16_t port)
    : port_(port), process_(HEARTH_EMULATOR, {std::to_string(port)}) {}

Result<std::unique_ptr<OfficialEmulator>> OfficialEmulator::Start() {
  ServerProcess check(HEARTH_EMULATOR, {"--check"});
  if (check.Wait().code == kNotInstalled) {
    return Status(Code::kNotFound, "the official emulator is not installed here");
  }
  // It cannot pick a port itself.
  std::unique_ptr<OfficialEmulator> emulator(new OfficialEmulator(http::FreePort()));
  // It prints nothing that is worth waiting for, so the port is polled.
  const auto end = std::chrono::steady_clock::now() + kEmulatorStartMax;
  while (!http::TestSocket(emulator->port()).connected()) {
    if (std::chrono::steady_clock::now() > end) {
      return Status(Code::kUnavailable, "the emulator does not start: " + emulator->Stderr());
    }
    std::this_thread::sleep_for(kBetweenAttempts);
  }
  return emulator;
}

}  // namespace hearth::support
