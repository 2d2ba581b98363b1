// RunQuery, RunAggregationQuery, PartitionQuery and ExecutePipeline.
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/query_run.h"
#include "query/normalize.h"
#include "service/firestore_service.h"
#include "wire/query_requests.h"
#include "wire/query_responses.h"

namespace hearth::service {
namespace {

using engine::Consistency;
using engine::Database;
using engine::Engine;
using engine::QueryResult;
using engine::QueryRun;
using wire::Explain;
namespace proto = wire::proto;

using Call = std::shared_ptr<http::RpcCall>;
using Run = std::unique_ptr<QueryRun>;
using Wants = query::Execution::Wants;

// Results are handed over together, unless the next one takes its time.
constexpr size_t kBatchBytesMax = size_t{16} * 1024;
constexpr std::chrono::milliseconds kBatchTimeMax{1};

// A query that is ready to be run.
struct PreparedQuery {
  Database* database;
  query::NormalizedQuery query;
  Consistency consistency;

  static Result<PreparedQuery> From(Engine& engine, query::NormalizedQuery query,
                                    Consistency consistency) {
    ASSIGN_OR_RETURN(Database * database, engine.OpenDatabase(query.query.parent.database));
    return PreparedQuery{database, std::move(query), std::move(consistency)};
  }
};

// Starts a query and hands the run to `use`, always on a reader thread. A query that fails to
// start ends the call.
//
// Threads: Go starts on the call's loop; the engine's answer may come on any thread.
class QueryStart : public std::enable_shared_from_this<QueryStart> {
 public:
  using Use = std::function<void(Run)>;
  QueryStart(Engine& engine, Call call, PreparedQuery query, Use use)
      : engine_(engine), call_(std::move(call)), query_(std::move(query)), use_(std::move(use)) {}

  void Go() {
    RunBlocking([self = shared_from_this()] { self->Start(); });
  }

 private:
  void Start() {
    if (call_->closed()) return;
    engine_.Query(*query_.database, std::move(query_.query),
                  ForClientOf(*call_, query_.consistency),
                  [self = shared_from_this()](Result<Run> run) { self->Take(std::move(run)); });
    if (other_has_been_.exchange(true)) Finish();
  }

  void Take(Result<Run> run) {
    run_ = std::move(run);
    if (!other_has_been_.exchange(true)) return;  // Start will find it.
    RunBlocking([self = shared_from_this()] { self->Finish(); });
  }

  void Finish() {
    Result<Run> run = *std::exchange(run_, std::nullopt);
    if (!run.ok()) return call_->Finish(run.status());
    (*run)->CancelWhen([call = call_] { return call->closed(); });
    use_(*std::move(run));
  }

  void RunBlocking(std::function<void()> task) {
    const Status accepted = engine_.RunBlocking(std::move(task));
    if (accepted.ok()) return;
    run_.reset();  // Before the client can know.
    call_->Finish(accepted);
  }

  Engine& engine_;
  const Call call_;
  PreparedQuery query_;
  const Use use_;
  std::optional<Result<Run>> run_;
  // Of Start, after the engine's Query has returned, and Take, whichever comes second goes on.
  std::atomic<bool> other_has_been_ = false;
};

void StartQuery(Engine& engine, const Call& call, PreparedQuery query, QueryStart::Use use) {
  std::make_shared<QueryStart>(engine, call, std::move(query), std::move(use))->Go();
}

// One RunQuery: sends results one by one, as fast as the client reads.
//
// Threads: one step at a time, on a reader thread.
class ResultStream : public std::enable_shared_from_this<ResultStream> {
 public:
  ResultStream(Engine& engine, const Clock& clock, Call call)
      : engine_(engine), clock_(clock), call_(std::move(call)) {}

  void Start(std::string_view bytes) {
    if (Status status = Read(bytes); !status.ok()) call_->Finish(status);
  }

