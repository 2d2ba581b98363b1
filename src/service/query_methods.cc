// RunQuery, RunAggregationQuery, PartitionQuery and ExecutePipeline.
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/query_run.h"
#include "query/normalize.h"
#include "service/firestore_methods.h"
#include "wire/query_requests.h"
#include "wire/query_responses.h"

namespace hearth::service {
namespace {

using engine::Engine;
using engine::QueryAnswer;
using engine::QueryRun;
using request::Consistency;
using wire::Explain;
namespace proto = wire::proto;

using Call = std::shared_ptr<rpc::Call>;
using Run = std::unique_ptr<QueryRun>;

// Results are sent in batches, unless the next one takes too long.
constexpr size_t kBatchBytesMax = size_t{16} * 1024;
constexpr std::chrono::milliseconds kBatchTimeMax{1};

// What a query keeps of each byte of its request: its values occur in several forms of it.
constexpr size_t kKeptBytesPerByte = 4;
// What a query that waits for its client holds besides the result that it holds back: blocks of its
// cursors. Every query with more than a few results waits for a moment, however fast its client
// reads, so this is a small claim, and so is that of an ordinary result.
constexpr size_t kWaitingQueryBytes = size_t{32} * 1024;
static_assert(kWaitingQueryBytes <= MemoryBudget::kSmallBytesMax);

// Runs `use` on a reader thread with the started query. A query that fails to start ends the call.
Status StartQuery(Engine& engine, const Databases& databases, const Call& call,
                  engine::QueryRequest request, Callback<void(Run)> use) {
  ASSIGN_OR_RETURN(const documents::DatabaseHandle database,
                   databases.Open(*call, request.query.query.parent.database));
  request.consistency = ForClientOf(*call, std::move(request.consistency));
  request.caller = CallerOf(call);
  engine.Query(*database, std::move(request), engine.readers(),
               [call, use = std::move(use)](Result<Run> run) mutable {
                 if (!run.ok()) return call->Finish(run.status());
                 use(*std::move(run));
               });
  return Status();
}

// One RunQuery: sends results one by one, as fast as the client reads.
//
// Threads: one step at a time, on a reader thread.
class ResultStream : public std::enable_shared_from_this<ResultStream> {
 public:
  ResultStream(Engine& engine, const Databases& databases, const Clock& clock,
               std::shared_ptr<WaitingQueries> waiting_queries, Call call)
      : engine_(engine),
        databases_(databases),
        clock_(clock),
        waiting_queries_(std::move(waiting_queries)),
        call_(std::move(call)),
        kept_claim_(engine.memory()),
        waiting_claim_(MemoryClaim::Lasting(engine.memory(), KeyOf(*call_))),
        held_back_claim_(MemoryClaim::Lasting(engine.memory(), KeyOf(*call_))) {}

  void Start(std::string_view bytes) {
    if (Status status = Read(bytes); !status.ok()) call_->Finish(status);
  }

 private:
  Status Read(std::string_view bytes) {
    RETURN_IF_ERROR(ClaimKept(kKeptBytesPerByte * bytes.size(), &kept_claim_));
    proto::RunQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::QueryRequest request, wire::ReadRunQuery(message));
    explain_ = request.explain;
    form_.mask = request.query.select;
    if (request.query.nearest) form_.distance_field = request.query.nearest->distance_result_field;
    ASSIGN_OR_RETURN(query::NormalizedQuery query, query::Normalize(std::move(request.query)));
    return StartQuery(engine_, databases_, call_,
                      {std::move(query), QueryAnswer::kDocuments, std::move(request.consistency)},
                      [self = shared_from_this()](Run run) { self->Open(std::move(run)); });
  }

  void Open(Run run) {
    run_ = std::move(run);
    if (!run_->new_transaction().empty()) {
      call_->Send(wire::EncodeQueryTransaction(run_->new_transaction()));
    }
    if (explain_ != Explain::kPlan) return Continue();
    wire::QueryAnswer plan;
    plan.explain_metrics = wire::EncodeExplainMetrics(run_->indexes_used(), std::nullopt);
    End(std::move(plan), Status());
  }

  void Continue() {
    const auto started = clock_.Monotonic();
    auto sent = started;
    size_t unwaited_bytes = 0;
    while (!call_->closed()) {
      if (unwaited_bytes >= kUnwaitedBytesMax || IsBehind(*call_)) {
        duration_ += clock_.Monotonic() - started;
        return WaitForClient();
      }
      Result<std::optional<request::QueryResult>> next = run_->Next();
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

  void WaitForClient() {
    const size_t held_back_bytes = held_back_ ? held_back_->document.size() : 0;
    if (!kept_claim_.MakeLasting(KeyOf(*call_)) || !waiting_claim_.Resize(kWaitingQueryBytes) ||
        !held_back_claim_.Resize(held_back_bytes)) {
      return End(std::nullopt,
                 Status(Code::kResourceExhausted, "the server has no memory for a waiting query"));
    }
    wait_ = waiting_queries_->Begin(call_);
    SendBatch();
    call_->WhenWritable([self = shared_from_this()] { self->ContinueLater(); });
  }

  void ContinueLater() {
    engine_.PostToReaders(KeyOf(*call_), [self = shared_from_this()] {
      self->wait_.reset();
      if (Status status = self->run_->Pause(); !status.ok()) return self->End(std::nullopt, status);
      self->Continue();
    });
  }

  // An answer with the number of results skipped since the previous one.
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
      answer.explain_metrics = wire::EncodeExplainMetrics(
          run_->indexes_used(), wire::Execution{run_->statistics(), duration_, run_->bill()});
    }
    End(std::move(answer), Status());
  }

