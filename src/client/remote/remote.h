// A database over the network, by gRPC: Hearth, the emulator, or Google Cloud.
#pragma once

#include <chrono>
#include <string>

#include "base/status.h"
#include "client/firestore.h"

namespace hearth::client {

struct RemoteOptions {
  // HOST:PORT. Empty: FIRESTORE_EMULATOR_HOST if that is set, else Google's own.
  std::string address = {};
  std::string project = {};  // Empty: that of the key.
  std::string database = "(default)";
  // Path of a service account's key, JSON. Empty: GOOGLE_APPLICATION_CREDENTIALS, if Google is
  // asked. With a key the connection is encrypted; without one it is not.
  std::string service_account_key = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // Of one call.
  size_t connections_max = 8;                                    // Also calls at a time.
  size_t attempts_max = 5;  // Of calls that change nothing, when the server cannot be reached.
};

// Does not connect yet. InvalidArgument for an address, a project or a key that is none.
Result<Firestore> Connect(const RemoteOptions& options);

}  // namespace hearth::client
