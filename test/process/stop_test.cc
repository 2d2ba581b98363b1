// SIGTERM and SIGINT: requests in progress finish, no new ones start, nothing is lost.
#include <signal.h>

#include "http/testing/test_http2_client.h"
#include "process/process.h"

namespace hearth::process {
namespace {

// A request whose second half is sent later: as slow as the test needs it to be.
class SlowCommit {
 public:
  SlowCommit(FirestoreClient& client, const proto::CommitRequest& request)
      : http_(client.http()), body_(http::TestFrame(request.SerializeAsString())) {
    stream_ = http_.OpenGrpc(support::MethodPath("Commit"), {{"authorization", "Bearer owner"}});
    http_.SendBody(stream_, body_.substr(0, body_.size() / 2));
    EXPECT_TRUE(http_.RoundTrip());  // The server has received the first half.
  }
  void SendRest() {
    http_.SendBody(stream_, body_.substr(body_.size() / 2));
    http_.EndBody(stream_);
  }
  // Its gRPC status; -1 if there was no answer.
  int Finish() {
    http_.UntilClosed(stream_);
    return http_.answer(stream_).grpc_status();
  }

 private:
  http::TestHttp2Client& http_;
  const std::string body_;
  int32_t stream_;
};

class Stop : public testing::TestWithParam<int> {};

TEST_P(Stop, ARequestUnderWayFinishesAndNewConnectionsAreRefused) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data");
  FirestoreClient client(server->port());
  ASSERT_TRUE(Put(client, "rooms/before", "there").ok());
  SlowCommit slow(client, PutRequest("rooms/slow", "finished"));

  server->Signal(GetParam());
  ASSERT_TRUE(WaitUntilRefused(server->port()));
  slow.SendRest();
  EXPECT_EQ(slow.Finish(), 0);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();

  const auto again = Serve(folder / "data");
  FirestoreClient reader(again->port());
  ExpectAll(reader, {{"rooms/before", "there"}, {"rooms/slow", "finished"}});
}

INSTANTIATE_TEST_SUITE_P(Signals, Stop, testing::Values(SIGTERM, SIGINT), [](const auto& signal) {
  return signal.param == SIGTERM ? "Sigterm" : "Sigint";
});

TEST(StopOnce, ACommitThatWaitsForATransactionIsAnswered) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data");
  FirestoreClient owner(server->port());
  FirestoreClient waiter(server->port());
  ASSERT_TRUE(Put(owner, "rooms/r1", "first").ok());

  proto::BatchGetDocumentsRequest read;
  read.set_database(support::kDatabase);
  read.add_documents(support::FullName("rooms/r1"));
  read.mutable_new_transaction()->mutable_read_write();
  const auto locked = owner.BatchGet(read);
  ASSERT_TRUE(locked.ok()) << locked.status().ToString();
  proto::CommitRequest end = PutRequest("rooms/r1", "by the transaction");
  end.set_transaction(locked->front().transaction());
  SlowCommit of_owner(owner, end);
  SlowCommit of_waiter(waiter, PutRequest("rooms/r1", "by the one who waited"));
  of_waiter.SendRest();
  ASSERT_TRUE(waiter.http().RoundTrip());

  server->Signal(SIGTERM);
  ASSERT_TRUE(WaitUntilRefused(server->port()));
  of_owner.SendRest();
  EXPECT_EQ(of_owner.Finish(), 0);
  EXPECT_EQ(of_waiter.Finish(), 0);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();

  const auto again = Serve(folder / "data");
  FirestoreClient reader(again->port());
  ExpectAll(reader, {{"rooms/r1", "by the one who waited"}});
}

TEST(StopOnce, DoesNotWaitForIdleConnectionsAndOpenTransactions) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--drain-seconds", "3600"});
  FirestoreClient idle(server->port());
  ASSERT_TRUE(Put(idle, "rooms/r1", "there").ok());
  proto::BatchGetDocumentsRequest read;
  read.set_database(support::kDatabase);
  read.add_documents(support::FullName("rooms/r1"));
  read.mutable_new_transaction()->mutable_read_write();
  ASSERT_TRUE(idle.BatchGet(read).ok());
  const http::TestSocket silent(server->port());

  server->Signal(SIGTERM);
  EXPECT_TRUE(idle.http().UntilConnectionEnds());
  EXPECT_TRUE(idle.http().goaway().has_value());
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();
}

TEST(StopOnce, ARequestThatNeverFinishesIsGivenUp) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--drain-seconds", "1"});
  FirestoreClient client(server->port());
  SlowCommit slow(client, PutRequest("rooms/slow", "never"));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait().code, 0) << server->Stderr();
  EXPECT_NE(slow.Finish(), 0);

  const auto again = Serve(folder / "data");
  FirestoreClient reader(again->port());
  EXPECT_EQ(Get(reader, "rooms/slow").status().code(), Code::kNotFound);
}

TEST(StopOnce, ASecondSignalEndsItAtOnce) {
  const TemporaryFolder folder;
  const auto server = Serve(folder / "data", {"--drain-seconds", "3600"});
  FirestoreClient client(server->port());
  ASSERT_TRUE(Put(client, "rooms/before", "there").ok());
  SlowCommit slow(client, PutRequest("rooms/slow", "never"));
  server->Signal(SIGTERM);
  ASSERT_TRUE(WaitUntilRefused(server->port()));
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait().signal, SIGTERM);

  const auto again = Serve(folder / "data");
  FirestoreClient reader(again->port());
  ExpectAll(reader, {{"rooms/before", "there"}});
  EXPECT_EQ(Get(reader, "rooms/slow").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace hearth::process
