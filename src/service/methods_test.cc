#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "base/testing/fake_clock.h"
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

}  // namespace
}  // namespace hearth::service
