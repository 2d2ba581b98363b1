// The C++ client, as programs use it.
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "cases/runner/client_convert.h"
#include "cases/runner/client_listeners.h"
#include "cases/runner/client_transaction.h"
#include "cases/runner/doors.h"
#include "cases/runner/local_engine.h"
#include "client/embedded/embedded.h"
#include "client/remote/remote.h"
#include "model/names.h"
#include "storage/rocksdb_store.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::cases {
namespace {

// A request without a page size is for at most this many documents.
constexpr size_t kDocumentsPerPage = 100;

Answer NotPossible(const Status& why) {
  Answer answer;
  answer.not_possible = why.message();
  return answer;
}
Answer NotPossible(const char* why) { return NotPossible(InvalidArgument(why)); }

Answer Failed(const Status& status) {
  Answer answer;
  answer.status = status;
  return answer;
}

AnsweredDocument ToAnswer(const client::DocumentSnapshot& snapshot) {
  if (!snapshot.exists()) return {snapshot.reference().name()};
  return {snapshot.reference().name(), ToProto(snapshot)};
}

Answer ToAnswer(const Result<std::vector<client::DocumentSnapshot>>& snapshots) {
  if (!snapshots.ok()) return Failed(snapshots.status());
  Answer answer;
  for (const client::DocumentSnapshot& snapshot : *snapshots) {
    answer.documents.push_back(ToAnswer(snapshot));
    answer.read_time = ToProto(snapshot.read_time());
  }
  return answer;
}

Answer ToAnswer(const Result<client::QuerySnapshot>& snapshot) {
  if (!snapshot.ok()) return Failed(snapshot.status());
  Answer answer;
  for (const client::DocumentSnapshot& each : snapshot->documents) {
    answer.documents.push_back(ToAnswer(each));
  }
  answer.read_time = ToProto(snapshot->read_time);
  return answer;
}

Answer ToAnswer(const Result<std::vector<client::Value>>& values) {
  if (!values.ok()) return Failed(values.status());
  Answer answer;
  for (const client::Value& value : *values) answer.aggregates.push_back(ToProto(value));
  return answer;
}

// A call on its own thread: the client's calls block.
class ClientPending final : public Pending {
 public:
  explicit ClientPending(std::function<Answer()> call)
      : answer_(std::async(std::launch::async, std::move(call))) {}
  bool IsDone() override {
    return answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  Answer Wait() override { return answer_.get(); }

 private:
  std::future<Answer> answer_;
};

class ClientSession final : public Session {
 public:
  ClientSession(client::Firestore database, std::string name)
      : database_(std::move(database)), name_(std::move(name)) {}

  std::unique_ptr<Pending> Start(const Operation& operation) override {
    return std::make_unique<ClientPending>([this, operation] {
      return std::visit([&](const auto& request) { return Do(operation, request); },
                        operation.request);
    });
  }

  std::unique_ptr<Listeners> Listen() override { return NewClientListeners(database_, name_); }

 private:
  template <typename AnyRequest>
  Answer Do(const Operation& operation, const AnyRequest&) {
    return NotPossible(InvalidArgument("the client has no " + MethodOf(operation.request)));
  }

  Answer Do(const Operation&, const proto::CommitRequest& request) {
    if (request.database() != name_) return NotPossible("the client is about one database");
    const Result<std::vector<ClientWrite>> writes = ToClientWrites(request);
    if (!writes.ok()) return NotPossible(writes.status());
    if (!request.transaction().empty()) return CommitIn(request.transaction(), *writes);
    client::WriteBatch batch = database_.Batch();
    for (const ClientWrite& write : *writes) AddTo(database_, write, &batch);
    const auto results = batch.Commit();
    if (!results.ok()) return Failed(results.status());
    Answer answer;
    for (size_t i = 0; i < results->size(); ++i) {
      proto::WriteResult result;
      // In the client a deletion has a time too.
      if ((*writes)[i].kind != ClientWrite::Kind::kDelete) {
        *result.mutable_update_time() = ToProto((*results)[i].write_time);
      } else {
        answer.commit_time = ToProto((*results)[i].write_time);
      }
      answer.write_results.push_back(result);
    }
    return answer;
  }

