#include "service/firestore_service.h"

#include <string>
#include <utility>
#include <variant>

namespace hearth::service {

engine::Consistency ForClientOf(const http::RpcCall& call, engine::Consistency consistency) {
  if (auto* existing = std::get_if<engine::InTransaction>(&consistency)) {
    existing->client = call.client();
  } else if (auto* beginning = std::get_if<engine::NewTransaction>(&consistency)) {
    beginning->client = call.client();
  }
  return consistency;
}

void FirestoreService::Register(http::RpcMethods* methods) {
  using Method = void (FirestoreService::*)(const Call&, std::string_view);
  const auto add = [&](const std::string& name, Method method) {
    methods->Add(
        "/google.firestore.v1.Firestore/" + name,
        http::SingleRequestMethod([this, method](const Call& call, std::string_view request) {
          (this->*method)(call, request);
        }));
  };
  add("GetDocument", &FirestoreService::GetDocument);
  add("BatchGetDocuments", &FirestoreService::BatchGetDocuments);
  add("ListDocuments", &FirestoreService::ListDocuments);
  add("ListCollectionIds", &FirestoreService::ListCollectionIds);
  add("RunQuery", &FirestoreService::RunQuery);
  add("RunAggregationQuery", &FirestoreService::RunAggregationQuery);
  add("PartitionQuery", &FirestoreService::PartitionQuery);
  add("ExecutePipeline", &FirestoreService::ExecutePipeline);
  add("CreateDocument", &FirestoreService::CreateDocument);
  add("UpdateDocument", &FirestoreService::UpdateDocument);
  add("DeleteDocument", &FirestoreService::DeleteDocument);
  add("Commit", &FirestoreService::Commit);
  add("BatchWrite", &FirestoreService::BatchWrite);
  add("BeginTransaction", &FirestoreService::BeginTransaction);
  add("Rollback", &FirestoreService::Rollback);

  using Stream = std::unique_ptr<http::RpcReceiver> (FirestoreService::*)(const Call&);
  const auto add_stream = [&](const std::string& name, Stream open) {
    methods->Add(
        "/google.firestore.v1.Firestore/" + name,
        http::StreamMethod([this, open](const Call& call) { return (this->*open)(call); }));
  };
  add_stream("Listen", &FirestoreService::Listen);
  add_stream("Write", &FirestoreService::Write);
}

void FirestoreService::RunBlocking(const Call& call, std::function<void()> task) {
  const Status accepted = engine_.RunBlocking(std::move(task));
  if (!accepted.ok()) call->Finish(accepted);
}

}  // namespace hearth::service
