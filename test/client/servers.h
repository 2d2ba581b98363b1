// For tests: databases in other processes. One process for all tests of a program, from its first
// test to its last; each test gets its own database.
#pragma once

#include "client/testing/transport_contract.h"

namespace hearth::client {

ContractBackend HearthServer();
// If it is not installed, the tests are skipped.
ContractBackend EmulatorServer();

}  // namespace hearth::client
