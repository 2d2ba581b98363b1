#include "client/remote/remote_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/remote/grpc_answer.h"
#include "client/scripted_service.h"
#include "google/firestore/v1/firestore.pb.h"

namespace hearth::client {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
namespace proto = ::google::firestore::v1;

constexpr char kDatabase[] = "projects/a:b/databases/(default)";

void Answer(http::Exchange& exchange, const std::vector<std::string>& messages) {
  SendGrpcHead(exchange);
  for (const std::string& message : messages) exchange.SendBody(GrpcFrame(message));
  FinishGrpc(exchange);
}

class RemoteTransportTest : public testing::Test {
 protected:
  RemoteTransportTest() : server_(std::make_unique<ScriptedServer>(service_)) {
    RemoteTransport::Options options{*model::DatabaseName::Parse(kDatabase), {}, 5, {}, {}};
    options.channel.server.address = server_->address();
    options.channel.timeout = std::chrono::seconds(20);
    options.authorization = [this]() -> Result<std::string> { return authorization_; };
    options.pause = [this](milliseconds time) { pauses_.push_back(time); };
    transport_ = std::make_unique<RemoteTransport>(std::move(options));
  }

  // Fails this many times, then answers.
  void FailFirst(size_t failures, std::vector<std::string> messages) {
    service_.script = [this, failures, messages](http::Exchange& exchange, const auto&) {
      if (requests() <= failures) return RefuseGrpc(exchange, "14", "not now");
      Answer(exchange, messages);
    };
  }
  void Always(std::vector<std::string> messages) { FailFirst(0, std::move(messages)); }
  size_t requests() { return service_.requests.Get().size(); }

  Result<std::string> Begin() { return transport_->BeginTransaction({}); }
  static std::string Begun() {
    proto::BeginTransactionResponse response;
    response.set_transaction("t1");
    return response.SerializeAsString();
  }
  Status Commit() { return transport_->Commit({Delete()}, "").status(); }
  static request::Write Delete() {
    return {*model::DocumentPath::Parse("rooms/r1"), request::WriteKind::kDelete, {}, {}, {}, {}};
  }
  query::Query Rooms() const {
    return {*model::ParentName::Parse(std::string(kDatabase) + "/documents"), "rooms"};
  }
  static std::string Found(const std::string& id) {
    proto::RunQueryResponse response;
    response.mutable_document()->set_name(std::string(kDatabase) + "/documents/rooms/" + id);
    response.mutable_read_time()->set_seconds(1);
    return response.SerializeAsString();
  }
  // The ids of a query's results.
  Result<std::string> Ask() {
    std::string ids;
    ASSIGN_OR_RETURN(const model::Timestamp read_time,
                     transport_->Query(Rooms(), {}, [&](const TransportDocument& document) {
                       ids += document.path.id();
                       return true;
                     }));
    EXPECT_EQ(read_time.seconds(), ids.empty() ? 0 : 1);
    return ids;
  }

