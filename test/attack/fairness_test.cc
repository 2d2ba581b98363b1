// However much work a client asks for: others are served in between, and work that nobody waits for
// any more ends.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "attack/attacker.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;
using process::Serve;
using process::TemporaryFolder;
using support::FirestoreClient;
using support::ServerProcess;

constexpr size_t kDocuments = 60'000;

class FairnessAttackTest : public testing::Test {
 protected:
  void SetUp() override {
    server_ = Serve(folder_ / "data", {"--cache-mib", "8"});
    other_ = std::make_unique<FirestoreClient>(server_->port());
  }

  double LongReads() const {
    return Metric(server_->port(), folder_ / "data", "hearth_long_reads");
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<FirestoreClient> other_;
};

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

TEST_F(FairnessAttackTest, AbandonedCountsEnd) {
  Fill(*other_, "c", kDocuments, 100);
  using Time = std::chrono::steady_clock::time_point;
  const auto now = [] { return std::chrono::steady_clock::now(); };
  TestHttp2Client greedy(server_->port());
  const auto start = [&] {
    std::vector<int32_t> counts;
    for (int i = 0; i < 16; ++i)
      counts.push_back(StartCall(greedy, "RunAggregationQuery", LongCount("c")));
    return counts;
  };
  const Time before = now();
  for (const int32_t stream : start()) ASSERT_TRUE(greedy.UntilClosed(stream));
  const auto whole = now() - before;

  const std::vector<int32_t> abandoned = start();
  ASSERT_TRUE(greedy.RoundTrip());
  while (LongReads() < 1) {
  }
  const Time left = now();
  for (const int32_t stream : abandoned) greedy.Reset(stream);
  greedy.Flush();
  while (LongReads() > 0) {
  }
  const double share = std::chrono::duration<double>(now() - left) / whole;
  RecordProperty("share_percent", static_cast<int>(100 * share));
  EXPECT_LT(share, 0.5);
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
  while (LongReads() < 1) {
  }
  sockets.clear();
  const auto left = std::chrono::steady_clock::now();
  while (LongReads() > 0) {
  }
  const auto ended = std::chrono::steady_clock::now() - left;
  const auto before = std::chrono::steady_clock::now();
  TestHttp2Client client(server_->port());
  ASSERT_TRUE(client.UntilClosed(StartCall(client, "RunAggregationQuery", LongCount("c"))));
  const auto one = std::chrono::steady_clock::now() - before;
  const double counts = std::chrono::duration<double>(ended) / one;
  RecordProperty("ended_within_counts", static_cast<int>(counts));
  EXPECT_LT(counts, 50);  // On two cores, all of them would take as long as 100.
}

TEST_F(FairnessAttackTest, AServerWithLongWorkStopsAtOnce) {
  Fill(*other_, "c", kDocuments, 100);
  TestHttp2Client greedy(server_->port());
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(greedy.UntilClosed(StartCall(greedy, "RunAggregationQuery", LongCount("c"))));
  const auto one = std::chrono::steady_clock::now() - before;
  for (int i = 0; i < 200; ++i) StartCall(greedy, "RunAggregationQuery", LongCount("c"));
  ASSERT_TRUE(greedy.RoundTrip());
  while (LongReads() < 1) {
  }
  greedy.socket().Close();
  const auto stop = std::chrono::steady_clock::now();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait().code, 0);
  const double counts =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - stop) / one;
  RecordProperty("stopped_within_counts", static_cast<int>(counts));
  EXPECT_LT(counts, 50);  // Of 200.
}

}  // namespace
}  // namespace hearth::attack
