// The client's contract, over the network to a Hearth of its own.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/contract_server.h"
#include "process/process.h"

namespace hearth::client {
namespace {

// One server for all tests.
class HearthServer final : public testing::Environment {
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

// GoogleTest owns it.
const HearthServer& Server() {
  static const auto* server = static_cast<HearthServer*>(
      testing::AddGlobalTestEnvironment(std::make_unique<HearthServer>().release()));
  return *server;
}

ContractBackend HearthBackend() {
  const auto fresh = [&server = Server()] { return FreshDatabase(server.address()); };
  return {"Hearth", fresh, false};
}

INSTANTIATE_TEST_SUITE_P(Remote, TransportContract, testing::Values(HearthBackend()), BackendName);

}  // namespace
}  // namespace hearth::client
