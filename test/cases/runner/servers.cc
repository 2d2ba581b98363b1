#include "cases/runner/servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/testing/test_socket.h"

namespace hearth::cases {
namespace {

constexpr int kNotInstalled = 3;
constexpr std::chrono::milliseconds kBetweenAttempts{100};
constexpr std::chrono::minutes kEmulatorStartMax{3};  // A virtual machine on a busy one.

// A port that was free a moment ago: the emulator cannot choose one and say which.
uint16_t FreePort() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(descriptor >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CHECK(bind(descriptor, generic, size) == 0);
  CHECK(getsockname(descriptor, generic, &size) == 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

using Make = std::function<Result<std::unique_ptr<Door>>(Servers&)>;

Make OnHearth(std::unique_ptr<Door> (*make)(const ServerAddress&)) {
  return [make](Servers& servers) -> Result<std::unique_ptr<Door>> {
    ASSIGN_OR_RETURN(const ServerAddress address, servers.Hearth());
    return make(address);
  };
}

Make OnEmulator(std::unique_ptr<Door> (*make)(const ServerAddress&)) {
  return [make](Servers& servers) -> Result<std::unique_ptr<Door>> {
    ASSIGN_OR_RETURN(const ServerAddress address, servers.Emulator());
    return make(address);
  };
}

Make InProcess(std::unique_ptr<Door> (*make)()) {
  return [make](Servers&) -> Result<std::unique_ptr<Door>> { return make(); };
}

const std::vector<std::pair<std::string, Make>>& AllDoors() {
  static const std::vector<std::pair<std::string, Make>> doors = {
      {"engine", InProcess(&NewEngineDoor)},
      {"grpc", OnHearth(&NewGrpcDoor)},
      {"rest", OnHearth(&NewRestDoor)},
      {"webchannel", OnHearth(&NewWebChannelDoor)},
      {"embedded", InProcess(&NewEmbeddedDoor)},
      {"remote", OnHearth(&NewRemoteDoor)},
      {"emulator_grpc", OnEmulator(&NewGrpcDoor)},
      {"emulator_rest", OnEmulator(&NewRestDoor)},
      {"emulator_remote", OnEmulator(&NewRemoteDoor)},
  };
  return doors;
}

}  // namespace

Result<ServerAddress> Servers::Hearth() {
  if (!hearth_) {
    folder_.emplace();
    hearth_ = std::make_unique<support::ServerProcess>(
        HEARTH_SERVER, std::vector<std::string>{"serve", "--data", folder_->path(), "--listen",
                                                "127.0.0.1:0", "--log-level", "warning"});
    if (!hearth_->WaitUntilListening()) {
      return Status(Code::kUnavailable, "hearth does not start: " + hearth_->Stderr());
    }
  }
  return ServerAddress{hearth_->port(), false};
}

Result<ServerAddress> Servers::Emulator() {
  if (!emulator_) {
    support::ServerProcess check(HEARTH_EMULATOR, {"--check"});
    if (check.Wait().code == kNotInstalled) {
      return Status(Code::kNotFound, "the official emulator is not installed here");
    }
    emulator_port_ = FreePort();
    emulator_ = std::make_unique<support::ServerProcess>(
        HEARTH_EMULATOR, std::vector<std::string>{std::to_string(emulator_port_)});
    // It says nothing that is worth waiting for, so the port is asked.
    const auto end = std::chrono::steady_clock::now() + kEmulatorStartMax;
    while (!http::TestSocket(emulator_port_).connected()) {
      if (std::chrono::steady_clock::now() > end) {
        return Status(Code::kUnavailable, "the emulator does not start: " + emulator_->Stderr());
      }
      std::this_thread::sleep_for(kBetweenAttempts);
    }
  }
  return ServerAddress{emulator_port_, true};
}

Result<std::unique_ptr<Door>> OpenDoor(const std::string& name, Servers& servers) {
  for (const auto& [each, make] : AllDoors()) {
    if (each == name) return make(servers);
  }
  return InvalidArgument("there is no door '" + name + "', only " + DoorNames());
}

std::string DoorNames() {
  std::string names;
  for (const auto& [name, make] : AllDoors()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace hearth::cases
