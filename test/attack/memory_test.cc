// However many clients leave their answers unread, their requests unfinished or their bombs in the
// queue: the server stays within its memory, and everybody else is served.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "attack/attacker.h"
#include "http/gzip.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
using process::Serve;
using process::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;

constexpr size_t kMebibyte = 1024 * 1024;
constexpr size_t kMemoryMaxMib = 256;
// The budget, and what is not counted: the program itself, allocator overhead, RocksDB's tables.
constexpr size_t kResidentMibMax = kMemoryMaxMib + 192;

class MemoryAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Serve(folder_ / "data",
                    {"--memory-max-mib", std::to_string(kMemoryMaxMib), "--cache-mib", "32"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
  }

  // Somebody else works, often enough for the attack to unfold beside it.
  void ExpectOthersAreServed() {
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(process::Put(*other_, "other/d", std::to_string(i)), Status());
      const Result<std::string> read = process::Get(*other_, "other/d");
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      ASSERT_EQ(*read, std::to_string(i));
    }
    const Result<proto::ListDocumentsResponse> page = other_->List(ListRequest("other", 10));
    ASSERT_TRUE(page.ok()) << page.status().ToString();
  }

  void ExpectMemoryIsBounded() {
    const size_t resident_mib = server_->memory().own_kib / 1024;
    RecordProperty("resident_mib", static_cast<int>(resident_mib));
    EXPECT_LE(resident_mib, kResidentMibMax);
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
};

TEST_F(MemoryAttackTest, ListsThatNobodyReads) {
  Fill(*other_, "large", 30, 100'000);  // One page: 3 MB.
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port(), ReadsNothing()));
    for (int i = 0; i < 900; ++i)
      StartCall(*greedy.back(), "ListDocuments", ListRequest("large", 300));
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, QueriesThatNobodyReads) {
  Fill(*other_, "large", 30, 100'000);
  proto::RunQueryRequest everything = NumberQuery("large", 0);
  everything.mutable_structured_query()->clear_where();
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port(), ReadsNothing()));
    for (int i = 0; i < 900; ++i) StartCall(*greedy.back(), "RunQuery", everything);
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, UploadsThatDoNotEnd) {
  const std::string part(8 * kMebibyte, 'u');
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 16; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    TestHttp2Client& client = *greedy.back();
    for (int i = 0; i < 4; ++i) {
      const int32_t stream = client.OpenGrpc(support::MethodPath("Commit"));
      client.SendBody(stream, http::TestFrame(std::string(9 * kMebibyte, 'u')).substr(0, 5) + part);
      // Until it has been received or refused.
      while (client.unsent_bytes(stream) > 0 && !client.answer(stream).closed) {
        ASSERT_TRUE(client.RoundTrip());
      }
    }
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, ListenersThatNobodyReads) {
  Fill(*other_, "large", 30, 100'000);
  proto::ListenRequest listen;
  listen.set_database(support::kDatabase);
  proto::Target& target = *listen.mutable_add_target();
  target.set_target_id(1);
  target.mutable_query()->set_parent(std::string(support::kDatabase) + "/documents");
  target.mutable_query()->mutable_structured_query()->add_from()->set_collection_id("large");
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port(), ReadsNothing()));
    for (int i = 0; i < 500; ++i) {
      const int32_t stream = greedy.back()->OpenGrpc(support::MethodPath("Listen"));
      greedy.back()->SendBody(stream, Framed(listen));
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  Fill(*other_, "large", 30, 100'000);  // Changes for all of them.
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, Bombs) {
  const std::string bomb =
      http::TestFrame(http::Gzip(std::string(10 * kMebibyte, 'b')), /*compressed=*/true);
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    for (int i = 0; i < 300; ++i) {
      const int32_t stream =
          greedy.back()->OpenGrpc(support::MethodPath("Commit"), {{"grpc-encoding", "gzip"}});
      greedy.back()->SendBody(stream, bomb);
      greedy.back()->EndBody(stream);
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

}  // namespace
}  // namespace hearth::attack
