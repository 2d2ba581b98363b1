#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/memory_budget.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"
#include "base/testing/outcome.h"
#include "base/thread_pool.h"
#include "engine/testing/test_engine.h"
#include "service/firestore_methods.h"
#include "service/testing/ended_call.h"

namespace hearth::service {
namespace {

class PipelineMethodTest : public testing::Test {
 protected:
  PipelineMethodTest() { service_.Register(&methods_); }

  std::optional<Status> Execute(std::string_view request) {
    const rpc::Method* method = methods_.Find("/google.firestore.v1.Firestore/ExecutePipeline");
    if (!method) return std::nullopt;
    const auto call = std::make_shared<EndedCall>();
    std::get<rpc::SingleRequestMethod> (*method)(call, request);
    EXPECT_TRUE(call->sent().empty());
    return call->status();
  }

  engine::TestEngine engine_;
  RandomSource random_;
  const access::AccessPolicy policy_{"secret", {}};
  FirestoreMethods service_{engine_.engine(), policy_, engine_.clock(), random_};
  rpc::Methods methods_;
};

TEST_F(PipelineMethodTest, IsRefusedAsByTheStandardEdition) {
  wire::proto::ExecutePipelineRequest request;
  request.set_database("projects/p1/databases/(default)");
  request.mutable_structured_pipeline()->mutable_pipeline()->add_stages()->set_name("collection");
  const std::optional<Status> status = Execute(request.SerializeAsString());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), Code::kFailedPrecondition);
  EXPECT_NE(status->message().find("only allowed on ENTERPRISE mode"), std::string::npos);
  EXPECT_NE(status->message().find("Standard edition"), std::string::npos);
}

TEST_F(PipelineMethodTest, BadRequestsAreInvalid) {
  wire::proto::ExecutePipelineRequest request;
  request.set_database("nonsense");
  for (const std::string& bytes :
       {request.SerializeAsString(), std::string("\xff"), std::string()}) {
    const std::optional<Status> status = Execute(bytes);
    ASSERT_TRUE(status);
    EXPECT_EQ(status->code(), Code::kInvalidArgument);
  }
}

// Reads of an earlier moment and listings wait in the readers' queue, which is bounded.
TEST(ReadMethodsTest, AFullQueueOfReadersRefusesThem) {
  engine::EngineOptions options;
  options.readers.threads = 1;
  options.readers.queued_tasks_max = 0;
  engine::TestEngine full(options);
  RandomSource random;
  const access::AccessPolicy policy("secret", {});
  FirestoreMethods service(full.engine(), policy, full.clock(), random);
  rpc::Methods methods;
  service.Register(&methods);
  const std::string root = NameDatabase().text() + "/documents";
  wire::proto::GetDocumentRequest get;
  get.set_name(root + "/c/a");
  get.mutable_read_time()->set_seconds(full.now() / 1'000'000);
  wire::proto::ListDocumentsRequest list;
  list.set_parent(root);
  list.set_collection_id("c");
  wire::proto::ListCollectionIdsRequest ids;
  ids.set_parent(root);
  const std::pair<std::string, std::string> requests[] = {
      {"GetDocument", get.SerializeAsString()},
      {"ListDocuments", list.SerializeAsString()},
      {"ListCollectionIds", ids.SerializeAsString()}};
  for (const auto& [name, bytes] : requests) {
    const rpc::Method* method = methods.Find("/google.firestore.v1.Firestore/" + name);
    ASSERT_NE(method, nullptr);
    const auto call = std::make_shared<EndedCall>();
    std::get<rpc::SingleRequestMethod> (*method)(call, bytes);
    ASSERT_TRUE(call->status().has_value()) << name;
    EXPECT_EQ(call->status()->code(), Code::kResourceExhausted) << name;
  }
}

// A call whose end can be awaited, of a client that may leave its answers unread.
class AwaitedCall final : public rpc::Call {
 public:
  explicit AwaitedCall(Executor& loop) : loop_(loop) {}

  const http::RequestHead& head() const override { return head_; }
  std::shared_ptr<const ConnectedClient> client() const override { return client_; }
  bool closed() const override { return end_.IsThere(); }
  Executor& executor() const override { return loop_; }
  void OnCancelled(Task) override {}
  void Send(std::string) override {}
  void Send(rpc::MessageBatch) override {}
  void WhenWritable(Task callback) override { writable_.Callback()(std::move(callback)); }
  void Finish(const Status& status) override {
    ended_by_ = std::this_thread::get_id();
    end_.Callback()(status);
  }
  void Finish(rpc::MessageBatch, const Status& status) override { Finish(status); }
  void Respond(Result<std::string> answer) override { Finish(answer.status()); }