  std::string authorization_ = "Bearer owner";
  std::vector<milliseconds> pauses_;
  ScriptedService service_;
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<RemoteTransport> transport_;
};

TEST_F(RemoteTransportTest, RequestsSayWhoAsksForWhat) {
  Always({Begun()});
  ASSERT_EQ(*Begin(), "t1");
  const ScriptedRequest request = service_.requests.Get().at(0);
  EXPECT_EQ(request.path, "/google.firestore.v1.Firestore/BeginTransaction");
  EXPECT_EQ(request.Header("authorization"), "Bearer owner");
  EXPECT_EQ(request.Header("google-cloud-resource-prefix"), kDatabase);
  EXPECT_EQ(request.Header("x-goog-request-params"), "project_id=a%3Ab&database_id=(default)");
}

TEST_F(RemoteTransportTest, ReadsAreRepeated) {
  FailFirst(4, {Begun()});
  EXPECT_TRUE(Begin().ok());
  EXPECT_EQ(requests(), 5u);
  ASSERT_EQ(pauses_.size(), 4u);
  milliseconds full = RemoteTransport::kFirstPause;
  for (const milliseconds pause : pauses_) {
    EXPECT_GE(pause, full / 2);
    EXPECT_LE(pause, full);
    full *= 2;
  }
}

TEST_F(RemoteTransportTest, ReadsAreNotRepeatedForEver) {
  FailFirst(5, {Begun()});
  EXPECT_EQ(Begin().status().ToString(), "UNAVAILABLE: not now");
  EXPECT_EQ(requests(), 5u);
}

TEST_F(RemoteTransportTest, OtherErrorsAreFinal) {
  service_.script = [](http::Exchange& exchange, const auto&) { RefuseGrpc(exchange, "10", "no"); };
  EXPECT_EQ(Begin().status().code(), Code::kAborted);
  EXPECT_EQ(requests(), 1u);
}

TEST_F(RemoteTransportTest, ACommitThatWasSentIsNotRepeated) {
  FailFirst(1, {});
  EXPECT_EQ(Commit().ToString(), "UNAVAILABLE: not now");
  EXPECT_EQ(requests(), 1u);
  EXPECT_TRUE(pauses_.empty());
}

TEST_F(RemoteTransportTest, ACommitThatCouldNotBeSentIsRepeated) {
  server_.reset();
  EXPECT_EQ(Commit().code(), Code::kUnavailable);
  EXPECT_EQ(pauses_.size(), 4u);
}

TEST_F(RemoteTransportTest, QueriesStartAnewWhileNothingHasCome) {
  FailFirst(1, {Found("a"), Found("b")});
  EXPECT_EQ(*Ask(), "ab");
  EXPECT_EQ(requests(), 2u);
}

TEST_F(RemoteTransportTest, ResultsAreHandedOutOnce) {
  service_.script = [](http::Exchange& exchange, const auto&) {
    SendGrpcHead(exchange);
    exchange.SendBody(GrpcFrame(Found("a")));
    FinishGrpc(exchange, "14", "gone");
  };
  EXPECT_EQ(Ask().status().ToString(), "UNAVAILABLE: gone");
  EXPECT_EQ(requests(), 1u);
}

TEST_F(RemoteTransportTest, AQueryEndsWhenNoMoreIsWanted) {
  Always({Found("a"), Found("b"), Found("c")});
  size_t taken = 0;
  const auto read_time =
      transport_->Query(Rooms(), {}, [&](const TransportDocument&) { return ++taken < 2; });
  EXPECT_TRUE(read_time.ok()) << read_time.status().ToString();
  EXPECT_EQ(taken, 2u);
}

TEST_F(RemoteTransportTest, WithoutATokenNothingIsSent) {
  Always({Begun()});
  RemoteTransport::Options options{*model::DatabaseName::Parse(kDatabase), {}, 5, {}, {}};
  options.channel.server.address = server_->address();
  options.authorization = []() -> Result<std::string> {
    return Status(Code::kFailedPrecondition, "no key");
  };
  RemoteTransport transport(std::move(options));
  EXPECT_EQ(transport.BeginTransaction({}).status().code(), Code::kFailedPrecondition);
  EXPECT_EQ(requests(), 0u);
}

TEST_F(RemoteTransportTest, MalformedAnswersAreErrors) {
  const auto expect_malformed = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::kInternal) << status.ToString();
    EXPECT_THAT(status.message(), HasSubstr("malformed"));
  };
  Always({"\xff"});
  expect_malformed(Begin().status());
  expect_malformed(Ask().status());
  Always({});
  expect_malformed(Begin().status());
  Always({Begun(), Begun()});
  expect_malformed(Begin().status());
  Always({""});  // A commit without the result of its write.
  expect_malformed(Commit());
  expect_malformed(transport_->BatchWrite({Delete()}).status());
  const query::Aggregation count{query::Aggregation::Kind::kCount, "count"};
  expect_malformed(transport_->Aggregate(Rooms(), {count}, {}).status());
  // A requested document is neither found nor missing.
  expect_malformed(
      transport_->Get({*model::DocumentPath::Parse("rooms/r1")}, std::nullopt, {}).status());

  proto::RunQueryResponse response;
  response.mutable_document()->set_name("no name");
  Always({response.SerializeAsString()});
  expect_malformed(Ask().status());
  response.ParseFromString(Found("a"));
  (*response.mutable_document()->mutable_fields())["f"];  // A value without a type.
  Always({response.SerializeAsString()});
  expect_malformed(Ask().status());
}

TEST_F(RemoteTransportTest, PagesAreReadToTheEnd) {
  service_.script = [](http::Exchange& exchange, const ScriptedRequest& request) {
    proto::ListCollectionIdsRequest asked;
    asked.ParseFromString(request.body.substr(5));
    proto::ListCollectionIdsResponse response;
    response.add_collection_ids("after-" + asked.page_token());
    if (asked.page_token().empty()) response.set_next_page_token("1");
    Answer(exchange, {response.SerializeAsString()});
  };
  const auto ids = transport_->ListCollectionIds("");
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  EXPECT_THAT(*ids, testing::ElementsAre("after-", "after-1"));
}

TEST_F(RemoteTransportTest, ThereAreNoListeners) {
  EXPECT_EQ(transport_->Listen({}, [](const Result<ListenState>&) {}).status().code(),
            Code::kUnimplemented);
}

}  // namespace
}  // namespace hearth::client
