// The workflows on an embedded database, with both kinds of cache.
#include "apps/feed/testing/workflow_test.h"

#include <gtest/gtest.h>

#include "client/embedded/testing/embedded_database.h"

namespace hearth::feed {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, WorkflowTest,
                         testing::Values(WorkflowBackend{.name = "CacheInProcess",
                                                         .fresh = client::FreshTestDatabase},
                                         WorkflowBackend{.name = "CacheOnRedis",
                                                         .fresh = client::FreshTestDatabase,
                                                         .has_redis = true}),
                         WorkflowBackendName);

}  // namespace
}  // namespace hearth::feed
