// Views: the moment that a read sees, and what it waits for.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "documents/keys.h"
#include "engine/core.h"
#include "model/path_encoding.h"

namespace hearth::engine {

using documents::Database;
using model::Timestamp;
using transactions::Transaction;
using View = Result<std::unique_ptr<ReadView>>;

transactions::LockScope ToLockScope(const Database& database, const ReadScope& scope) {
  transactions::LockScope locks;
  for (const model::DocumentPath& path : scope.documents) {
    locks.document_keys.push_back(model::DocumentKey(database.number, path));
  }
  std::string part;
  if (!scope.collection_id.empty()) {
    model::AppendSegment(scope.collection_id, &part);
    part.append(model::kDocumentMark);
  }
  for (const std::string& prefix : scope.path_prefixes) {
    locks.key_prefixes.push_back({model::DatabaseKeyPrefix(database.number) + prefix, part});
  }
  return locks;
}

Status Engine::Core::CheckReadTime(Timestamp read_time) const {
  if (read_time.micros() <= 0) return InvalidArgument("Only timestamps past epoch are supported.");
  const int64_t now = clock_.WallMicros();
  if (read_time.micros() > std::max(now, commit_clock_.Newest().micros())) {
    return InvalidArgument("The requested 'read_time' cannot be in the future.");
  }
  const int64_t oldest =
      std::max(now - std::chrono::microseconds(options_.history).count(), forgotten_micros_.load());
  if (read_time.micros() < oldest) {
    return Status(Code::kFailedPrecondition, "The requested 'read_time' is too old.");
  }
  return Status();
}

View Engine::Core::ViewAt(const Database& database, const ReadScope& scope, Timestamp read_time,
                          ReadViewParts parts) const {
  parts.database = database.shared_from_this();
  parts.reader = &reader_;
  parts.read_time = read_time;
  if (scope.access == ReadScope::Access::kScans) {
    parts.indexes = indexes_.Current();  // Before the snapshot: see IndexRegistry.
    parts.snapshot = store_.NewSnapshot();
    // The snapshot records its own newest commit. If that is later than the read time, or not
    // published yet, scans go back to the earlier state.
    ASSIGN_OR_RETURN(const std::optional<std::string> stored,
                     parts.snapshot->Get(storage::Space::kMeta, documents::kCommitTimeKey));
    ASSIGN_OR_RETURN(const uint64_t newest,
                     stored ? model::DecodeUint64(*stored) : Result<uint64_t>(0u));
    parts.is_present = newest <= static_cast<uint64_t>(read_time.micros());
  }
  return std::make_unique<ReadView>(std::make_unique<const ReadViewParts>(std::move(parts)));
}

View Engine::Core::ViewAtSettled(const Database& database, Timestamp read_time) {
  commit_clock_.WaitUntilSettled(read_time);
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  return ViewAt(database, scope, read_time, {});
}

std::unique_ptr<ReadView> Engine::Core::ReadNewest(const Database& database) {
  ReadViewParts parts;
  parts.database = database.shared_from_this();
  parts.reader = &reader_;
  parts.read_time = commit_clock_.ReadTime();
  return std::make_unique<ReadView>(std::make_unique<const ReadViewParts>(std::move(parts)));
}

void Engine::Core::Read(const Database& database, const request::Consistency& consistency,
                        const ReadScope& scope, Executor& executor, ReadCallback done) {
  OpenView(Here::kElsewhere, database, consistency, scope,
           [&executor, done = std::move(done)](View view) mutable {
             executor.Post([done = std::move(done), view = std::move(view)]() mutable {
               done(std::move(view));
             });
           });
}

void Engine::Core::OpenView(Here here, const Database& database,
                            const request::Consistency& consistency, const ReadScope& scope,
                            ReadCallback done) {
  OpeningView opening{database.shared_from_this(), scope, {}, std::move(done)};
  if (std::holds_alternative<request::Now>(consistency)) {
    return OpenAt(here, commit_clock_.ReadTime(), std::move(opening));
  }
  if (const auto* read_time = std::get_if<Timestamp>(&consistency)) {
    if (Status status = CheckReadTime(*read_time); !status.ok()) return opening.done(status);
    return OpenAt(here, *read_time, std::move(opening));
  }
  std::string id;
  request::Client client;
  if (const auto* existing = std::get_if<request::InTransaction>(&consistency)) {
    id = existing->id;
    client = existing->client;
  } else {
    const auto& beginning = std::get<request::NewTransaction>(consistency);
    Result<std::string> started = BeginTransaction(database, beginning.options, beginning.client);
    if (!started.ok()) return opening.done(started.status());
    id = opening.parts.new_transaction = *std::move(started);
    client = beginning.client;
  }
  opening.client = request::KeyOf(client);
  Result<std::shared_ptr<const Transaction>> transaction =
      transactions_.BeginUse(database, id, std::move(client));
  if (!transaction.ok()) return opening.done(transaction.status());
  OpenInTransaction(here, *std::move(transaction), std::move(opening));
}

void Engine::Core::OpenAt(Here here, Timestamp read_time, OpeningView opening) {
  const ClientKey client = opening.client;
  const bool needs_no_disk = opening.scope.access == ReadScope::Access::kSingleDocuments;
  if ((needs_no_disk || here == Here::kReader) && commit_clock_.TrySettle(read_time)) {
    return opening.done(
        ViewAt(*opening.database, opening.scope, read_time, std::move(opening.parts)));
  }
  // Commits at or before that moment may still be on their way to the disk. The wait is short, but
  // only a reader may block.
  auto waiting = std::make_shared<OpeningView>(std::move(opening));
  const Status accepted = readers_.TryPost(client, [this, read_time, waiting] {
    commit_clock_.WaitUntilSettled(read_time);
    waiting->done(ViewAt(*waiting->database, waiting->scope, read_time, std::move(waiting->parts)));
  });
  if (!accepted.ok()) waiting->done(accepted);
}

void Engine::Core::OpenInTransaction(Here here, std::shared_ptr<const Transaction> transaction,
                                     OpeningView opening) {
  opening.parts.use = std::shared_ptr<void>(
      nullptr, [this, transaction](void*) { transactions_.EndUse(*transaction); });
  if (transaction->mode == request::TransactionOptions::Mode::kReadOnly) {
    return OpenAt(here, transaction->read_time, std::move(opening));
  }
  opening.parts.locked_by = transaction->owner;
  transactions::LockScope locks = ToLockScope(*opening.database, opening.scope);
  locks_.Acquire(transaction->owner, std::move(locks), transaction->read_lock,
                 [this, transaction, opening = std::move(opening)](const Status& locked) mutable {
                   if (opening.scope.access == ReadScope::Access::kSingleDocuments) {
                     return FinishLocked(*transaction, locked, std::move(opening));
                   }
                   const ClientKey client = opening.client;
                   readers_.Post(
                       client, [this, transaction, locked, opening = std::move(opening)]() mutable {
                         FinishLocked(*transaction, locked, std::move(opening));
                       });
                 });
}

void Engine::Core::FinishLocked(const Transaction& transaction, const Status& locked,
                                OpeningView opening) {
  const bool is_first_read = !opening.parts.new_transaction.empty();
  View view = locked.ok() ? ViewAt(*opening.database, opening.scope, commit_clock_.ReadTime(),
                                   std::move(opening.parts))
                          : View(locked);
  // Documents read earlier may have changed by the view's moment.
  if (view.ok() && locks_.HasLost(transaction.owner)) view = transactions::LocksLost();
  // The id of a transaction whose first read failed is not known to any client. A transaction that
  // has lost its locks stays, so that later requests get the same error.
  const bool is_over = is_first_read ? !view.ok() : !locked.ok() && locked.code() != Code::kAborted;
  if (is_over) {
    IgnoreError(transactions_.Rollback(*opening.database, transaction.id),
                "it may have ended already");
  }
  opening.done(std::move(view));
}

}  // namespace hearth::engine