  ConnectedClient& its_client() { return *client_; }
  Status AwaitEnd() { return end_.Take(); }
  // After that.
  std::thread::id ended_by() const { return ended_by_; }
  // What waits for the client to read.
  Task AwaitWaiting() { return writable_.Take(); }

 private:
  // Shared with the code that answers.
  const std::shared_ptr<ConnectedClient> client_ = std::make_shared<ConnectedClient>(ClientKey{1});
  const http::RequestHead head_ = {};
  Executor& loop_;
  std::thread::id ended_by_;
  Outcome<Status> end_;
  Outcome<Task> writable_;
};

class ResourceTest : public testing::Test {
 protected:
  explicit ResourceTest(const engine::EngineOptions& options = {},
                        size_t memory_bytes = std::numeric_limits<size_t>::max())
      : memory_(memory_bytes), engine_(With(options, &memory_)) {
    service_.Register(&methods_);
  }
  ~ResourceTest() override { Stop(); }

  // Ends what still runs on other threads.
  void Stop() {
    engine_.Close();
    loop_.reset();
  }

  std::shared_ptr<AwaitedCall> NewCall() { return std::make_shared<AwaitedCall>(*loop_); }
  std::shared_ptr<AwaitedCall> Start(const std::string& name,
                                     const google::protobuf::MessageLite& request) {
    auto call = NewCall();
    Start(call, name, request);
    return call;
  }
  void Start(const std::shared_ptr<AwaitedCall>& call, const std::string& name,
             const google::protobuf::MessageLite& request) {
    const rpc::Method* method = methods_.Find("/google.firestore.v1.Firestore/" + name);
    ASSERT_NE(method, nullptr) << name;
    std::get<rpc::SingleRequestMethod> (*method)(call, request.SerializeAsString());
  }
  std::thread::id LoopThread() {
    Outcome<std::thread::id> thread;
    loop_->Post([tell = thread.Callback()] { tell(std::this_thread::get_id()); });
    return thread.Take();
  }
  static std::string Root() { return NameDatabase().text() + "/documents"; }
  static wire::proto::BatchGetDocumentsRequest BatchGet(size_t count) {
    wire::proto::BatchGetDocumentsRequest request;
    request.set_database(NameDatabase().text());
    for (size_t i = 0; i < count; ++i) {
      request.add_documents(Root() + "/c/d" + std::to_string(i));
    }
    return request;
  }
  static wire::proto::RunQueryRequest Query(size_t value_bytes) {
    wire::proto::RunQueryRequest request;
    request.set_parent(Root());
    wire::proto::StructuredQuery& query = *request.mutable_structured_query();
    query.add_from()->set_collection_id("c");
    auto& filter = *query.mutable_where()->mutable_field_filter();
    filter.mutable_field()->set_field_path("n");
    filter.set_op(wire::proto::StructuredQuery::FieldFilter::NOT_EQUAL);
    filter.mutable_value()->set_string_value(std::string(value_bytes, 'v'));
    return request;
  }

  std::optional<ThreadPool> loop_{std::in_place, 1, 1'000};
  MemoryBudget memory_;  // Its claims end with the engine and the loop.
  engine::TestEngine engine_;
  RandomSource random_;
  const access::AccessPolicy policy_{"secret", {}};
  FirestoreMethods service_{engine_.engine(), policy_, engine_.clock(), random_};
  rpc::Methods methods_;

 private:
  static engine::EngineOptions With(engine::EngineOptions options, MemoryBudget* memory) {
    options.memory = memory;
    return options;
  }
};

class LargeBatchTest : public ResourceTest {
 protected:
  static constexpr size_t kBytes = 20'000;

  explicit LargeBatchTest(const engine::EngineOptions& options) : ResourceTest(options) {
    for (int i = 0; i < 20; ++i) {
      engine_.MustCommit(Set("c/d" + std::to_string(i),
                             MakeFields({{"n", model::EncodeInteger(i)},
                                         {"t", model::EncodeString(std::string(kBytes, 't'))}})));
    }
  }

  // Most of the documents is not sent.
  static wire::proto::BatchGetDocumentsRequest MaskedGet(size_t count) {
    wire::proto::BatchGetDocumentsRequest request = BatchGet(count);
    request.mutable_mask()->add_field_paths("n");
    return request;
  }
};

// Nothing waits for a reader.
class FullReadersTest : public LargeBatchTest {
 protected:
  FullReadersTest() : LargeBatchTest(Options()) {}

