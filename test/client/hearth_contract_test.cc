// The client's contract, over the network to a separate Hearth process.
#include <gtest/gtest.h>

#include "client/servers.h"

namespace hearth::client {
namespace {

INSTANTIATE_TEST_SUITE_P(Remote, TransportContract, testing::Values(HearthServer()), BackendName);

}  // namespace
}  // namespace hearth::client
