// A database over the network, by gRPC: Hearth, the emulator or Google Cloud.
#pragma once

#include <chrono>
#include <string>

#include "base/status.h"
#include "client/firestore.h"

namespace hearth::client {

struct RemoteOptions {
  // HOST:PORT. Empty: FIRESTORE_EMULATOR_HOST if set, else Google's address.
  std::string address = {};
  std::string project = {};  // Empty: that of the key.
  std::string database = "(default)";
  // Path of a service account key, JSON. Empty: GOOGLE_APPLICATION_CREDENTIALS, for Google only.
  // With a key the connection is encrypted; without one it is not.
  std::string service_account_key = {};
  // Sent with every call to a server other than Google, instead of the emulators' "owner": the
  // administrator's token of a Hearth server, for a protected project.
  std::string bearer_token = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // Per call.
  size_t connections_max = 8;  // Also the number of concurrent calls.
  size_t attempts_max = 5;     // For calls that change nothing, if the server is unreachable.
};

// Does not connect yet. InvalidArgument for an invalid address, project, key or token.
Result<Firestore> Connect(const RemoteOptions& options);

}  // namespace hearth::client
