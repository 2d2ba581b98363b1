#include "engine/clearing.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/keys.h"
#include "model/path_encoding.h"

namespace hearth::engine {
namespace {

using storage::KeyRange;

std::deque<KeyRange> RangesOf(const Database& database, const ClearScope& scope) {
  const std::string prefix = DatabaseKeyPrefix(database.number);
  if (const auto* collection = std::get_if<model::CollectionPath>(&scope)) {
    return {storage::PrefixRange(prefix + model::EncodeCollectionSubtreePrefix(*collection))};
  }
  if (const auto* document = std::get_if<model::DocumentPath>(&scope)) {
    const std::string key = DocumentKey(database.number, *document);
    return {{key, key + '\0'},
            storage::PrefixRange(prefix + model::EncodeSubtreePrefix(document->path()))};
  }
  return {storage::PrefixRange(prefix)};
}

// One clear, from batch to batch. Each step keeps the object alive.
//
// Threads: one step at a time, on whatever thread. Ownership: borrows the engine and the database.
class Clearing : public std::enable_shared_from_this<Clearing> {
 public:
  Clearing(Engine& engine, Database& database, std::deque<KeyRange> ranges,
           std::function<void(Status)> done)
      : engine_(engine), database_(database), ranges_(std::move(ranges)), done_(std::move(done)) {}

  // Deletes the next batch, and then the rest.
  void Go() {
    const Status accepted = engine_.RunBlocking([self = shared_from_this()] { self->Read(); });
    if (!accepted.ok()) done_(accepted);
  }

 private:
  void Read() {
    ReadScope scope;
    scope.access = ReadScope::Access::kScans;
    const Consistency when = read_time_ ? Consistency(*read_time_) : Consistency(Now{});
    engine_.Read(database_, when, scope,
                 [self = shared_from_this()](Result<std::unique_ptr<ReadView>> view) {
                   if (!view.ok()) return self->done_(view.status());
                   self->DeleteNext(*std::move(view));
                 });
  }

  void DeleteNext(std::unique_ptr<ReadView> view) {
    // All batches read at the same moment, so that a clear cannot chase new documents forever.
    read_time_ = view->read_time();
    Result<std::vector<Write>> deletes = NextBatch(*view);
    view.reset();
    if (!deletes.ok() || deletes->empty()) return done_(deletes.status());
    engine_.Commit(database_, *std::move(deletes), "",
                   [self = shared_from_this()](const Result<CommitResult>& result) {
                     if (!result.ok()) return self->done_(result.status());
                     self->Go();
                   });
  }

  // Takes what it returns off the ranges; empty at their end.
  Result<std::vector<Write>> NextBatch(const ReadView& view) {
    std::vector<Write> deletes;
    size_t bytes = 0;
    for (; !ranges_.empty(); ranges_.pop_front()) {
      const std::unique_ptr<DocumentCursor> cursor = view.Scan(ranges_.front());
      for (; cursor->Valid(); cursor->Next()) {
        bytes += cursor->record().size();
        const bool is_full = deletes.size() >= kClearBatchDocumentsMax ||
                             (bytes > kClearBatchBytesMax && !deletes.empty());
        if (is_full) {
          ranges_.front().first = cursor->key();
          return deletes;
        }
        ASSIGN_OR_RETURN(model::DocumentPath path, DocumentPathOfKey(cursor->key()));
        deletes.push_back({std::move(path), WriteKind::kDelete, {}, std::nullopt, {}, {}});
      }
      RETURN_IF_ERROR(cursor->status());
    }
    return deletes;
  }

  Engine& engine_;
  Database& database_;
  std::deque<KeyRange> ranges_;  // What is left.
  std::optional<model::Timestamp> read_time_;
  const std::function<void(Status)> done_;
};

}  // namespace

void Clear(Engine& engine, Database& database, const ClearScope& scope,
           std::function<void(Status)> done) {
  std::make_shared<Clearing>(engine, database, RangesOf(database, scope), std::move(done))->Go();
}

}  // namespace hearth::engine