  void End(const std::optional<wire::QueryAnswer>& last, const Status& status) {
    run_.reset();  // Before the client sees the end: its next request may end the transaction.
    if (last) batch_.Add(wire::EncodeQueryAnswer(*last));
    call_->Finish(std::exchange(batch_, {}), status);
  }

  Engine& engine_;
  const Databases& databases_;
  const Clock& clock_;
  const std::shared_ptr<WaitingQueries> waiting_queries_;  // Shared with the methods.
  const Call call_;
  wire::ResultForm form_;
  rpc::MessageBatch batch_;  // Not sent yet.
  Explain explain_ = Explain::kNothing;
  MemoryClaim kept_claim_;  // For the request.
  // Since the query first waited for the client, which decides for how long; then the one above
  // lasts as well. Two, so that an ordinary result leaves both small.
  MemoryClaim waiting_claim_;
  MemoryClaim held_back_claim_;
  std::unique_ptr<WaitingQueries::Wait> wait_;  // Null: it does not wait.
  Run run_;
  // The newest result waits for the next one, because the last of all has to be marked as such.
  std::optional<wire::QueryAnswer> held_back_;
  size_t skipped_ = 0;                      // As reported to the client.
  std::chrono::nanoseconds duration_ = {};  // Without the time spent waiting for a slow client.
};

// The single answer of RunAggregationQuery, besides a new transaction.
Result<std::string> AnswerAggregation(QueryRun& run, const Clock& clock,
                                      const wire::AggregationRequest& request) {
  wire::AggregationAnswer answer;
  if (request.base.explain == Explain::kPlan) {
    answer.explain_metrics = wire::EncodeExplainMetrics(run.indexes_used(), std::nullopt);
    return wire::EncodeAggregationAnswer(answer);
  }
  const auto started = clock.Monotonic();
  ASSIGN_OR_RETURN(const std::vector<std::string> values, run.Aggregate(request.aggregations));
  answer.result = wire::EncodeAggregationResult(request.aggregations, values);
  answer.read_time = run.read_time();
  if (request.base.explain == Explain::kAnalyze) {
    const wire::Execution execution{run.statistics(), clock.Monotonic() - started, run.bill()};
    answer.explain_metrics = wire::EncodeExplainMetrics(run.indexes_used(), execution);
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

void FirestoreMethods::RunQuery(const Call& call, std::string_view request) {
  // Before anything is parsed: under overload, a refusal must cost much less than an answer.
  if (Status room = engine_.CheckReaders(KeyOf(*call)); !room.ok()) return call->Finish(room);
  std::make_shared<ResultStream>(engine_, databases_, clock_, waiting_queries_, call)
      ->Start(request);
}

void FirestoreMethods::RunAggregationQuery(const Call& call, std::string_view bytes) {
  const auto start = [&]() -> Status {
    RETURN_IF_ERROR(engine_.CheckReaders(KeyOf(*call)));
    MemoryClaim kept(engine_.memory());
    RETURN_IF_ERROR(ClaimKept(kKeptBytesPerByte * bytes.size(), &kept));
    proto::RunAggregationQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::AggregationRequest request, wire::ReadRunAggregationQuery(message));
    ASSIGN_OR_RETURN(query::NormalizedQuery query,
                     query::Normalize(request.base.query, request.aggregations));
    engine::QueryRequest asked{std::move(query), QueryAnswer::kAggregates,
                               std::move(request.base.consistency)};
    return StartQuery(engine_, databases_, call, std::move(asked),
                      [this, call, kept = std::move(kept), request = std::move(request)](Run run) {
                        if (!run->new_transaction().empty()) {
                          call->Send(wire::EncodeQueryTransaction(run->new_transaction()));
                        }
                        Result<std::string> answer = AnswerAggregation(*run, clock_, request);
                        run.reset();
                        call->Respond(std::move(answer));
                      });
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreMethods::PartitionQuery(const Call& call, std::string_view bytes) {
  const auto start = [&]() -> Status {
    MemoryClaim kept(engine_.memory());
    RETURN_IF_ERROR(ClaimKept(kKeptBytesPerByte * bytes.size(), &kept));
    proto::PartitionQueryRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    ASSIGN_OR_RETURN(wire::PartitionRequest request, wire::ReadPartitionQuery(message));
    ASSIGN_OR_RETURN(query::NormalizedQuery query, query::Normalize(request.query));
    engine::QueryRequest asked{std::move(query), QueryAnswer::kPartitions,
                               std::move(request.consistency)};
    return StartQuery(engine_, databases_, call, std::move(asked),
                      [call, kept = std::move(kept), request = std::move(request)](Run run) {
                        Result<std::string> answer = AnswerPartition(*run, request);
                        run.reset();
                        call->Respond(std::move(answer));
                      });
  };
  if (const Status status = start(); !status.ok()) call->Finish(status);
}

void FirestoreMethods::ExecutePipeline(const Call& call, std::string_view bytes) {
  const auto refuse = [&]() -> Status {
    proto::ExecutePipelineRequest message;
    RETURN_IF_ERROR(wire::ParseMessage(bytes, &message));
    RETURN_IF_ERROR(model::DatabaseName::Parse(message.database()).status());
    // The tests of Google's clients look for "only allowed on ENTERPRISE mode".
    return Status(Code::kFailedPrecondition,
                  "Pipeline operations are only allowed on ENTERPRISE mode databases. This is a "
                  "Standard edition database.");
  };
  call->Finish(refuse());
}

}  // namespace hearth::service
