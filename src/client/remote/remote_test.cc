#include "client/remote/remote.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace hearth::client {
namespace {

class ConnectTest : public testing::Test {
 protected:
  ConnectTest() {
    unsetenv("FIRESTORE_EMULATOR_HOST");
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
    options_.address = "127.0.0.1:1";
    options_.project = "p";
  }
  Code CodeOf() const { return Connect(options_).status().code(); }

  RemoteOptions options_;
};

TEST_F(ConnectTest, AddressesAreHostAndPort) {
  for (const char* address : {"localhost:8080", "127.0.0.1:1", "[::1]:65535", "a-b.example:443"}) {
    options_.address = address;
    EXPECT_EQ(CodeOf(), Code::kOk) << address;
  }
  for (const char* address : {"localhost", "localhost:", ":8080", "localhost:0", "localhost:65536",
                              "http://localhost:80", "user@host:80", "host/path:80", "::1:80",
                              "[]:80", "localhost:80x", "localhost:-1", "a b:80"}) {
    options_.address = address;
    EXPECT_EQ(CodeOf(), Code::kInvalidArgument) << address;
  }
}

TEST_F(ConnectTest, NamesAreChecked) {
  options_.project = "";
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  options_.project = "a/b";
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  options_.project = "p";
  options_.database = "";
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  options_.database = "other";
  const Result<Firestore> database = Connect(options_);
  ASSERT_TRUE(database.ok());
  EXPECT_EQ(database->Doc("rooms/r1").name(), "projects/p/databases/other/documents/rooms/r1");
}

TEST_F(ConnectTest, TheEnvironmentNamesAnEmulator) {
  options_.address.clear();
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);  // Google without a key.
  setenv("FIRESTORE_EMULATOR_HOST", "localhost:8080", 1);
  EXPECT_EQ(CodeOf(), Code::kOk);
  setenv("FIRESTORE_EMULATOR_HOST", "nonsense", 1);
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  unsetenv("FIRESTORE_EMULATOR_HOST");
}

TEST_F(ConnectTest, AKeyMustBeThere) {
  options_.service_account_key = "/no/such/key.json";
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  options_.service_account_key.clear();
  setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/key.json", 1);
  EXPECT_EQ(CodeOf(), Code::kOk);  // Only Google requires one.
  options_.address.clear();
  const Status status = Connect(options_).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("/no/such/key.json"), std::string::npos);
  unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
}

TEST_F(ConnectTest, ATokenCannotEndItsHeader) {
  options_.bearer_token = "0123abcDEF-._~+/=";
  EXPECT_EQ(CodeOf(), Code::kOk);
  for (const char* token : {"a b", "a\r\nx: y", "a,b", "\xC3\xA9"}) {
    options_.bearer_token = token;
    EXPECT_EQ(CodeOf(), Code::kInvalidArgument) << token;
  }
}

TEST_F(ConnectTest, LimitsArePositive) {
  options_.connections_max = 0;
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  options_.connections_max = 1;
  options_.timeout = std::chrono::milliseconds(0);
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hearth::client