 private:
  static engine::EngineOptions Options() {
    engine::EngineOptions options;
    options.readers.threads = 1;
    options.readers.queued_tasks_max = 0;
    return options;
  }
};

TEST_F(FullReadersTest, ABatchGetThatHasBegunIsAnsweredToItsEnd) {
  EXPECT_EQ(Start("BatchGetDocuments", MaskedGet(20))->AwaitEnd(), Status());
}

// Answered with a small part of the document.
wire::proto::UpdateDocumentRequest MaskedUpdate(size_t value_bytes) {
  wire::proto::UpdateDocumentRequest request;
  request.mutable_document()->set_name(NameDatabase().text() + "/documents/c/masked");
  auto& fields = *request.mutable_document()->mutable_fields();
  fields["n"].set_integer_value(1);
  fields["t"].set_string_value(std::string(value_bytes, 't'));
  request.mutable_mask()->add_field_paths("n");
  return request;
}

TEST_F(FullReadersTest, ALargeMaskedDocumentIsAnsweredByAReaderAfterItsCommit) {
  const std::thread::id loop = LoopThread();
  const auto small = Start("UpdateDocument", MaskedUpdate(kLoopMaskedBytesMax / 2));
  EXPECT_EQ(small->AwaitEnd(), Status());
  EXPECT_EQ(small->ended_by(), loop);
  const auto large = Start("UpdateDocument", MaskedUpdate(kLoopMaskedBytesMax + 1));
  EXPECT_EQ(large->AwaitEnd(), Status());
  EXPECT_NE(large->ended_by(), loop);
  wire::proto::UpdateDocumentRequest whole = MaskedUpdate(kLoopMaskedBytesMax + 2);
  whole.clear_mask();
  const auto unmasked = Start("UpdateDocument", whole);
  EXPECT_EQ(unmasked->AwaitEnd(), Status());
  EXPECT_EQ(unmasked->ended_by(), loop);
}

// Every pause of a reader fails.
class UnpausedReadsTest : public LargeBatchTest {
 protected:
  UnpausedReadsTest() : LargeBatchTest(Options()) {}

