// For tests: databases in this process, with a small cache. A failure to open one ends the program.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "client/embedded/embedded.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::client {

inline Firestore OpenTestDatabase(const std::string& path) {
  Result<Firestore> database = OpenEmbedded({.data_path = path, .cache_mib = 8});
  CHECK(database.ok());
  return *std::move(database);
}

// An empty database in its own folder.
inline Firestore FreshTestDatabase() {
  // They outlive the tests, whose members hold the last handles.
  static std::vector<std::unique_ptr<storage::TemporaryFolder>> folders;
  folders.push_back(std::make_unique<storage::TemporaryFolder>());
  return OpenTestDatabase(folders.back()->path());
}

}  // namespace hearth::client
