#include "client/embedded/embedded_transport.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "base/waiting_executor.h"
#include "client/embedded/embedded_listener.h"
#include "client/embedded/embedded_records.h"
#include "engine/listing.h"
#include "engine/query_run.h"
#include "engine/read_view.h"
#include "model/document.h"
#include "query/normalize.h"

namespace hearth::client {
namespace {

using engine::QueryRun;
using engine::ReadScope;
using engine::ReadView;
using model::DocumentPath;
using model::Timestamp;
using request::CommitResult;
using request::Consistency;
using request::Write;

Consistency ToConsistency(const ReadMoment& moment) {
  if (!moment.transaction.empty()) return request::InTransaction{moment.transaction};
  if (moment.read_time) return *moment.read_time;
  return request::Now{};
}

TransportWriteResult ToWriteResult(const request::WriteResult& result, Timestamp commit_time) {
  return {result.document ? model::RecordUpdateTime(*result.document) : commit_time};
}

std::vector<DocumentPath> WithoutRepeats(std::vector<DocumentPath> paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

// Destroys the transport. Its last user may be a listener's callback, on a thread that the
// destructor joins.
void Destroy(EmbeddedTransport* transport) {
  if (!IsListenerThread()) {
    delete transport;
  } else {
    std::thread([transport] { delete transport; }).detach();
  }
}

}  // namespace

std::shared_ptr<EmbeddedTransport> EmbeddedTransport::Make(engine::Engine& engine,
                                                           const model::DatabaseName& database,
                                                           std::shared_ptr<void> owner) {
  // The constructor is private.
  return std::shared_ptr<EmbeddedTransport>(
      new EmbeddedTransport(engine, database, std::move(owner)), Destroy);
}

EmbeddedTransport::EmbeddedTransport(engine::Engine& engine, model::DatabaseName database,
                                     std::shared_ptr<void> owner)
    : owner_(std::move(owner)),
      engine_(engine),
      database_(std::move(database)),
      listeners_(std::make_shared<std::atomic<size_t>>(0)) {}

EmbeddedTransport::~EmbeddedTransport() = default;

Result<std::unique_ptr<ReadView>> EmbeddedTransport::View(const Consistency& consistency,
                                                          const ReadScope& scope) {
  return Await<Result<std::unique_ptr<ReadView>>>([&](Executor& here, auto done) {
    engine_.Read(*Open(), consistency, scope, here, std::move(done));
  });
}

Result<Transport::Documents> EmbeddedTransport::Get(
    const std::vector<DocumentPath>& paths,
    const std::optional<std::vector<model::FieldPath>>& mask, const ReadMoment& moment) {
  // Only transactions lock what they read.
  ReadScope scope;
  if (!moment.transaction.empty()) scope.documents = WithoutRepeats(paths);
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, View(ToConsistency(moment), scope));
  Documents answer{{}, view->read_time()};
  answer.documents.reserve(paths.size());
  for (const DocumentPath& path : paths) {
    ASSIGN_OR_RETURN(model::Record record, view->Get(path));
    answer.documents.push_back({path, Project(std::move(record), mask)});
  }
  return answer;
}

Result<std::unique_ptr<QueryRun>> EmbeddedTransport::Start(query::NormalizedQuery query,
                                                           engine::QueryAnswer answer,
                                                           const ReadMoment& moment) {
  engine::QueryRequest request{std::move(query), answer, ToConsistency(moment)};
  return Await<Result<std::unique_ptr<QueryRun>>>([&](Executor& here, auto done) {
    engine_.Query(*Open(), std::move(request), here, std::move(done));
  });
}

Result<Timestamp> EmbeddedTransport::Query(const query::Query& query, const ReadMoment& moment,
                                           const OnResult& on_result) {
  ASSIGN_OR_RETURN(query::NormalizedQuery normalized, query::Normalize(query));
  ASSIGN_OR_RETURN(const std::unique_ptr<QueryRun> run,
                   Start(std::move(normalized), engine::QueryAnswer::kDocuments, moment));
  const Timestamp read_time = run->read_time();
  while (true) {
    ASSIGN_OR_RETURN(std::optional<request::QueryResult> result, run->Next());
    if (!result) return read_time;
    if (!on_result(ToTransportDocument(query, *std::move(result), read_time))) return read_time;
  }
}

Result<Transport::Aggregates> EmbeddedTransport::Aggregate(
    const query::Query& query, const std::vector<query::Aggregation>& aggregations,
    const ReadMoment& moment) {
  ASSIGN_OR_RETURN(query::NormalizedQuery normalized, query::Normalize(query, aggregations));
  ASSIGN_OR_RETURN(const std::unique_ptr<QueryRun> run,
                   Start(std::move(normalized), engine::QueryAnswer::kAggregates, moment));
  ASSIGN_OR_RETURN(const std::vector<std::string> encoded, run->Aggregate(aggregations));
  Aggregates answer{{}, run->read_time()};
  for (const std::string& value : encoded) {
    answer.values.push_back(Decode(model::ValueView(value)));
  }
  return answer;
}

Result<TransportCommit> EmbeddedTransport::Commit(std::vector<Write> writes,
                                                  const std::string& transaction) {
  ASSIGN_OR_RETURN(const CommitResult committed,
                   Await<Result<CommitResult>>([&](Executor& here, auto done) {
                     engine_.Commit(*Open(), std::move(writes), transaction, here, std::move(done));
                   }));
  TransportCommit result{committed.commit_time, {}};
  result.results.reserve(committed.write_results.size());
  for (const request::WriteResult& each : committed.write_results) {
    result.results.push_back(ToWriteResult(each, committed.commit_time));
  }
  return result;
}

Result<std::vector<Result<TransportWriteResult>>> EmbeddedTransport::BatchWrite(
    std::vector<Write> writes) {
  RETURN_IF_ERROR(request::CheckEachDocumentOnce(writes));
  WaitingExecutor here;
  std::vector<std::optional<Result<CommitResult>>> answers(writes.size());
  std::vector<Result<TransportWriteResult>> results;
  results.reserve(writes.size());
  const auto take_next = [&here, &answers, &results] {
    const Result<CommitResult> committed = here.Await(answers[results.size()]);
    if (!committed.ok()) {
      results.emplace_back(committed.status());
    } else {
      results.emplace_back(ToWriteResult(committed->write_results.at(0), committed->commit_time));
    }
  };
  for (size_t i = 0; i < writes.size(); ++i) {
    if (i >= results.size() + kCommitsUnderWayMax) take_next();
    std::vector<Write> one;
    one.push_back(std::move(writes[i]));
    engine_.Commit(*Open(), std::move(one), "", here,
                   [&answers, i](Result<CommitResult> result) { answers[i] = std::move(result); });
  }
  while (results.size() < writes.size()) take_next();
  return results;
}

Result<std::string> EmbeddedTransport::BeginTransaction(const BeginOptions& options) {
  using Mode = request::TransactionOptions::Mode;
  return engine_.BeginTransaction(*Open(), {options.read_only ? Mode::kReadOnly : Mode::kReadWrite,
                                            options.read_time, options.retry_transaction});
}

Status EmbeddedTransport::Rollback(const std::string& transaction) {
  return engine_.Rollback(*Open(), transaction);
}

Result<std::vector<std::string>> EmbeddedTransport::ListCollectionIds(
    const std::string& parent_document_path) {
  const model::ParentName parent{database_, parent_document_path};
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, View(request::Now{}, scope));
  std::vector<std::string> ids;
  std::string token;
  do {
    ASSIGN_OR_RETURN(request::CollectionIdPage page,
                     engine::ListCollectionIds(*view, parent, request::kPageSizeMax, token));
    std::move(page.collection_ids.begin(), page.collection_ids.end(), std::back_inserter(ids));
    token = std::move(page.next_page_token);
  } while (!token.empty());
  return ids;
}

