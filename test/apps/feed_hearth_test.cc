// The photo feed, with its database over the network.
#include <gtest/gtest.h>

#include "apps/feed/testing/feed_test.h"
#include "apps/feed/testing/workflow_test.h"
#include "client/servers.h"

namespace hearth::feed {
namespace {

INSTANTIATE_TEST_SUITE_P(Remote, FeedTest, testing::Values(client::HearthServer()),
                         client::BackendName);

INSTANTIATE_TEST_SUITE_P(Remote, WorkflowTest,
                         testing::Values(WorkflowBackend{.name = "CacheInProcess",
                                                         .fresh = client::HearthServer().fresh},
                                         WorkflowBackend{.name = "CacheOnRedis",
                                                         .fresh = client::HearthServer().fresh,
                                                         .has_redis = true}),
                         WorkflowBackendName);

}  // namespace
}  // namespace hearth::feed