  // Through a BulkWriter, which reports the error of each write but no times.
  Answer Do(const Operation&, const proto::BatchWriteRequest& request) {
    if (request.database() != name_) return NotPossible("the client is about one database");
    if (request.labels_size() > 0) return NotPossible("the client's writes have no labels");
    const Result<std::vector<ClientWrite>> writes = ToClientWrites(request);
    if (!writes.ok()) return NotPossible(writes.status());
    std::map<std::string, size_t> numbers;
    for (const ClientWrite& write : *writes) {
      if (!numbers.emplace(write.path, numbers.size()).second) {
        return NotPossible("the client puts the writes of a document into different batches");
      }
    }
    Answer answer;
    answer.write_results.resize(writes->size());
    answer.write_statuses.resize(writes->size());
    Mutex mutex;  // Guards the statuses: errors arrive on several threads.
    client::BulkWriterOptions options;
    options.attempts_max = 1;  // A case states the answer to one request.
    client::BulkWriter writer = database_.Bulk(
        options, [&](const client::DocumentReference& document, const Status& error) {
          MutexLock lock(mutex);
          answer.write_statuses[numbers.at(document.path())] = error;
        });
    for (const ClientWrite& write : *writes) AddTo(database_, write, &writer);
    IgnoreError(writer.Flush(), "it is the error of a write, which is known");
    return answer;
  }

  Answer Do(const Operation&, const proto::GetDocumentRequest& request) {
    proto::BatchGetDocumentsRequest batch;
    batch.add_documents(request.name());
    if (request.has_mask()) *batch.mutable_mask() = request.mask();
    if (request.has_read_time()) *batch.mutable_read_time() = request.read_time();
    if (request.has_transaction()) batch.set_transaction(request.transaction());
    return Get(batch);
  }
  Answer Do(const Operation&, const proto::BatchGetDocumentsRequest& request) {
    if (request.database() != name_) return NotPossible("the client is about one database");
    return Get(request);
  }

  Answer Get(const proto::BatchGetDocumentsRequest& request) {
    if (request.has_new_transaction()) return NotPossible("the client begins transactions itself");
    std::vector<client::DocumentReference> documents;
    std::set<std::string> seen;
    for (const std::string& name : request.documents()) {
      const Result<std::string> path = ToClientPath(name_, name);
      if (!path.ok()) return NotPossible(path.status());
      if (!seen.insert(*path).second) return NotPossible("the client answers each reference");
      documents.push_back(database_.Doc(*path));
    }
    if (request.has_transaction()) {
      if (request.has_mask()) return NotPossible("the client's transactions have no masks");
      const auto transaction = Find(request.transaction());
      if (!transaction) return NotPossible("the client has no such transaction, or no more");
      std::optional<Result<std::vector<client::DocumentSnapshot>>> snapshots;
      transaction->Do([&](client::Transaction& each) { snapshots = each.GetAll(documents); });
      return ToAnswer(*snapshots);
    }
    client::GetAllOptions options;
    if (request.has_mask()) {
      options.field_mask.emplace(request.mask().field_paths().begin(),
                                 request.mask().field_paths().end());
    }
    if (request.has_read_time()) {
      const auto time = ToClient(request.read_time());
      if (!time.ok()) return NotPossible(time.status());
      options.read_time = *time;
    }
    return ToAnswer(database_.GetAll(documents, options));
  }

  // As programs do: a list is references, missing documents included, and GetAll reads those.
  Answer Do(const Operation&, const proto::ListDocumentsRequest& request) {
    if (request.page_size() != 0 || !request.page_token().empty()) {
      return NotPossible("the client chooses the pages of lists itself");
    }
    if (!request.order_by().empty()) return NotPossible("the client lists in the order of names");
    if (request.has_mask()) return NotPossible("the client lists references, without fields");
    if (request.has_transaction() || request.has_read_time()) {
      return NotPossible("the client lists the documents of the present, outside transactions");
    }
    const Result<std::string> path =
        ToClientCollection(name_, request.parent(), request.collection_id());
    if (!path.ok()) return NotPossible(path.status());
    const auto documents = database_.Collection(*path).ListDocuments();
    if (!documents.ok()) return Failed(documents.status());
    if (documents->size() > kDocumentsPerPage) return NotPossible("the client lists all pages");
    Answer answer = ToAnswer(database_.GetAll(*documents));
    answer.read_time.reset();  // Of GetAll.
    if (!request.show_missing()) {
      std::erase_if(answer.documents, [](const auto& each) { return !each.document; });
    }
    return answer;
  }

