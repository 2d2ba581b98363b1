// The endpoints on a database in this process.
#include <gtest/gtest.h>

#include "apps/feed/testing/feed_test.h"
#include "client/embedded/testing/embedded_database.h"

namespace hearth::feed {
namespace {

INSTANTIATE_TEST_SUITE_P(Embedded, FeedTest,
                         testing::Values(client::ContractBackend{
                             .name = "Embedded", .fresh = client::FreshTestDatabase}),
                         client::BackendName);

}  // namespace
}  // namespace hearth::feed