 private:
  Status Read(std::string_view bytes) {
    proto::RunQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::QueryRequest request, wire::ReadRunQuery(message));
    explain_ = request.explain;
    form_.mask = request.query.select;
    if (request.query.nearest) form_.distance_field = request.query.nearest->distance_result_field;
    ASSIGN_OR_RETURN(query::NormalizedQuery normalized, query::Normalize(std::move(request.query)));
    ASSIGN_OR_RETURN(PreparedQuery query, PreparedQuery::From(engine_, std::move(normalized),
                                                              std::move(request.consistency)));
    StartQuery(engine_, call_, std::move(query),
               [self = shared_from_this()](Run run) { self->Open(std::move(run)); });
    return Status();
  }

  void Open(Run run) {
    run_ = std::move(run);
    if (!run_->new_transaction().empty()) {
      call_->Send(wire::EncodeQueryTransaction(run_->new_transaction()));
    }
    if (explain_ != Explain::kPlan) return Continue();
    const auto indexes = run_->IndexesUsed(Wants::kDocuments);
    if (!indexes.ok()) return End(std::nullopt, indexes.status());
    wire::QueryAnswer plan;
    plan.explain_metrics = wire::EncodeExplainMetrics(*indexes, std::nullopt);
    End(std::move(plan), Status());
  }

  void Continue() {
    const auto started = clock_.Monotonic();
    auto sent = started;
    size_t unwaited_bytes = 0;
    while (!call_->closed()) {
      if (unwaited_bytes >= kUnwaitedBytesMax) {
        duration_ += clock_.Monotonic() - started;
        SendBatch();
        return call_->WhenWritable([self = shared_from_this()] { self->ContinueLater(); });
      }
      Result<std::optional<QueryResult>> next = run_->Next();
      if (!next.ok()) return End(std::exchange(held_back_, std::nullopt), next.status());
      if (!*next) {
        duration_ += clock_.Monotonic() - started;
        return EndWithAll();
      }
      wire::QueryAnswer answer = NextAnswer();
      answer.document = wire::EncodeResultDocument(run_->database().name, **next, form_);
      if (held_back_) {
        const std::string message = wire::EncodeQueryAnswer(*held_back_);
        unwaited_bytes += message.size();
        batch_.Add(message);
      }
      held_back_ = std::move(answer);
      const auto now = clock_.Monotonic();
      if (batch_.bytes() >= kBatchBytesMax || now - sent >= kBatchTimeMax) {
        SendBatch();
        sent = now;
      }
    }
  }

  void SendBatch() {
    if (!batch_.empty()) call_->Send(std::exchange(batch_, {}));
  }

  void ContinueLater() {
    const Status accepted = engine_.RunBlocking([self = shared_from_this()] { self->Continue(); });
    if (!accepted.ok()) End(std::nullopt, accepted);
  }

  // An answer that tells what has been skipped since the one before.
  wire::QueryAnswer NextAnswer() {
    wire::QueryAnswer answer;
    answer.read_time = run_->read_time();
    answer.skipped_results = run_->skipped() - std::exchange(skipped_, run_->skipped());
    return answer;
  }

  void EndWithAll() {
    wire::QueryAnswer answer = held_back_ ? *std::move(held_back_) : NextAnswer();
    answer.done = true;
    if (explain_ == Explain::kAnalyze) {
      const auto indexes = run_->IndexesUsed(Wants::kDocuments);
      if (!indexes.ok()) return End(std::nullopt, indexes.status());
      answer.explain_metrics = wire::EncodeExplainMetrics(
          *indexes, wire::Execution{run_->statistics(), duration_, run_->bill()});
    }
    End(std::move(answer), Status());
  }

  void End(const std::optional<wire::QueryAnswer>& last, const Status& status) {
    run_.reset();  // Before the client can know: its next request may end the transaction.
    if (last) batch_.Add(wire::EncodeQueryAnswer(*last));
    call_->Finish(std::exchange(batch_, {}), status);
  }

