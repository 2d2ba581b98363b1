// Protobuf bodies from arbitrary bytes, through parsing and validation into a real engine. Stored
// documents must be canonical, and every error must be the client's fault.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/waiting_executor.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/query_run.h"
#include "model/document.h"
#include "query/normalize.h"
#include "storage/memory_store.h"
#include "wire/order_by.h"
#include "wire/query_requests.h"
#include "wire/requests.h"

namespace hearth {
namespace {

namespace proto = wire::proto;

// A database that is replaced before its inputs use too much memory.
class Target {
 public:
  void Commit(std::string_view body) {
    proto::CommitRequest request;
    if (!wire::ParseMessage(body, &request).ok()) return;
    const Result<model::DatabaseName> name = model::DatabaseName::Parse(request.database());
    if (!name.ok()) return;
    Result<std::vector<request::Write>> writes = wire::ReadWrites(*name, request.mutable_writes());
    if (!writes.ok()) {
      CHECK(writes.status().code() == Code::kInvalidArgument);
      return;
    }
    const documents::DatabaseHandle database = engine_->OpenDatabase(*name);
    CheckOutcome(Await<Result<request::CommitResult>>([&](Executor& here, auto done) {
      engine_->Commit(*database, *std::move(writes), request.transaction(), here, std::move(done));
    }));
  }

  void Query(std::string_view body) {
    proto::RunQueryRequest message;
    if (!wire::ParseMessage(body, &message).ok()) return;
    Result<wire::QueryRequest> request = wire::ReadRunQuery(message);
    if (!request.ok()) return;
    Result<query::NormalizedQuery> query = query::Normalize(std::move(request->query));
    if (!query.ok()) {
      CHECK(query.status().code() == Code::kInvalidArgument);
      return;
    }
    const documents::DatabaseHandle database = engine_->OpenDatabase(query->query.parent.database);
    engine::QueryRequest asked{*std::move(query)};
    const auto run =
        Await<Result<std::unique_ptr<engine::QueryRun>>>([&](Executor& here, auto done) {
          engine_->Query(*database, std::move(asked), here, std::move(done));
        });
    CHECK(run.ok());
    while (true) {
      const auto next = (*run)->Next();
      CHECK(next.ok());
      if (!*next) return;
    }
  }

  void Others(uint8_t kind, std::string_view body) {
    proto::BatchGetDocumentsRequest batch_get;
    proto::ListDocumentsRequest list;
    proto::BeginTransactionRequest begin;
    switch (kind % 4) {
      case 0:
        if (!wire::ParseMessage(body, &batch_get).ok()) return;
        (void)wire::ReadMaskOf(batch_get);
        (void)wire::ReadConsistency(batch_get);
        break;
      case 1:
        return Query(body);
      case 2:
        if (!wire::ParseMessage(body, &list).ok()) return;
        (void)wire::ParseOrderBy(list.order_by());
        (void)model::ParentName::Parse(list.parent());
        break;
      default:
        if (!wire::ParseMessage(body, &begin).ok()) return;
        (void)wire::ReadTransactionOptions(begin.options(),
                                           request::TransactionOptions::Mode::kReadWrite);
    }
  }

 private:
  static void CheckOutcome(const Result<request::CommitResult>& result) {
    if (!result.ok()) {
      CHECK(result.status().code() != Code::kInternal);
      CHECK(result.status().code() != Code::kDataLoss);
      return;
    }
    for (const request::WriteResult& write : result->write_results) {
      if (!write.document) continue;
      const std::string fields(model::RecordFields(*write.document));
      const Result<model::Fields> again = model::Fields::Validate(fields);
      CHECK(again.ok() && again->encoded() == fields);
    }
  }

  SystemClock clock_;
  RandomSource random_{1};
  std::unique_ptr<storage::Store> store_ = storage::NewMemoryStore();
  std::unique_ptr<engine::Engine> engine_ =
      *engine::Engine::Open(*store_, clock_, random_, engine::EngineOptions());
};

}  // namespace
}  // namespace hearth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kInputsPerTarget = 10'000;
  static std::unique_ptr<hearth::Target> target;
  static int inputs = 0;
  if (size == 0) return 0;
  if (inputs++ % kInputsPerTarget == 0) target = std::make_unique<hearth::Target>();
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    target->Commit(body);
  } else {
    target->Others(data[0] / 2, body);
  }
  return 0;
}
