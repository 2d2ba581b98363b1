#include "client/servers.h"

#include <memory>
#include <string>
#include <utility>

#include "client/remote/remote.h"
#include "process/process.h"
#include "support/official_emulator.h"
#include "support/server_process.h"

namespace hearth::client {
namespace {

// An empty database on a server: that of a project that was never used before.
Firestore FreshDatabase(const std::string& address) {
  static int projects = 0;
  RemoteOptions options;
  options.address = address;
  options.project = "contract-" + std::to_string(++projects);
  // Waits for a server that is still starting.
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

// One emulator for all tests; it takes seconds to start.
class Emulator final : public testing::Environment {
 public:
  void SetUp() override {
    Result<std::unique_ptr<support::OfficialEmulator>> started = support::OfficialEmulator::Start();
    if (started.status().code() == Code::kNotFound) GTEST_SKIP() << started.status().message();
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    emulator_ = *std::move(started);
    address_ = "127.0.0.1:" + std::to_string(emulator_->port());
    const auto ready = FreshDatabase(address_).ListCollections();
    ASSERT_TRUE(ready.ok()) << ready.status().ToString() << emulator_->Stderr();
  }
  void TearDown() override { emulator_.reset(); }
  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<support::OfficialEmulator> emulator_;
  std::string address_;
};

// Where the emulator differs from Firestore in the cloud and from Hearth.
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

// Owned by GoogleTest.
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