  Engine& engine_;
  const Clock& clock_;
  const Call call_;
  wire::ResultForm form_;
  http::MessageBatch batch_;  // Not handed over yet.
  Explain explain_ = Explain::kNothing;
  Run run_;
  // The newest result waits for the next one, because the last of all has to say that it is.
  std::optional<wire::QueryAnswer> held_back_;
  size_t skipped_ = 0;                      // As the client has been told.
  std::chrono::nanoseconds duration_ = {};  // Without the time in which the client was slow.
};

// The one answer to RunAggregationQuery besides a new transaction.
Result<std::string> AnswerAggregation(QueryRun& run, const Clock& clock,
                                      const wire::AggregationRequest& request) {
  wire::AggregationAnswer answer;
  if (request.base.explain == Explain::kPlan) {
    ASSIGN_OR_RETURN(const auto indexes, run.IndexesUsed(Wants::kKeys));
    answer.explain_metrics = wire::EncodeExplainMetrics(indexes, std::nullopt);
    return wire::EncodeAggregationAnswer(answer);
  }
  const auto started = clock.Monotonic();
  ASSIGN_OR_RETURN(const std::vector<std::string> values, run.Aggregate(request.aggregations));
  answer.result = wire::EncodeAggregationResult(request.aggregations, values);
  answer.read_time = run.read_time();
  if (request.base.explain == Explain::kAnalyze) {
    const wire::Execution execution{run.statistics(), clock.Monotonic() - started, run.bill()};
    ASSIGN_OR_RETURN(const auto indexes, run.IndexesUsed(Wants::kKeys));
    answer.explain_metrics = wire::EncodeExplainMetrics(indexes, execution);
  }
  return wire::EncodeAggregationAnswer(answer);
}

Result<std::string> AnswerPartition(QueryRun& run, const wire::PartitionRequest& request) {
  ASSIGN_OR_RETURN(std::vector<query::Bound> points, run.Partition(request.points_max));
  const wire::PartitionPage page = wire::MakePartitionPage(
      std::move(points), request.points_max, request.page_size, request.progress, request.identity);
  return wire::EncodePartitionPage(page.bounds, page.next_page_token);
}

}  // namespace

void FirestoreService::RunQuery(const Call& call, std::string_view request) {
  std::make_shared<ResultStream>(engine_, clock_, call)->Start(request);
}

void FirestoreService::RunAggregationQuery(const Call& call, std::string_view bytes) {
  const auto start = [&]() -> Status {
    proto::RunAggregationQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::AggregationRequest request, wire::ReadRunAggregationQuery(message));
    ASSIGN_OR_RETURN(query::NormalizedQuery normalized,
                     query::Normalize(request.base.query, request.aggregations));
    ASSIGN_OR_RETURN(PreparedQuery query,
                     PreparedQuery::From(engine_, std::move(normalized), request.base.consistency));
    StartQuery(engine_, call, std::move(query), [this, call, request](Run run) {
      if (!run->new_transaction().empty()) {
        call->Send(wire::EncodeQueryTransaction(run->new_transaction()));
      }
      Result<std::string> answer = AnswerAggregation(*run, clock_, request);
      run.reset();
      call->Respond(std::move(answer));
    });
    return Status();
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreService::PartitionQuery(const Call& call, std::string_view bytes) {
  const auto start = [&]() -> Status {
    proto::PartitionQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::PartitionRequest request, wire::ReadPartitionQuery(message));
    ASSIGN_OR_RETURN(query::NormalizedQuery normalized, query::Normalize(request.query));
    ASSIGN_OR_RETURN(PreparedQuery query,
                     PreparedQuery::From(engine_, std::move(normalized), request.consistency));
    StartQuery(engine_, call, std::move(query), [call, request](Run run) {
      Result<std::string> answer = AnswerPartition(*run, request);
      run.reset();
      call->Respond(std::move(answer));
    });
    return Status();
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreService::ExecutePipeline(const Call& call, std::string_view bytes) {
  const auto refuse = [&]() -> Status {
    proto::ExecutePipelineRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    RETURN_IF_ERROR(model::DatabaseName::Parse(message.database()).status());
    // Tests of Google's clients look for "only allowed on ENTERPRISE mode".
    return Status(Code::kFailedPrecondition,
                  "Pipeline operations are only allowed on ENTERPRISE mode databases. This is a "
                  "Standard edition database.");
  };
  call->Finish(refuse());
}

}  // namespace hearth::service
