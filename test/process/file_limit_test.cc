// Clients that hold many connections do not take the descriptors that storage needs.
#include <memory>
#include <vector>

#include "http/testing/test_socket.h"
#include "process/process.h"

namespace hearth::process {
namespace {

constexpr size_t kFilesMax = 320;
constexpr size_t kCrowd = 500;

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

  // Enough to begin new logs and to write tables.
  Texts texts;
  for (int i = 0; i < 50; ++i) {
    const std::string path = "rooms/r" + std::to_string(i);
    texts[path] = std::string(900'000, static_cast<char>('a' + i % 26));
    const Status put = Put(client, path, texts[path]);
    ASSERT_TRUE(put.ok()) << put.ToString() << "\n" << server->Stderr();
  }
  ExpectAll(client, texts);
  EXPECT_NE(server->Stderr().find("fewer connections than configured"), std::string::npos);
  crowd.clear();
}

TEST(FileLimit, ThatIsFarTooLowIsRefused) {
  const TemporaryFolder folder;
  const auto server = TryToServeWithFiles(folder / "data", 64);
  ExpectRefusal(*server, "the limit of 64 open files is too low");
}

}  // namespace
}  // namespace hearth::process
