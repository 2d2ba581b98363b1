// However many clients leave their answers unread, their requests unfinished or their bombs in the
// queue: the server stays within its memory, and everybody else is served.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
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
constexpr size_t kPeakMibMax = kMemoryMaxMib + 192;

// At its worst moment, too.
void ExpectMemoryIsBounded(const ServerProcess& server) {
  const size_t peak_mib = server.peak_own_kib() / 1024;
  testing::Test::RecordProperty("peak_mib", static_cast<int>(peak_mib));
  EXPECT_LE(peak_mib, kPeakMibMax);
}

class MemoryAttackTest : public testing::Test {
 protected:
  void SetUp() override { Start("none"); }

  void Start(const std::string& apps) {
    server_ = Serve(folder_ / "data", {"--memory-max-mib", std::to_string(kMemoryMaxMib),
                                       "--cache-mib", std::to_string(kCacheMib), "--apps", apps});
    other_ = std::make_unique<FirestoreClient>(server_->port());
    server_->ForgetPeakMemory();
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

  void ExpectMemoryIsBounded() { attack::ExpectMemoryIsBounded(*server_); }

  static constexpr size_t kCacheMib = 32;

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
};

TEST_F(MemoryAttackTest, TheCachesArePartOfTheBudget) {
  const double claimed = Metric(server_->port(), folder_ / "data", "hearth_memory_claimed_bytes");
  EXPECT_GE(claimed, static_cast<double>(kCacheMib * kMebibyte));
}

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

// Fields that are in the table of a connection cost a byte each, and kilobytes in the server.
TEST_F(MemoryAttackTest, StreamsWithLargeHeadsThatStaySilent) {
  const std::string value(4'000, 'h');
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 60; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    ASSERT_TRUE(greedy.back()->RoundTrip());
    for (int i = 0; i < 900; ++i) {
      greedy.back()->OpenGrpc(support::MethodPath("Listen"),
                              {{"x", value}, {"x", value}, {"x", value}});
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

// A connection that stays open must not keep the memory of its largest answer.
TEST_F(MemoryAttackTest, LargePagesOnConnectionsThatStayOpen) {
  Fill(*other_, "large", 30, 100'000);
  const std::string request = "GET /v1/" + std::string(support::kDatabase) +
                              "/documents/large?pageSize=30 HTTP/1.1\r\nhost: localhost\r\n\r\n";
  std::vector<std::unique_ptr<http::TestSocket>> greedy;
  for (int connection = 0; connection < 200; ++connection) {
    greedy.push_back(std::make_unique<http::TestSocket>(server_->port()));
    greedy.back()->Send(request);
    ASSERT_EQ(greedy.back()->ReadExactly(3'000'000).size(), 3'000'000u);
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

std::string Repeated(std::string_view part, size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::string Bomb(const std::string& message) {
  return http::TestFrame(http::Gzip(message), /*compressed=*/true);
}

TEST_F(MemoryAttackTest, Bombs) {
  // An empty write is two bytes, and an object of a hundred.
  constexpr std::string_view kEmptyWrite("\x12\x00", 2);
  const std::string huge = Bomb(Repeated(kEmptyWrite, 5 * kMebibyte));
  const std::string large = Bomb(Repeated(kEmptyWrite, kMebibyte / 4));
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  std::vector<std::pair<TestHttp2Client*, int32_t>> streams;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    for (int i = 0; i < 16; ++i) {
      const int32_t stream =
          greedy.back()->OpenGrpc(support::MethodPath("Commit"), {{"grpc-encoding", "gzip"}});
      greedy.back()->SendBody(stream, i % 4 == 0 ? huge : large);
      greedy.back()->EndBody(stream);
      streams.emplace_back(greedy.back().get(), stream);
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  for (const auto& [client, stream] : streams) ASSERT_TRUE(client->UntilClosed(stream));
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, BombsForListeners) {
  proto::ListenRequest listen;
  listen.set_database(support::kDatabase);
  proto::Target& target = *listen.mutable_add_target();
  target.set_target_id(1);
  const std::string name = support::FullName("c/d");
  while (static_cast<size_t>(target.documents().documents_size()) * name.size() < 9 * kMebibyte) {
    target.mutable_documents()->add_documents(name);
  }
  const std::string bomb = Bomb(listen.SerializeAsString());
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  std::vector<std::pair<TestHttp2Client*, int32_t>> streams;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    for (int i = 0; i < 12; ++i) {
      const int32_t stream =
          greedy.back()->OpenGrpc(support::MethodPath("Listen"), {{"grpc-encoding", "gzip"}});
      greedy.back()->SendBody(stream, bomb);
      streams.emplace_back(greedy.back().get(), stream);
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  for (const auto& [client, stream] : streams) {
    const http::TestAnswer& answer = client->answer(stream);
    ASSERT_TRUE(client->Until([&] { return answer.closed || !answer.body.empty(); }));
  }
  ExpectMemoryIsBounded();
}

TEST_F(MemoryAttackTest, EmptyObjectsInChannels) {
  const std::string body =
      "count=1&ofs=0&req0___data__={\"writes\":[{}" + Repeated(",{}", 6 * kMebibyte) + "]}";
  const std::string request =
      "POST /google.firestore.v1.Firestore/Write/channel?VER=8&RID=1 HTTP/1.1\r\n"
      "host: localhost\r\ncontent-length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  std::vector<std::unique_ptr<http::TestSocket>> greedy;
  for (int connection = 0; connection < 8; ++connection) {
    greedy.push_back(std::make_unique<http::TestSocket>(server_->port()));
    greedy.back()->Send(request);
  }
  for (const auto& socket : greedy) {
    EXPECT_EQ(socket->ReadUntil("\r\n\r\n").substr(0, 9), "HTTP/1.1 ");
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

// A null counts as one byte of a document. In JSON, each is on three lines, with 40 levels of
// indentation.
TEST_F(MemoryAttackTest, NullsAsJson) {
  proto::CommitRequest commit;
  commit.set_database(support::kDatabase);
  proto::Document& document = *commit.add_writes()->mutable_update();
  document.set_name(support::FullName("c/nulls"));
  proto::Value* value = &(*document.mutable_fields())["m"];
  for (int depth = 0; depth < 9; ++depth) {
    value = value->mutable_array_value()->add_values();
    value = &(*value->mutable_map_value()->mutable_fields())["m"];
  }
  for (int i = 0; i < 1'000'000; ++i)
    value->mutable_array_value()->add_values()->set_null_value({});
  const Status committed = other_->Commit(commit).status();
  ASSERT_TRUE(committed.ok()) << committed.ToString();
  const std::string path = "/v1/" + support::FullName("c/nulls");
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  std::vector<std::vector<int32_t>> streams;
  for (int connection = 0; connection < 4; ++connection) {
    greedy.push_back(std::make_unique<TestHttp2Client>(server_->port()));
    streams.emplace_back();
    for (int i = 0; i < 2; ++i) {
      streams.back().push_back(greedy.back()->Open("GET", path, {}));
      greedy.back()->EndBody(streams.back().back());
    }
    greedy.back()->Flush();
  }
  ExpectOthersAreServed();
  size_t answered = 0;
  for (size_t connection = 0; connection < greedy.size(); ++connection) {
    for (const int32_t stream : streams[connection]) {
      ASSERT_TRUE(greedy[connection]->UntilClosed(stream));
      const http::TestAnswer& answer = greedy[connection]->answer(stream);
      if (answer.http_status() != 200) continue;
      ++answered;
      EXPECT_LT(answer.body.size(), 25 * kMebibyte);
    }
  }
  EXPECT_GE(answered, 1u);
  ExpectMemoryIsBounded();
}

class SandboxPortAttackTest : public MemoryAttackTest {
 protected:
  void SetUp() override { Start("hackernews"); }
};

// Without the token, an answer says no more than that. It still holds its request until it is read.
TEST_F(SandboxPortAttackTest, RefusalsThatNobodyReads) {
  const std::string value(4'000, 'h');
  const uint16_t sandbox = process::SandboxPort(*server_);
  std::vector<std::unique_ptr<TestHttp2Client>> greedy;
  for (int connection = 0; connection < 40; ++connection) {  // The application needs a few, too.
    greedy.push_back(std::make_unique<TestHttp2Client>(sandbox, ReadsNothing()));
    ASSERT_TRUE(greedy.back()->RoundTrip());
    for (int i = 0; i < 950; ++i) {
      greedy.back()->Open("POST", "/0123456789abcdef/control/faults",
                          {{"x", value}, {"x", value}, {"x", value}});
    }
    ASSERT_TRUE(greedy.back()->RoundTrip());
  }
  ExpectOthersAreServed();
  ExpectMemoryIsBounded();
}

// The sandbox in its own process, whose token is known.
class SandboxAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("HEARTH_SANDBOX_TOKEN", kToken, 1);
    sandbox_ = process::RunHearth(
        {"sandbox", "--listen", "127.0.0.1:0", "--memory-max-mib", std::to_string(kMemoryMaxMib)});
    unsetenv("HEARTH_SANDBOX_TOKEN");
    ASSERT_TRUE(sandbox_->WaitUntilListening()) << sandbox_->Stderr();
    sandbox_->ForgetPeakMemory();
  }

  // Uploads that are almost as long as they may be, and do not end.
  void Upload(const std::string& token) {
    const std::string part(kMebibyte - 1, 'u');
    for (int connection = 0; connection < 12; ++connection) {
      greedy_.push_back(std::make_unique<TestHttp2Client>(sandbox_->port()));
      TestHttp2Client& client = *greedy_.back();
      for (int i = 0; i < 50; ++i) {
        const int32_t stream = client.Open("POST", "/" + token + "/hn-site/login", {});
        client.SendBody(stream, part);
        while (client.unsent_bytes(stream) > 0 && !client.answer(stream).closed) {
          ASSERT_TRUE(client.RoundTrip());
        }
      }
    }
  }

  void ExpectOthersAreServed() {
    for (int i = 0; i < 50; ++i) {
      TestHttp2Client other(sandbox_->port());
      const std::string path = std::string("/") + kToken + "/hn/v0/newstories.json";
      ASSERT_EQ(other.Get(path).http_status(), 200);
    }
  }

  static constexpr const char* kToken = "0123456789abcdef";

  std::unique_ptr<ServerProcess> sandbox_;
  std::vector<std::unique_ptr<TestHttp2Client>> greedy_;
};

TEST_F(SandboxAttackTest, UploadsOfStrangersThatDoNotEnd) {
  Upload("fedcba9876543210");
  ExpectOthersAreServed();
  ExpectMemoryIsBounded(*sandbox_);
  for (const auto& client : greedy_) EXPECT_EQ(client->answer(1).http_status(), 404);
}

TEST_F(SandboxAttackTest, UploadsWithTheTokenThatDoNotEnd) {
  Upload(kToken);
  ExpectOthersAreServed();
  ExpectMemoryIsBounded(*sandbox_);
}

}  // namespace
}  // namespace hearth::attack
