// No method reaches the databases of a protected project without the administrator's token.
#include "service/databases.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "engine/testing/test_engine.h"
#include "service/firestore_methods.h"
#include "service/testing/ended_call.h"

namespace hearth::service {
namespace {

namespace proto = wire::proto;

constexpr char kDatabase[] = "projects/p2/databases/(default)";
constexpr char kDocuments[] = "projects/p2/databases/(default)/documents";
constexpr char kRoom[] = "projects/p2/databases/(default)/documents/rooms/r1";

// A valid request to the protected project, for each method that uses a database.
std::map<std::string, std::string> Requests() {
  std::map<std::string, std::string> requests;
  proto::GetDocumentRequest get;
  get.set_name(kRoom);
  requests["GetDocument"] = get.SerializeAsString();
  proto::BatchGetDocumentsRequest batch_get;
  batch_get.set_database(kDatabase);
  batch_get.add_documents(kRoom);
  requests["BatchGetDocuments"] = batch_get.SerializeAsString();
  proto::ListDocumentsRequest list;
  list.set_parent(kDocuments);
  list.set_collection_id("rooms");
  requests["ListDocuments"] = list.SerializeAsString();
  proto::ListCollectionIdsRequest list_ids;
  list_ids.set_parent(kDocuments);
  requests["ListCollectionIds"] = list_ids.SerializeAsString();
  proto::RunQueryRequest query;
  query.set_parent(kDocuments);
  query.mutable_structured_query()->add_from()->set_collection_id("rooms");
  requests["RunQuery"] = query.SerializeAsString();
  proto::RunAggregationQueryRequest aggregation;
  aggregation.set_parent(kDocuments);
  auto* aggregated = aggregation.mutable_structured_aggregation_query();
  aggregated->mutable_structured_query()->add_from()->set_collection_id("rooms");
  aggregated->add_aggregations()->mutable_count();
  requests["RunAggregationQuery"] = aggregation.SerializeAsString();
  proto::PartitionQueryRequest partition;
  partition.set_parent(kDocuments);
  partition.set_partition_count(2);
  auto* from = partition.mutable_structured_query()->add_from();
  from->set_collection_id("rooms");
  from->set_all_descendants(true);
  auto* order = partition.mutable_structured_query()->add_order_by();
  order->mutable_field()->set_field_path("__name__");
  order->set_direction(proto::StructuredQuery::ASCENDING);
  requests["PartitionQuery"] = partition.SerializeAsString();
  proto::CreateDocumentRequest create;
  create.set_parent(kDocuments);
  create.set_collection_id("rooms");
  requests["CreateDocument"] = create.SerializeAsString();
  proto::UpdateDocumentRequest update;
  update.mutable_document()->set_name(kRoom);
  requests["UpdateDocument"] = update.SerializeAsString();
  proto::DeleteDocumentRequest remove;
  remove.set_name(kRoom);
  requests["DeleteDocument"] = remove.SerializeAsString();
  proto::CommitRequest commit;
  commit.set_database(kDatabase);
  commit.add_writes()->set_delete_(kRoom);
  requests["Commit"] = commit.SerializeAsString();
  proto::BatchWriteRequest batch_write;
  batch_write.set_database(kDatabase);
  batch_write.add_writes()->set_delete_(kRoom);
  requests["BatchWrite"] = batch_write.SerializeAsString();
  proto::BeginTransactionRequest begin;
  begin.set_database(kDatabase);
  requests["BeginTransaction"] = begin.SerializeAsString();
  proto::RollbackRequest roll_back;
  roll_back.set_database(kDatabase);
  roll_back.set_transaction("t");
  requests["Rollback"] = roll_back.SerializeAsString();
  return requests;
}

std::map<std::string, std::string> StreamRequests() {
  proto::ListenRequest listen;
  listen.set_database(kDatabase);
  listen.mutable_add_target()->mutable_documents()->add_documents(kRoom);
  listen.mutable_add_target()->set_target_id(7);
  proto::WriteRequest write;
  write.set_database(kDatabase);
  return {{"Listen", listen.SerializeAsString()}, {"Write", write.SerializeAsString()}};
}

http::RequestHead HeadWith(std::string_view authorization) {
  http::RequestHead head;
  if (!authorization.empty()) head.AddHeader("authorization", authorization);
  return head;
}

class DatabasesTest : public testing::Test {
 protected:
  DatabasesTest() { service_.Register(&methods_); }

