// The endpoints on a database in this process.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "apps/feed/testing/feed_test.h"
#include "base/check.h"
#include "client/embedded.h"
#include "storage/temporary_folder.h"

namespace hearth::feed {
namespace {

client::Firestore FreshDatabase() {
  // They outlive the tests, whose members have the last handles.
  static std::vector<std::unique_ptr<storage::TemporaryFolder>> folders;
  folders.push_back(std::make_unique<storage::TemporaryFolder>());
  Result<client::Firestore> database =
      client::OpenEmbedded({.data_path = folders.back()->path(), .cache_mib = 8});
  CHECK(database.ok());
  return *std::move(database);
}

INSTANTIATE_TEST_SUITE_P(Embedded, FeedTest,
                         testing::Values(client::ContractBackend{.name = "Embedded",
                                                                 .fresh = FreshDatabase}),
                         client::BackendName);

}  // namespace
}  // namespace hearth::feed
