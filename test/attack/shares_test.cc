// However many places a client takes, others find one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attack/attacker.h"

namespace hearth::attack {
namespace {

using http::TestHttp2Client;

constexpr int kResourceExhausted = 8;

class SharesAttackTest : public testing::Test {
 protected:
  // Sends requests in large groups until `is_refused` is true of the answer to one of them. Returns
  // the number of those before it.
  template <typename Start, typename IsRefused>
  size_t TakeUntilRefused(TestHttp2Client& greedy, Start start, IsRefused is_refused) {
    constexpr size_t kGroup = 500;
    constexpr size_t kRequestsMax = 100'000;
    for (size_t taken = 0; taken < kRequestsMax; taken += kGroup) {
      std::vector<int32_t> streams;
      for (size_t i = 0; i < kGroup; ++i) streams.push_back(start(greedy));
      for (size_t i = 0; i < kGroup; ++i) {
        if (!greedy.UntilClosed(streams[i])) return 0;
        if (is_refused(greedy.answer(streams[i]))) return taken + i;
      }
    }
    ADD_FAILURE() << "one client may take as many as it likes";
    return 0;
  }

  const process::TemporaryFolder folder_;
  const std::unique_ptr<support::ServerProcess> server_ = process::Serve(folder_ / "data");
};

TEST_F(SharesAttackTest, Transactions) {
  proto::BeginTransactionRequest begin;
  begin.set_database(support::kDatabase);
  TestHttp2Client greedy(server_->port());
  const size_t taken = TakeUntilRefused(
      greedy, [&](TestHttp2Client& client) { return StartCall(client, "BeginTransaction", begin); },
      [](const http::TestAnswer& answer) { return answer.grpc_status() == kResourceExhausted; });
  EXPECT_GE(taken, 20'000u);

  TestHttp2Client other(server_->port());
  const int32_t stream = StartCall(other, "BeginTransaction", begin);
  ASSERT_TRUE(other.UntilClosed(stream));
  ASSERT_EQ(other.answer(stream).grpc_status(), 0);
  proto::BeginTransactionResponse begun;
  ASSERT_TRUE(begun.ParseFromString(other.answer(stream).messages().at(0)));
  proto::CommitRequest commit = process::PutRequest("other/d", "x");
  commit.set_transaction(begun.transaction());
  const int32_t committed = StartCall(other, "Commit", commit);
  ASSERT_TRUE(other.UntilClosed(committed));
  EXPECT_EQ(other.answer(committed).grpc_status(), 0);
}

TEST_F(SharesAttackTest, SessionsOfBrowsers) {
  const auto handshake = [](TestHttp2Client& client) {
    const int32_t stream =
        client.Open("POST", "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&CVER=22",
                    {{"content-type", "application/x-www-form-urlencoded"}});
    client.SendBody(stream, "count=0");
    client.EndBody(stream);
    return stream;
  };
  TestHttp2Client greedy(server_->port());
  const size_t taken = TakeUntilRefused(greedy, handshake, [](const http::TestAnswer& answer) {
    return answer.http_status() == 503;
  });
  EXPECT_GE(taken, 1'000u);

  TestHttp2Client other(server_->port());
  const int32_t stream = handshake(other);
  ASSERT_TRUE(other.UntilClosed(stream));
  EXPECT_EQ(other.answer(stream).http_status(), 200) << other.answer(stream).body;
}

}  // namespace
}  // namespace hearth::attack
