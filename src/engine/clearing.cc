#include "engine/clearing.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "documents/document_cursor.h"
#include "engine/read_view.h"
#include "model/document_key.h"
#include "model/path_encoding.h"
#include "storage/store.h"

namespace hearth::engine {
namespace {

using storage::KeyRange;

std::deque<KeyRange> RangesOf(const documents::Database& database, const ClearScope& scope) {
  const std::string prefix = model::DatabaseKeyPrefix(database.number);
  if (const auto* collection = std::get_if<model::CollectionPath>(&scope)) {
    return {storage::PrefixRange(prefix + model::EncodeCollectionSubtreePrefix(*collection))};
  }
  if (const auto* document = std::get_if<model::DocumentPath>(&scope)) {
    const std::string key = model::DocumentKey(database.number, *document);
    return {{key, key + '\0'},
            storage::PrefixRange(prefix + model::EncodeSubtreePrefix(document->path()))};
  }
  return {storage::PrefixRange(prefix)};
}

// One clear, from batch to batch. Each step keeps the object alive.
//
// Threads: one step at a time, on the engine's readers. Ownership: borrows the engine and the
// executor.
class Clearing : public std::enable_shared_from_this<Clearing> {
 public:
  Clearing(Engine& engine, documents::Database& database, std::deque<KeyRange> ranges,
           Executor& executor, Callback<void(Status)> done, Caller caller)
      : engine_(engine),
        database_handle_(database.shared_from_this()),
        database_(database),
        ranges_(std::move(ranges)),
        executor_(executor),
        done_(std::move(done)),
        caller_(std::move(caller)) {}

  // Deletes the next batch, and then continues with the rest.
  void Go() {
    ReadScope scope;
    scope.access = ReadScope::Access::kScans;
    request::Consistency when = request::Now{};
    // All batches read at the same moment, so that a clear cannot chase new documents forever.
    if (read_time_) when = *read_time_;
    engine_.Read(
        database_, when, scope, engine_.readers(),
        [self = shared_from_this()](Result<std::unique_ptr<ReadView>> view) {
          if (!view.ok()) return self->End(view.status());
          self->DeleteNext(*std::move(view));
        },
        caller_);
  }

 private:
  void DeleteNext(std::unique_ptr<ReadView> view) {
    read_time_ = view->read_time();
    Result<std::vector<request::Write>> deletes = NextBatch(*view);
    view.reset();
    if (!deletes.ok() || deletes->empty()) return End(deletes.status());
    engine_.Commit(
        database_, *std::move(deletes), "", engine_.readers(),
        [self = shared_from_this()](const Result<request::CommitResult>& result) {
          if (!result.ok()) return self->End(result.status());
          self->Go();
        },
        caller_.client);
  }

  void End(const Status& status) {
    executor_.Post([self = shared_from_this(), status] { self->done_(status); });
  }

  // Removes the returned documents from the ranges; empty at their end.
  Result<std::vector<request::Write>> NextBatch(const ReadView& view) {
    std::vector<request::Write> deletes;
    size_t bytes = 0;
    for (; !ranges_.empty(); ranges_.pop_front()) {
      const std::unique_ptr<documents::DocumentCursor> cursor = view.Scan(ranges_.front());
      for (; cursor->Valid(); cursor->Next()) {
        RETURN_IF_ERROR(view.Pause());
        bytes += cursor->record().size();
        const bool is_full = deletes.size() >= kClearBatchDocumentsMax ||
                             (bytes > kClearBatchBytesMax && !deletes.empty());
        if (is_full) {
          ranges_.front().first = cursor->key();
          return deletes;
        }
        ASSIGN_OR_RETURN(model::DocumentPath path, model::DocumentPathOfKey(cursor->key()));
        deletes.push_back({std::move(path), request::WriteKind::kDelete, {}, std::nullopt, {}, {}});
      }
      RETURN_IF_ERROR(cursor->status());
    }
    return deletes;
  }

  Engine& engine_;
  const documents::DatabaseHandle database_handle_;  // Shared with the catalogue.
  documents::Database& database_;
  std::deque<KeyRange> ranges_;  // Remaining.
  std::optional<model::Timestamp> read_time_;
  Executor& executor_;
  Callback<void(Status)> done_;
  const Caller caller_;
};

}  // namespace

void Clear(Engine& engine, documents::Database& database, const ClearScope& scope,
           Executor& executor, Callback<void(Status)> done, Caller caller) {
  // Without room, not even the refusal waits for a reader.
  if (Status room = engine.CheckReaders(caller.client); !room.ok()) {
    return executor.Post([done = std::move(done), room]() mutable { done(room); });
  }
  std::make_shared<Clearing>(engine, database, RangesOf(database, scope), executor, std::move(done),
                             std::move(caller))
      ->Go();
}

}  // namespace hearth::engine