Result<std::vector<DocumentPath>> EmbeddedTransport::ListDocumentPaths(
    const model::CollectionPath& collection) {
  request::ListDocumentsRequest request{
      model::ParentName{database_, std::string(collection.parent())}, std::string(collection.id()),
      request::kPageSizeMax};
  request.show_missing = true;
  ASSIGN_OR_RETURN(const ReadScope scope, engine::ScopeOf(request));
  ASSIGN_OR_RETURN(const std::unique_ptr<ReadView> view, View(request::Now{}, scope));
  std::vector<DocumentPath> paths;
  do {
    ASSIGN_OR_RETURN(request::DocumentPage page, engine::ListDocuments(*view, request));
    for (request::ListedDocument& document : page.documents) {
      paths.push_back(std::move(document.path));
    }
    request.page_token = std::move(page.next_page_token);
  } while (!request.page_token.empty());
  return paths;
}

ThreadPool& EmbeddedTransport::ListenerThreads() {
  MutexLock lock(mutex_);
  if (!listener_threads_) {
    // Each listener has at most one queued task.
    listener_threads_ = std::make_unique<ThreadPool>(kListenerThreads, kListenersMax);
  }
  return *listener_threads_;
}

Result<std::unique_ptr<TransportListener>> EmbeddedTransport::Listen(ListenTarget target,
                                                                     OnState on_state) {
  ListenerSlot slot(listeners_);
  if (*listeners_ > kListenersMax) {
    return Status(Code::kResourceExhausted, "too many listeners");
  }
  return StartListening(engine_, *Open(), ListenerThreads(), std::move(target), std::move(on_state),
                        std::move(slot), shared_from_this());
}

}  // namespace hearth::client
