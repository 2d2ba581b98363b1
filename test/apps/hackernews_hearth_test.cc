// The Hacker News reader, with its database over the network.
#include <gtest/gtest.h>

#include "apps/hackernews/testing/reader_test.h"
#include "client/servers.h"

namespace hearth::hackernews {
namespace {

INSTANTIATE_TEST_SUITE_P(Remote, ReaderTest, testing::Values(client::HearthServer()),
                         client::BackendName);

}  // namespace
}  // namespace hearth::hackernews