  Answer Do(const Operation&, const proto::ListCollectionIdsRequest& request) {
    if (request.page_size() != 0 || !request.page_token().empty() || request.has_read_time()) {
      return NotPossible("the client lists all collections of the present");
    }
    const bool is_root = request.parent() == name_ + "/documents";
    const Result<std::string> path = is_root ? "" : ToClientPath(name_, request.parent());
    if (!path.ok()) return NotPossible(path.status());
    const auto collections =
        is_root ? database_.ListCollections() : database_.Doc(*path).ListCollections();
    if (!collections.ok()) return Failed(collections.status());
    Answer answer;
    for (const auto& collection : *collections) answer.collection_ids.push_back(collection.id());
    return answer;
  }

  Answer Do(const Operation& operation, const proto::RunQueryRequest& request) {
    if (request.has_explain_options() || request.has_new_transaction()) {
      return NotPossible("the client neither explains nor begins transactions by queries");
    }
    const Last last = operation.is_limit_to_last ? Last::kYes : Last::kNo;
    const Result<client::Query> query =
        ToClient(database_, request.parent(), request.structured_query(), last);
    if (!query.ok()) return NotPossible(query.status());
    if (request.has_transaction()) {
      const auto transaction = Find(request.transaction());
      if (!transaction) return NotPossible("the client has no such transaction, or no more");
      std::optional<Result<client::QuerySnapshot>> snapshot;
      transaction->Do([&](client::Transaction& each) { snapshot = each.Get(*query); });
      return ToAnswer(*snapshot);
    }
    if (!request.has_read_time()) return ToAnswer(query->Get());
    const auto time = ToClient(request.read_time());
    if (!time.ok()) return NotPossible(time.status());
    return ToAnswer(query->GetAt(*time));
  }

  Answer Do(const Operation& operation, const proto::RunAggregationQueryRequest& request) {
    if (request.has_explain_options() || request.has_new_transaction() || request.has_read_time()) {
      return NotPossible("the client aggregates the present, and explains nothing");
    }
    const auto& aggregate = request.structured_aggregation_query();
    const Last last = operation.is_limit_to_last ? Last::kYes : Last::kNo;
    const Result<client::Query> query =
        ToClient(database_, request.parent(), aggregate.structured_query(), last);
    if (!query.ok()) return NotPossible(query.status());
    const auto fields = ToClient(aggregate);
    if (!fields.ok()) return NotPossible(fields.status());
    if (!request.has_transaction()) return ToAnswer(query->Aggregate(*fields));
    const auto transaction = Find(request.transaction());
    if (!transaction) return NotPossible("the client has no such transaction, or no more");
    std::optional<Result<std::vector<client::Value>>> values;
    transaction->Do([&](client::Transaction& each) { values = each.Aggregate(*query, *fields); });
    return ToAnswer(*values);
  }

  Answer Do(const Operation&, const proto::BeginTransactionRequest& request) {
    if (request.database() != name_) return NotPossible("the client is about one database");
    client::TransactionOptions options;
    options.attempts_max = 1;
    options.read_only = request.options().has_read_only();
    if (!request.options().read_write().retry_transaction().empty()) {
      return NotPossible("the client tries again by itself");
    }
    if (request.options().read_only().has_read_time()) {
      const auto time = ToClient(request.options().read_only().read_time());
      if (!time.ok()) return NotPossible(time.status());
      options.read_time = *time;
    }
    auto transaction = std::make_shared<ClientTransaction>(database_, options);
    Answer answer;
    answer.status = transaction->AwaitBegin();
    if (!answer.status.ok()) return answer;
    MutexLock lock(mutex_);
    answer.transaction = "client transaction " + std::to_string(transactions_.size() + 1);
    transactions_[answer.transaction] = std::move(transaction);
    return answer;
  }