  const rpc::Method& Find(const std::string& name) {
    const rpc::Method* method = methods_.Find("/google.firestore.v1.Firestore/" + name);
    CHECK(method != nullptr);
    return *method;
  }
  static void ExpectDenied(const std::string& method, const EndedCall& call) {
    ASSERT_TRUE(call.status().has_value()) << method;
    EXPECT_EQ(call.status()->code(), Code::kPermissionDenied) << method;
    EXPECT_NE(call.status()->message().find("admin.token"), std::string::npos)
        << method << ": " << call.status()->message();
  }

  // A listener gets the error that ends its stream as that of its target.
  static void ExpectTargetDenied(const std::string& method, const EndedCall& call) {
    ASSERT_EQ(call.sent().size(), method == "Listen" ? 1u : 0u);
    for (const std::string& message : call.sent()) {
      proto::ListenResponse response;
      ASSERT_TRUE(response.ParseFromString(message));
      EXPECT_EQ(response.target_change().target_change_type(), proto::TargetChange::REMOVE);
      EXPECT_EQ(response.target_change().target_ids(0), 7);
      EXPECT_EQ(response.target_change().cause().code(), 7);  // PERMISSION_DENIED.
    }
  }

  engine::TestEngine engine_;
  RandomSource random_;
  const access::AccessPolicy policy_{"secret", {"p2"}};
  FirestoreMethods service_{engine_.engine(), policy_, engine_.clock(), random_};
  rpc::Methods methods_;
};

TEST_F(DatabasesTest, AProtectedProjectIsClosedToEveryMethod) {
  for (const std::string_view stranger : {"", "Bearer owner", "Bearer secre", "Basic secret"}) {
    for (const auto& [name, request] : Requests()) {
      const auto call = std::make_shared<EndedCall>(HeadWith(stranger));
      std::get<rpc::SingleRequestMethod>(Find(name))(call, request);
      ExpectDenied(name, *call);
    }
    for (const auto& [name, request] : StreamRequests()) {
      const auto call = std::make_shared<EndedCall>(HeadWith(stranger));
      const auto receiver = std::get<rpc::StreamMethod>(Find(name))(call);
      receiver->OnMessage(request);
      ExpectDenied(name, *call);
      ExpectTargetDenied(name, *call);
    }
  }
  EXPECT_TRUE(engine_.engine().Databases().empty());  // Not even created.
}

TEST_F(DatabasesTest, AStreamIsNotOpenedByItsHeaders) {
  http::RequestHead head;
  head.AddHeader("google-cloud-resource-prefix", kDatabase);
  for (const char* name : {"Listen", "Write"}) {
    const auto call = std::make_shared<EndedCall>(head);
    proto::ListenRequest listen;
    listen.mutable_add_target()->mutable_documents()->add_documents(kRoom);
    const auto receiver = std::get<rpc::StreamMethod>(Find(name))(call);
    receiver->OnMessage(std::string(name) == "Listen" ? listen.SerializeAsString() : "");
    ExpectDenied(name, *call);
  }
}

TEST_F(DatabasesTest, TheAdministratorMayUseIt) {
  const Databases databases(engine_.engine(), policy_);
  const auto name = *model::DatabaseName::Parse(kDatabase);
  EXPECT_EQ(databases.Open(EndedCall(HeadWith("Bearer owner")), name).status().code(),
            Code::kPermissionDenied);
  EXPECT_TRUE(databases.Open(EndedCall(HeadWith("Bearer secret")), name).ok());
  const auto open = *model::DatabaseName::Parse("projects/p1/databases/(default)");
  EXPECT_TRUE(databases.Open(EndedCall(HeadWith("Bearer owner")), open).ok());
}

TEST_F(DatabasesTest, EveryMethodIsCovered) {
  // ExecutePipeline refuses every request, whatever its database.
  EXPECT_EQ(Requests().size() + StreamRequests().size() + 1, methods_.size());
}

}  // namespace
}  // namespace hearth::service
