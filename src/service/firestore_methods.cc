#include "service/firestore_methods.h"

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "wire/parse_memory.h"

namespace hearth::service {

request::Consistency ForClientOf(const rpc::Call& call, request::Consistency consistency) {
  if (auto* existing = std::get_if<request::InTransaction>(&consistency)) {
    existing->client = call.client();
  } else if (auto* beginning = std::get_if<request::NewTransaction>(&consistency)) {
    beginning->client = call.client();
  }
  return consistency;
}

Status ClaimKept(size_t bytes, MemoryClaim* claim) {
  if (bytes <= kUnclaimedRequestBytesMax || claim->Resize(bytes)) return Status();
  return Status(Code::kResourceExhausted, "the server has no memory for the request");
}

namespace {

const google::protobuf::Descriptor& RequestType(const std::string& method) {
  const auto* service =
      wire::proto::GetDocumentRequest::descriptor()->file()->FindServiceByName("Firestore");
  CHECK(service != nullptr && service->FindMethodByName(method) != nullptr);
  return *service->FindMethodByName(method)->input_type();
}

}  // namespace

bool IsBehind(const rpc::Call& call) { return call.client() && call.client()->is_behind(); }

ClientKey KeyOf(const rpc::Call& call) { return request::KeyOf(call.client()); }

engine::Caller CallerOf(const std::shared_ptr<rpc::Call>& call) {
  return {KeyOf(*call), call->end_token()};
}

void FirestoreMethods::Register(rpc::Methods* methods) {
  using Method = void (FirestoreMethods::*)(const Call&, std::string_view);
  const auto add = [&](const std::string& name, Method method) {
    methods->Add("/google.firestore.v1.Firestore/" + name,
                 rpc::SingleRequestMethod([this, method, &type = RequestType(name)](
                                              const Call& call, std::string_view request) {
                   MemoryClaim claim(memory_);  // Until the engine has the request.
                   const Status claimed = wire::ClaimParsed(type, request, &claim);
                   if (!claimed.ok()) return call->Finish(claimed);
                   (this->*method)(call, request);
                 }));
  };
  add("GetDocument", &FirestoreMethods::GetDocument);
  add("BatchGetDocuments", &FirestoreMethods::BatchGetDocuments);
  add("ListDocuments", &FirestoreMethods::ListDocuments);
  add("ListCollectionIds", &FirestoreMethods::ListCollectionIds);
  add("RunQuery", &FirestoreMethods::RunQuery);
  add("RunAggregationQuery", &FirestoreMethods::RunAggregationQuery);
  add("PartitionQuery", &FirestoreMethods::PartitionQuery);
  add("ExecutePipeline", &FirestoreMethods::ExecutePipeline);
  add("CreateDocument", &FirestoreMethods::CreateDocument);
  add("UpdateDocument", &FirestoreMethods::UpdateDocument);
  add("DeleteDocument", &FirestoreMethods::DeleteDocument);
  add("Commit", &FirestoreMethods::Commit);
  add("BatchWrite", &FirestoreMethods::BatchWrite);
  add("BeginTransaction", &FirestoreMethods::BeginTransaction);
  add("Rollback", &FirestoreMethods::Rollback);

  using Stream = std::unique_ptr<rpc::Receiver> (FirestoreMethods::*)(const Call&);
  const auto add_stream = [&](const std::string& name, Stream open) {
    methods->Add("/google.firestore.v1.Firestore/" + name,
                 rpc::StreamMethod([this, open](const Call& call) { return (this->*open)(call); }));
  };
  add_stream("Listen", &FirestoreMethods::Listen);
  add_stream("Write", &FirestoreMethods::Write);
}

void FirestoreMethods::RunOnReaders(const Call& call, Task task) {
  const Status accepted =
      engine_.RunOnReaders(KeyOf(*call), [this, call, task = std::move(task)]() mutable {
        if (!call->closed()) WhenRead(call, std::move(task));
      });
  if (!accepted.ok()) call->Finish(accepted);
}

void FirestoreMethods::WhenRead(const Call& call, Task task) {
  if (!IsBehind(*call)) return task();
  call->WhenWritable([this, call, task = std::move(task)]() mutable {
    engine_.PostToReaders(KeyOf(*call), std::move(task));
  });
}

void FirestoreMethods::ReadOnReaders(const Call& call, const documents::Database& database,
                                     request::Consistency consistency, engine::ReadScope scope,
                                     Callback<void(std::unique_ptr<engine::ReadView>)> use) {
  consistency = ForClientOf(*call, std::move(consistency));
  RunOnReaders(call, [this, call, database = database.shared_from_this(),
                      consistency = std::move(consistency), scope = std::move(scope),
                      use = std::move(use)]() mutable {
    engine_.Read(
        *database, consistency, scope, engine_.readers(),
        [call, use = std::move(use)](Result<std::unique_ptr<engine::ReadView>> view) mutable {
          if (!view.ok()) return call->Finish(view.status());
          use(*std::move(view));
        },
        CallerOf(call));
  });
}

}  // namespace hearth::service
