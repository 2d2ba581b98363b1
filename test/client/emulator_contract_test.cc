// The client's contract, over the network to the official emulator: checks that what the client
// promises is what Firestore does.
#include <gtest/gtest.h>

#include "client/servers.h"

namespace hearth::client {
namespace {

INSTANTIATE_TEST_SUITE_P(Remote, TransportContract, testing::Values(EmulatorServer()), BackendName);

}  // namespace
}  // namespace hearth::client
