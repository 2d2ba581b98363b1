// Requests that take long to read or to answer.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "access/access_policy.h"
#include "base/memory_budget.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "engine/testing/test_engine.h"
#include "service/firestore_methods.h"
#include "service/testing/ended_call.h"
#include "wire/requests.h"

namespace hearth::service {
namespace {

// What the server has to hold while it reads a request is claimed, whichever way the request came.
class LongRequestsTest : public testing::Test {
 protected:
  LongRequestsTest() { service_.Register(&methods_); }

  const rpc::Method& Find(const std::string& name) {
    return *methods_.Find("/google.firestore.v1.Firestore/" + name);
  }
  std::optional<Status> Commit(const std::string& request) {
    const auto call = std::make_shared<EndedCall>();
    std::get<rpc::SingleRequestMethod>(Find("Commit"))(call, request);
    return call->status();
  }
  // Delivers the message to the stream as a door does, after another thread has read it.
  std::optional<Status> Deliver(const std::string& method, const std::string& message) {
    const auto call = std::make_shared<EndedCall>();
    const std::unique_ptr<rpc::Receiver> receiver = std::get<rpc::StreamMethod>(Find(method))(call);
    rpc::Receiver::Delivery deliver;
    std::jthread([&, read = receiver->ReaderForLongMessage()]() mutable {
      deliver = read(message);
    }).join();
    deliver(*receiver);
    return call->status();
  }
  static std::string EmptyWrites(size_t count) {
    wire::proto::CommitRequest request;
    request.set_database(NameDatabase().text());
    for (size_t i = 0; i < count; ++i) request.add_writes();
    return request.SerializeAsString();
  }

  ThreadPool loop_{1, 1'000};
  engine::TestEngine engine_;
  RandomSource random_;
  const access::AccessPolicy policy_{"secret", {}};
  MemoryBudget memory_{32 * 1024 * 1024};
  FirestoreMethods service_{engine_.engine(), policy_, engine_.clock(), random_, &memory_};
  rpc::Methods methods_;
};

TEST_F(LongRequestsTest, ThatTakeTooMuchMemoryAreRefused) {
  EXPECT_EQ(Commit(EmptyWrites(50'000))->code(), Code::kInvalidArgument);  // An empty operation.
  EXPECT_EQ(Commit(EmptyWrites(100'000))->code(), Code::kResourceExhausted);
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

TEST_F(LongRequestsTest, OfStreamsToo) {
  wire::proto::ListenRequest listen;
  listen.set_database(NameDatabase().text());
  listen.set_remove_target(1);
  (*listen.mutable_labels())["long"] = std::string(1024 * 1024, 'x');
  EXPECT_EQ(Deliver("Listen", listen.SerializeAsString()), std::nullopt);
  (*listen.mutable_labels())["long"] = std::string(15 * 1024 * 1024, 'x');
  EXPECT_EQ(Deliver("Listen", listen.SerializeAsString())->code(), Code::kResourceExhausted);
  wire::proto::WriteRequest write;
  write.set_database(NameDatabase().text());
  (*write.mutable_labels())["long"] = std::string(1024 * 1024, 'x');
  EXPECT_EQ(Deliver("Write", write.SerializeAsString()), std::nullopt);
  write.mutable_writes()->Reserve(100'000);
  for (int i = 0; i < 100'000; ++i) write.add_writes();
  EXPECT_EQ(Deliver("Write", write.SerializeAsString())->code(), Code::kResourceExhausted);
  EXPECT_EQ(Deliver("Write", "\xff")->code(), Code::kInvalidArgument);
  EXPECT_EQ(Deliver("Listen", "\xff")->code(), Code::kInvalidArgument);
  EXPECT_EQ(memory_.used_bytes(), 0u);
}

// A call whose answer can be waited for.
class AnsweredCall final : public rpc::Call {
 public:
  explicit AnsweredCall(Executor& loop) : loop_(loop) {}

  const http::RequestHead& head() const override { return head_; }
  bool closed() const override { return false; }
  Executor& executor() const override { return loop_; }
  void OnCancelled(Task) override {}
  void Send(std::string) override { ADD_FAILURE(); }
  void Send(rpc::MessageBatch) override { ADD_FAILURE(); }
  void WhenWritable(Task) override { ADD_FAILURE(); }
  void Finish(const Status& status) override { answer_.set_value(status); }
  void Finish(rpc::MessageBatch, const Status& status) override { answer_.set_value(status); }
  void Respond(Result<std::string> answer) override { answer_.set_value(std::move(answer)); }

  Result<std::string> Wait() { return answer_.get_future().get(); }

 private:
  const http::RequestHead head_;
  std::promise<Result<std::string>> answer_;
  Executor& loop_;
};

// More results than are encoded on the loop.
TEST_F(LongRequestsTest, ManyResultsAreAnswered) {
  wire::proto::BatchWriteRequest request;
  request.set_database(NameDatabase().text());
  for (size_t i = 0; i <= kLoopResultsMax; ++i) {
    request.add_writes()->set_delete_(NameDatabase().text() + "/documents/c/" + std::to_string(i));
  }
  wire::proto::CommitRequest commit;
  commit.set_database(request.database());
  *commit.mutable_writes() = request.writes();
  const auto answer = [&](const std::string& method, const std::string& bytes) {
    const auto call = std::make_shared<AnsweredCall>(loop_);
    call->executor().Post([&] { std::get<rpc::SingleRequestMethod>(Find(method))(call, bytes); });
    const Result<std::string> result = call->Wait();
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return *result;
  };
  wire::proto::BatchWriteResponse batch_write;
  ASSERT_TRUE(batch_write.ParseFromString(answer("BatchWrite", request.SerializeAsString())));
  EXPECT_EQ(batch_write.write_results_size(), request.writes_size());
  wire::proto::CommitResponse committed;
  ASSERT_TRUE(committed.ParseFromString(answer("Commit", commit.SerializeAsString())));
  EXPECT_EQ(committed.write_results_size(), request.writes_size());
}

}  // namespace
}  // namespace hearth::service
