// Clients that hold many connections do not take the descriptors that storage needs.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/testing/test_socket.h"
#include "process/process.h"

namespace hearth::process {
namespace {

constexpr size_t kFilesMax = 320;
constexpr size_t kCrowd = 500;
constexpr size_t kFilesWithAppsMax = 768;
constexpr size_t kCrowdAtTheSandbox = 900;

// Enough to begin new logs and to write tables.
void ExpectStorageHasItsFiles(FirestoreClient& client, const ServerProcess& server) {
  Texts texts;
  for (int i = 0; i < 50; ++i) {
    const std::string path = "rooms/r" + std::to_string(i);
    texts[path] = std::string(900'000, static_cast<char>('a' + i % 26));
    const Status put = Put(client, path, texts[path]);
    ASSERT_TRUE(put.ok()) << put.ToString() << "\n" << server.Stderr();
  }
  ExpectAll(client, texts);
}

TEST(FileLimit, IdleConnectionsLeaveStorageItsFiles) {
  const TemporaryFolder folder;
  const auto server = TryToServeWithFiles(folder / "data", kFilesMax);
  ASSERT_TRUE(server->WaitUntilListening()) << server->Stderr();
  FirestoreClient client(server->port());
  ASSERT_TRUE(Put(client, "rooms/r1", "hello").ok());
  std::vector<std::unique_ptr<http::TestSocket>> crowd;
  for (size_t i = 0; i < kCrowd; ++i) {
    crowd.push_back(std::make_unique<http::TestSocket>(server->port()));
    ASSERT_TRUE(crowd.back()->connected());
  }
  EXPECT_EQ(crowd.back()->ReadSome(), "");  // Refused. All earlier ones have been handled, too.

  ExpectStorageHasItsFiles(client, *server);
  EXPECT_NE(server->Stderr().find("fewer connections than configured"), std::string::npos);
  crowd.clear();
}

TEST(FileLimit, IdleConnectionsToTheSandboxLeaveOthersTheirFiles) {
  const TemporaryFolder folder;
  const auto server =
      TryToServeWithFiles(folder / "data", kFilesWithAppsMax, {"--apps", "hackernews"});
  ASSERT_TRUE(server->WaitUntilListening()) << server->Stderr();
  const uint16_t sandbox = SandboxPort(*server);
  std::vector<std::unique_ptr<http::TestSocket>> crowd;
  for (size_t i = 0; i < kCrowdAtTheSandbox; ++i) {
    crowd.push_back(std::make_unique<http::TestSocket>(sandbox));
    ASSERT_TRUE(crowd.back()->connected());
  }
  // Once the last one is answered or refused, the earlier ones have been handled, too; unless the
  // process has run out of descriptors.
  constexpr std::string_view kNoDescriptors = "accepting a connection failed";
  crowd.back()->Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (!crowd.back()->readable()) {
    ASSERT_EQ(server->Stderr().find(kNoDescriptors), std::string::npos) << server->Stderr();
  }

  FirestoreClient newcomer(server->port());
  ExpectStorageHasItsFiles(newcomer, *server);
  // The application still gets an answer, too.
  http::TestSocket reader(server->port());
  reader.Send("GET /apps/hackernews/sandbox/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(reader.ReadUntil("\r\n"), "HTTP/1.1 200 OK\r\n");
}

TEST(FileLimit, ThatIsFarTooLowIsRefused) {
  const TemporaryFolder folder;
  const auto server = TryToServeWithFiles(folder / "data", 64);
  ExpectRefusal(*server, "the limit of 64 open files is too low");
}

}  // namespace
}  // namespace hearth::process