  Answer Do(const Operation&, const proto::RollbackRequest& request) {
    const auto transaction = Find(request.transaction());
    if (!transaction) return NotPossible("the client has no such transaction, or no more");
    return Failed(transaction->Rollback());
  }

  // The writes of a commit or a batch.
  template <typename WriteRequest>
  Result<std::vector<ClientWrite>> ToClientWrites(const WriteRequest& request) const {
    std::vector<ClientWrite> writes;
    for (const proto::Write& write : request.writes()) {
      ASSIGN_OR_RETURN(ClientWrite converted, ToClient(name_, write));
      writes.push_back(std::move(converted));
    }
    return writes;
  }

  Answer CommitIn(const std::string& id, const std::vector<ClientWrite>& writes) {
    const auto transaction = Find(id);
    if (!transaction) return NotPossible("the client has no such transaction, or no more");
    return Failed(transaction->Commit(writes));
  }

  // Null if none is open.
  std::shared_ptr<ClientTransaction> Find(const std::string& id) EXCLUDES_LOCK(mutex_) {
    MutexLock lock(mutex_);
    const auto found = transactions_.find(id);
    if (found == transactions_.end() || !found->second->IsOpen()) return nullptr;
    return found->second;
  }

  const client::Firestore database_;
  const std::string name_;
  Mutex mutex_;
  // Shared with the calls that use them.
  std::map<std::string, std::shared_ptr<ClientTransaction>> transactions_ GUARDED_BY(mutex_);
};

class ClientDoor : public Door {
 public:
  std::optional<std::string> WhyNot(const Operation&) const override { return std::nullopt; }
  std::optional<std::string> WhyNotListen(const proto::Target& target) const override {
    if (!target.resume_token().empty() || target.has_read_time() || target.has_expected_count() ||
        target.once()) {
      return "the client resumes by itself";
    }
    if (!target.has_documents() && !target.has_query()) {
      return "the client listens to queries and documents";
    }
    if (target.has_documents() && target.documents().documents_size() != 1) {
      return "the client listens to documents one by one";
    }
    return std::nullopt;
  }
  bool Shows(Detail detail) const override { return detail == Detail::kNone; }
};

// On RocksDB, as in programs.
class EmbeddedDoor final : public ClientDoor {
 public:
  std::unique_ptr<Session> Open(const std::string& name) override {
    const auto parsed = model::DatabaseName::Parse(name);
    CHECK(parsed.ok());
    Result<client::Firestore> database = client::OverEngine(*local_.engine, *parsed);
    CHECK(database.ok());
    return std::make_unique<ClientSession>(*std::move(database), name);
  }

 private:
  static std::unique_ptr<storage::Store> OpenStore(const std::string& path) {
    storage::RocksDbOptions options;
    options.path = path;
    Result<std::unique_ptr<storage::Store>> store = storage::OpenRocksDbStore(options);
    CHECK(store.ok());
    return *std::move(store);
  }

  const storage::TemporaryFolder folder_;
  LocalEngine local_{OpenStore(folder_.path())};
};

class RemoteDoor final : public ClientDoor {
 public:
  explicit RemoteDoor(const ServerAddress& server) : server_(server) {}

  bool is_emulator() const override { return server_.is_emulator; }
  std::optional<std::string> WhyNotListen(const proto::Target&) const override {
    return "over the network the client has no listeners";
  }
  std::unique_ptr<Session> Open(const std::string& name) override {
    const auto parsed = model::DatabaseName::Parse(name);
    CHECK(parsed.ok());
    client::RemoteOptions options;
    options.address = "127.0.0.1:" + std::to_string(server_.port);
    options.project = std::string(parsed->project());
    options.database = std::string(parsed->database());
    Result<client::Firestore> database = client::Connect(options);
    CHECK(database.ok());
    return std::make_unique<ClientSession>(*std::move(database), name);
  }

 private:
  const ServerAddress server_;
};

}  // namespace

std::unique_ptr<Door> NewEmbeddedDoor() { return std::make_unique<EmbeddedDoor>(); }

std::unique_ptr<Door> NewRemoteDoor(const ServerAddress& server) {
  return std::make_unique<RemoteDoor>(server);
}

}  // namespace hearth::cases