 private:
  static engine::EngineOptions Options() {
    engine::EngineOptions options;
    options.readers.short_cpu_max = std::chrono::microseconds(0);
    options.readers.short_time_max = std::chrono::milliseconds(0);
    options.readers.long_tasks_max = 0;
    return options;
  }
};

TEST_F(UnpausedReadsTest, ABatchGetAnswersSomeOnTheLoop) {
  EXPECT_EQ(Start("BatchGetDocuments", MaskedGet(10))->AwaitEnd(), Status());
}

TEST_F(UnpausedReadsTest, ALargeBatchGetLeavesTheLoopAndPauses) {
  EXPECT_EQ(Start("BatchGetDocuments", MaskedGet(20))->AwaitEnd().code(), Code::kResourceExhausted);
}

class ScarceMemoryTest : public ResourceTest {
 protected:
  explicit ScarceMemoryTest(size_t bytes_max = 8'000) : ResourceTest({}, bytes_max) {}
  ~ScarceMemoryTest() override {
    Stop();
    EXPECT_EQ(memory_.used_bytes(), 0u);
  }
};

TEST_F(ScarceMemoryTest, LargeRequestsAreRefusedAndSmallOnesAreNot) {
  const std::string large(10'000, 'x');
  const auto batch_write = [](size_t count) {
    wire::proto::BatchWriteRequest request;
    request.set_database(NameDatabase().text());
    for (size_t i = 0; i < count; ++i) {
      request.add_writes()->set_delete_(Root() + "/c/d" + std::to_string(i));
    }
    return request;
  };
  const auto aggregation = [](size_t value_bytes) {
    wire::proto::RunAggregationQueryRequest request;
    request.set_parent(Root());
    auto& query = *request.mutable_structured_aggregation_query();
    query.add_aggregations()->mutable_count();
    *query.mutable_structured_query() = Query(value_bytes).structured_query();
    return request;
  };
  const auto partition = [](const std::string& token) {
    wire::proto::PartitionQueryRequest request;
    request.set_parent(Root());
    auto& query = *request.mutable_structured_query();
    query.add_from()->set_collection_id("c");
    query.mutable_from(0)->set_all_descendants(true);
    auto& order = *query.add_order_by();
    order.mutable_field()->set_field_path("__name__");
    order.set_direction(wire::proto::StructuredQuery::ASCENDING);
    request.set_partition_count(2);
    request.set_page_token(token);
    return request;
  };
  wire::proto::ListDocumentsRequest list;
  list.set_parent(Root());
  list.set_collection_id("c");
  wire::proto::ListCollectionIdsRequest ids;
  ids.set_parent(Root());
  EXPECT_EQ(Start("BatchGetDocuments", BatchGet(5))->AwaitEnd(), Status());
  EXPECT_EQ(Start("BatchWrite", batch_write(5))->AwaitEnd(), Status());
  EXPECT_EQ(Start("RunQuery", Query(100))->AwaitEnd(), Status());
  EXPECT_EQ(Start("RunAggregationQuery", aggregation(100))->AwaitEnd(), Status());
  EXPECT_EQ(Start("PartitionQuery", partition(""))->AwaitEnd(), Status());
  EXPECT_EQ(Start("ListDocuments", list)->AwaitEnd(), Status());
  EXPECT_EQ(Start("ListCollectionIds", ids)->AwaitEnd(), Status());
  list.set_page_token(large);
  ids.set_page_token(large);
  constexpr Code kRefused = Code::kResourceExhausted;
  EXPECT_EQ(Start("BatchGetDocuments", BatchGet(200))->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("BatchWrite", batch_write(200))->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("RunQuery", Query(10'000))->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("RunAggregationQuery", aggregation(10'000))->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("PartitionQuery", partition(large))->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("ListDocuments", list)->AwaitEnd().code(), kRefused);
  EXPECT_EQ(Start("ListCollectionIds", ids)->AwaitEnd().code(), kRefused);
}

TEST_F(ResourceTest, QueriesThatWaitForLongEndWhenAnotherOneWaits) {
  engine_.MustCommit(SetNumber("c/a", 1));
  const auto wait = [this](Task* go_on) {
    auto call = NewCall();
    call->its_client().SetBehind(true);
    Start(call, "RunQuery", Query(10));
    *go_on = call->AwaitWaiting();
    return call;
  };
  Task go_on[3];
  const auto first = wait(&go_on[0]);
  engine_.clock().Advance(WaitingQueries::kWaitMax - std::chrono::seconds(1));
  const auto second = wait(&go_on[1]);
  EXPECT_FALSE(first->closed());
  engine_.clock().Advance(std::chrono::seconds(1));
  const auto third = wait(&go_on[2]);
  EXPECT_FALSE(second->closed());
  EXPECT_FALSE(third->closed());
  EXPECT_EQ(first->AwaitEnd().code(), Code::kDeadlineExceeded);
}

class RoomForOneQueryTest : public ScarceMemoryTest {
 protected:
  RoomForOneQueryTest() : ScarceMemoryTest(60 * 1024) { engine_.MustCommit(SetNumber("c/a", 1)); }
};

TEST_F(RoomForOneQueryTest, AQueryThatWaitsForItsClientHoldsMemory) {
  const auto start = [this] {
    auto call = NewCall();
    call->its_client().SetBehind(true);
    Start(call, "RunQuery", Query(10));
    return call;
  };
  const auto first = start();
  Task go_on = first->AwaitWaiting();
  EXPECT_GE(memory_.lasting_bytes(), 32u * 1024);
  EXPECT_EQ(start()->AwaitEnd().code(), Code::kResourceExhausted);
  first->its_client().SetBehind(false);
  loop_->Post(std::move(go_on));
  EXPECT_EQ(first->AwaitEnd(), Status());
}

TEST_F(RoomForOneQueryTest, AQueryThatHasWaitedTooLongEnds) {
  const auto call = NewCall();
  call->its_client().SetBehind(true);
  Start(call, "RunQuery", Query(10));
  Task go_on = call->AwaitWaiting();
  engine_.Pass(std::chrono::hours(2));
  call->its_client().SetBehind(false);
  loop_->Post(std::move(go_on));
  EXPECT_EQ(call->AwaitEnd().code(), Code::kDeadlineExceeded);
}

class RoomInReserveTest : public ScarceMemoryTest {
 protected:
  static constexpr size_t kResultBytes = 40'000;

  RoomInReserveTest() : ScarceMemoryTest(4 * 1024 * 1024) {
    for (const char* path : {"c/a", "c/b", "c/d", "c/e"}) {
      engine_.MustCommit(
          Set(path, MakeFields({{"t", model::EncodeString(std::string(kResultBytes, 't'))}})));
    }
  }
};

// The others' large claims leave only the reserve: it has to suffice for an ordinary query, which
// waits with a result held back.
TEST_F(RoomInReserveTest, AQueryMayWaitWithAResultHeldBack) {
  const size_t taken_bytes = memory_.bytes_max() - 500 * 1024;
  memory_.Take(taken_bytes);
  ASSERT_TRUE(memory_.is_scarce());
  wire::proto::RunQueryRequest request;
  request.set_parent(Root());
  request.mutable_structured_query()->add_from()->set_collection_id("c");
  const auto call = Start("RunQuery", request);
  Task go_on = call->AwaitWaiting();
  EXPECT_GE(memory_.used_bytes(), taken_bytes + kResultBytes);
  loop_->Post(std::move(go_on));
  EXPECT_EQ(call->AwaitEnd(), Status());
  memory_.Return(taken_bytes);
}

}  // namespace
}  // namespace hearth::service
