#include "client/servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "client/remote.h"
#include "process/process.h"
#include "support/server_process.h"

namespace hearth::client {
namespace {

// An empty database behind a server: one of a project that nobody has named before.
Firestore FreshDatabase(const std::string& address) {
  static int projects = 0;
  RemoteOptions options;
  options.address = address;
  options.project = "contract-" + std::to_string(++projects);
  // A server that is still starting is waited for.
  options.attempts_max = 20;
  Result<Firestore> database = Connect(options);
  EXPECT_TRUE(database.ok()) << database.status().ToString();
  return *std::move(database);
}

// One server for all tests.
class Hearth final : public testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<storage::TemporaryFolder>();
    server_ = process::Serve(folder_->path());
    ASSERT_NE(server_, nullptr);
    address_ = "127.0.0.1:" + std::to_string(server_->port());
  }
  void TearDown() override {
    server_.reset();
    folder_.reset();
  }
  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<storage::TemporaryFolder> folder_;
  std::unique_ptr<support::ServerProcess> server_;
  std::string address_;
};

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
};

void SkipWhereTheEmulatorDiffers() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  for (const Difference& difference : kDifferences) {
    if (name.substr(0, name.find('/')) == difference.test) GTEST_SKIP() << difference.why;
  }
}

// GoogleTest owns it.
template <typename Server>
const Server& Start() {
  static const auto* server =
      static_cast<Server*>(testing::AddGlobalTestEnvironment(std::make_unique<Server>().release()));
  return *server;
}

template <typename Server>
ContractBackend BackendOf(std::string name) {
  const auto fresh = [&server = Start<Server>()] { return FreshDatabase(server.address()); };
  return {std::move(name), fresh, false};
}

}  // namespace

ContractBackend HearthServer() { return BackendOf<Hearth>("Hearth"); }

ContractBackend EmulatorServer() {
  ContractBackend backend = BackendOf<Emulator>("Emulator");
  backend.fresh = [fresh = backend.fresh] {
    SkipWhereTheEmulatorDiffers();
    return fresh();
  };
  return backend;
}

}  // namespace hearth::client
