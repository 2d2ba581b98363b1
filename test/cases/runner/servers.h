#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "cases/runner/doors.h"
#include "storage/testing/temporary_folder.h"
#include "support/official_emulator.h"
#include "support/server_process.h"

namespace hearth::cases {

// The server processes that doors need. Each is started when first requested.
//
// Threads: one, which must outlive this object.
class Servers {
 public:
  // Unavailable, with the server's output, if it does not start.
  Result<ServerAddress> Hearth();
  // NotFound if it is not installed.
  Result<ServerAddress> Emulator();

 private:
  std::optional<storage::TemporaryFolder> folder_;
  std::unique_ptr<support::ServerProcess> hearth_;
  std::unique_ptr<support::OfficialEmulator> emulator_;
};

// The door of that name. InvalidArgument if there is none.
Result<std::unique_ptr<Door>> OpenDoor(const std::string& name, Servers& servers);

// "engine, grpc, ..."
std::string DoorNames();

}  // namespace hearth::cases
