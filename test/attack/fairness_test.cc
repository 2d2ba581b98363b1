// However much work a client asks for: others are served in between, and work that nobody waits for
// any more ends.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "attack/long_work.h"
#include "http/gzip.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
class FairnessAttackTest : public LongWorkTest {};

TEST_F(FairnessAttackTest, SmallReadsAreAnsweredBesideLongCounts) {
  Fill(*other_, "c", kDocuments, 100);
  const auto query = [&] {
    const http::TestAnswer answer =
        other_->http().CallRaw(support::MethodPath("RunQuery"), Framed(NumberQuery("c", 17)));
    return answer.grpc_status();
  };
  // So that the query has its index, which the count does not use.
  ASSERT_EQ(query(), 0);
  ASSERT_EQ(query(), 0);

  TestHttp2Client greedy(server_->port());
  std::vector<int32_t> counts;
  for (int i = 0; i < 32; ++i)
    counts.push_back(StartCall(greedy, "RunAggregationQuery", LongCount("c")));
  ASSERT_TRUE(greedy.RoundTrip());
  for (size_t i = 0; i < 20; ++i) {
    // Too many for the cache, so that most have to be read from the disk.
    ASSERT_TRUE(process::Get(*other_, "c/" + std::to_string(i * (kDocuments / 20))).ok());
    ASSERT_EQ(query(), 0);
  }
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, counts), counts.size() / 2) << "the counts were too quick to tell";
  for (const int32_t stream : counts) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    EXPECT_EQ(greedy.answer(stream).grpc_status(), 0);
  }
}

TEST_F(FairnessAttackTest, ALightWriterIsNotBehindAHeavyOne) {
  TestHttp2Client greedy(server_->port());
  std::vector<int32_t> commits;
  for (int i = 0; i < 900; ++i) {
    proto::BatchWriteRequest request;
    request.set_database(support::kDatabase);
    for (int k = 0; k < 20; ++k) {
      request.add_writes()->set_delete_(support::FullName("gone/" + std::to_string(i * 20 + k)));
      proto::Document& document = *request.add_writes()->mutable_update();
      document.set_name(support::FullName("h/" + std::to_string(i * 20 + k)));
      (*document.mutable_fields())["text"].set_string_value(std::string(500, 'h'));
    }
    commits.push_back(StartCall(greedy, "BatchWrite", request));
  }
  ASSERT_TRUE(greedy.RoundTrip());
  for (int i = 0; i < 5; ++i) ASSERT_EQ(process::Put(*other_, "light/d", "x"), Status());
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, commits), commits.size() / 2) << "the commits were too quick to tell";
  for (const int32_t stream : commits) ASSERT_TRUE(greedy.UntilClosed(stream));
}

// Inflating and parsing them takes long; it must not be done where others are answered.
TEST_F(FairnessAttackTest, SmallReadsAreAnsweredBesideBombs) {
  ASSERT_EQ(process::Put(*other_, "light/d", "x"), Status());
  proto::CommitRequest commit = process::PutRequest("c/d", std::string(10'000'000, 'x'));
  const std::string bomb =
      http::TestFrame(http::Gzip(commit.SerializeAsString()), /*compressed=*/true);
  ASSERT_LT(bomb.size(), 20'000u);
  TestHttp2Client greedy(server_->port());
  std::vector<int32_t> bombs;
  for (int i = 0; i < 60; ++i) {
    bombs.push_back(greedy.OpenGrpc(support::MethodPath("Commit"), {{"grpc-encoding", "gzip"}}));
    greedy.SendBody(bombs.back(), bomb);
    greedy.EndBody(bombs.back());
  }
  ASSERT_TRUE(greedy.RoundTrip());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(process::Get(*other_, "light/d").ok());
  ASSERT_TRUE(greedy.RoundTrip());
  EXPECT_LT(Finished(greedy, bombs), bombs.size() / 2) << "the bombs were too quick to tell";
  for (const int32_t stream : bombs) {
    ASSERT_TRUE(greedy.UntilClosed(stream));
    EXPECT_NE(greedy.answer(stream).grpc_status(), 0);
  }
}

TEST_F(FairnessAttackTest, AbandonedCountsEnd) {
  Fill(*other_, "c", kDocuments, 100);
  ExpectAbandonedEnd("RunAggregationQuery", LongCount("c"));
}

TEST_F(FairnessAttackTest, CountsAbandonedByClientsOfHttp1End) {
  Fill(*other_, "c", kDocuments, 100);
  std::string body;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(LongCount("c"), &body).ok());
  std::vector<std::unique_ptr<http::TestSocket>> sockets;
  for (int i = 0; i < 200; ++i) {
    sockets.push_back(std::make_unique<http::TestSocket>(server_->port()));
    sockets.back()->Send("POST /v1/" + std::string(support::kDatabase) +
                         "/documents:runAggregationQuery HTTP/1.1\r\nhost: localhost\r\n" +
                         "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  AwaitLongReads([&] {
    return std::ranges::all_of(sockets, [](const auto& socket) { return socket->readable(); });
  });
  auto before = server_->cpu_time();
  sockets.clear();
  AwaitNoLongReads();
  const auto ended = server_->cpu_time() - before;
  before = server_->cpu_time();
  TestHttp2Client client(server_->port());
  ASSERT_TRUE(client.UntilClosed(StartCall(client, "RunAggregationQuery", LongCount("c"))));
  const auto one = server_->cpu_time() - before;
  const double counts = std::chrono::duration<double>(ended) / one;
  RecordProperty("ended_within_counts", static_cast<int>(counts));
  EXPECT_LT(counts, 50);  // Of 200.
}

TEST_F(FairnessAttackTest, AServerWithLongWorkStopsAtOnce) {
  Fill(*other_, "c", kDocuments, 100);
  TestHttp2Client greedy(server_->port());
  const auto before = server_->cpu_time();
  ASSERT_TRUE(greedy.UntilClosed(StartCall(greedy, "RunAggregationQuery", LongCount("c"))));
  const auto one = server_->cpu_time() - before;
  std::vector<int32_t> counts;
  for (int i = 0; i < 200; ++i) {
    counts.push_back(StartCall(greedy, "RunAggregationQuery", LongCount("c")));
  }
  AwaitLongReads([&] { return !greedy.RoundTrip() || Finished(greedy, counts) == counts.size(); });
  const auto stop = server_->cpu_time();
  greedy.socket().Close();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait().code, 0);
  const double worth = std::chrono::duration<double>(server_->cpu_time() - stop) / one;
  RecordProperty("stopped_within_counts", static_cast<int>(worth));
  EXPECT_LT(worth, 50);  // Of 200.
}

}  // namespace
}  // namespace hearth::attack
