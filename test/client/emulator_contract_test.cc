// The client's contract, over the network to the official emulator: what the client promises is
// what Firestore does. Skipped where the emulator is not installed.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "client/contract_server.h"
#include "support/server_process.h"

namespace hearth::client {
namespace {

constexpr int kNotInstalled = 3;

// A port that was free a moment ago: the emulator cannot choose one and say which.
uint16_t FreePort() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(descriptor >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CHECK(bind(descriptor, generic, size) == 0);
  CHECK(getsockname(descriptor, generic, &size) == 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

// One emulator for all tests; it takes seconds to start.
class Emulator final : public testing::Environment {
 public:
  void SetUp() override {
    support::ServerProcess check(HEARTH_EMULATOR, {"--check"});
    if (check.Wait().code == kNotInstalled) {
      GTEST_SKIP() << "the official emulator is not installed here";
    }
    const std::string port = std::to_string(FreePort());
    process_ = std::make_unique<support::ServerProcess>(HEARTH_EMULATOR, std::vector{port});
    address_ = "127.0.0.1:" + port;
    const auto ready = FreshDatabase(address_).ListCollections();
    ASSERT_TRUE(ready.ok()) << ready.status().ToString() << process_->Stderr();
  }
  void TearDown() override { process_.reset(); }
  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<support::ServerProcess> process_;
  std::string address_;
};

// Where the emulator does something else than Firestore in the cloud, and Hearth with it.
struct Difference {
  std::string_view test;
  const char* why;
};
constexpr Difference kDifferences[] = {
    {"GetAllAtAnEarlierMoment", "the emulator also reads moments that are more than an hour ago"},
    {"UpdateWantsADocument", "the emulator words its message in another way"},
};

void SkipWhereTheEmulatorDiffers() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  for (const Difference& difference : kDifferences) {
    if (name.substr(0, name.find('/')) == difference.test) GTEST_SKIP() << difference.why;
  }
}

// GoogleTest owns it.
const Emulator& TheEmulator() {
  static const auto* emulator = static_cast<Emulator*>(
      testing::AddGlobalTestEnvironment(std::make_unique<Emulator>().release()));
  return *emulator;
}

ContractBackend EmulatorBackend() {
  const auto fresh = [&emulator = TheEmulator()] {
    SkipWhereTheEmulatorDiffers();
    return FreshDatabase(emulator.address());
  };
  return {"Emulator", fresh, false};
}

INSTANTIATE_TEST_SUITE_P(Remote, TransportContract, testing::Values(EmulatorBackend()),
                         BackendName);

}  // namespace
}  // namespace hearth::client
