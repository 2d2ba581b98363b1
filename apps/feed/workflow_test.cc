// The workflows on a database in this process, with both kinds of cache.
#include "apps/feed/testing/workflow_test.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "client/embedded.h"

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

INSTANTIATE_TEST_SUITE_P(
    Embedded, WorkflowTest,
    testing::Values(WorkflowBackend{.name = "CacheInProcess", .fresh = FreshDatabase},
                    WorkflowBackend{
                        .name = "CacheOnRedis", .fresh = FreshDatabase, .has_redis = true}),
    WorkflowBackendName);

}  // namespace
}  // namespace hearth::feed
