#pragma once

#include <string>

#include "client/remote.h"
#include "client/testing/transport_contract.h"

namespace hearth::client {

// An empty database behind a server: one of a project that nobody has named before.
inline Firestore FreshDatabase(const std::string& address) {
  static int projects = 0;
  RemoteOptions options;
  options.address = address;
  options.project = "contract-" + std::to_string(++projects);
  // A server that is still starting is waited for.
  options.attempts_max = 20;
  Result<Firestore> database = Connect(options);
  EXPECT_TRUE(database.ok()) << database.status().ToString();
  return *std::move(database);
}

}  // namespace hearth::client
