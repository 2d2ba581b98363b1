#include "cases/runner/servers.h"

#include <functional>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace hearth::cases {
namespace {

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
    ASSIGN_OR_RETURN(emulator_, support::OfficialEmulator::Start());
  }
  return ServerAddress{emulator_->port(), true};
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
