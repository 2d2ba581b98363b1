// All doors through which cases can reach a database.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "cases/runner/session.h"

namespace hearth::cases {

// A server that cases can use over the network.
struct ServerAddress {
  uint16_t port = 0;
  bool is_emulator = false;
};

// In this process: the engine directly below the service's methods.
std::unique_ptr<Door> NewEngineDoor();
std::unique_ptr<Door> NewGrpcDoor(const ServerAddress& server);
std::unique_ptr<Door> NewRestDoor(const ServerAddress& server);
// Streams for browsers: commits over Write, reads over Listen.
std::unique_ptr<Door> NewWebChannelDoor(const ServerAddress& server);
// The C++ client: on an engine in this process, and over gRPC.
std::unique_ptr<Door> NewEmbeddedDoor();
std::unique_ptr<Door> NewRemoteDoor(const ServerAddress& server);

}  // namespace hearth::cases
