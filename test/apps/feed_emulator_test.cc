// The photo feed, with its database over the network.
#include <gtest/gtest.h>

#include "apps/feed/testing/feed_test.h"
#include "apps/feed/testing/workflow_test.h"
#include "client/servers.h"

namespace hearth::feed {
namespace {

INSTANTIATE_TEST_SUITE_P(Remote, FeedTest, testing::Values(client::EmulatorServer()),
                         client::BackendName);

INSTANTIATE_TEST_SUITE_P(Remote, WorkflowTest,
                         testing::Values(WorkflowBackend{.name = "CacheInProcess",
                                                         .fresh = client::EmulatorServer().fresh}),
                         WorkflowBackendName);

}  // namespace
}  // namespace hearth::feed
