// Views: the moment that a read sees, and what it waits for.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/status_macros.h"
#include "documents/keys.h"
#include "engine/core.h"
#include "model/path_encoding.h"

namespace hearth::engine {

using documents::Database;
using model::Timestamp;
using transactions::LockTable;
using transactions::Transaction;
using View = Result<std::unique_ptr<ReadView>>;

namespace {

// A wait for locks that ends when the caller leaves. Shared by the request's callback and the call
// that makes the request, which may be decided before that call returns.
struct LockWait {
  std::optional<std::stop_callback<std::function<void()>>> when_left;
};

}  // namespace

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
  parts.forgotten_micros = &forgotten_micros_;
  parts.read_time = read_time;
  if (scope.access == ReadScope::Access::kScans) {
    do {  // See IndexRegistry.
      parts.indexes = indexes_.Current();
      parts.snapshot = store_.NewSnapshot();
    } while (parts.indexes != indexes_.Current());
    parts.memory = options_.memory;
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

View Engine::Core::ViewAtSettled(const Database& database, Timestamp read_time,
                                 PauseFunction pause) {
  commit_clock_.WaitUntilSettled(read_time);
  ReadScope scope;
  scope.access = ReadScope::Access::kScans;
  ReadViewParts parts;
  parts.pause = std::move(pause);
  return ViewAt(database, scope, read_time, std::move(parts));
}

std::unique_ptr<ReadView> Engine::Core::ReadNewest(const Database& database) {
  ReadViewParts parts;
  parts.database = database.shared_from_this();
  parts.reader = &reader_;
  parts.forgotten_micros = &forgotten_micros_;
  parts.read_time = commit_clock_.ReadTime();
  return std::make_unique<ReadView>(std::make_unique<const ReadViewParts>(std::move(parts)));
}

void Engine::Core::Read(const Database& database, const request::Consistency& consistency,
                        const ReadScope& scope, Executor& executor, ReadCallback done,
                        Caller caller) {
  const bool is_on_readers = &executor == &readers_;
  OpeningView opening{database.shared_from_this(), scope, std::move(done), caller};
  if (scope.access == ReadScope::Access::kScans) {
    opening.parts.pause = PauseUnless(std::move(caller.left));
    // So that no snapshot waits in the queue.
    if (is_on_readers) return OpenInTurn(consistency, std::move(opening));
  }
  opening.done = [this, &executor, is_on_readers, client = caller.client,
                  done = std::move(opening.done)](View view) mutable {
    Task deliver = [done = std::move(done), view = std::move(view)]() mutable {
      done(std::move(view));
    };
    if (is_on_readers) return readers_.Post(client, std::move(deliver));
    executor.Post(std::move(deliver));
  };
  OpenView(consistency, std::move(opening));
}

void Engine::Core::OpenInTurn(const request::Consistency& consistency, OpeningView opening) {
  const ClientKey client = opening.caller.client;
  auto waiting = std::make_shared<OpeningView>(std::move(opening));
  const auto open = [this, waiting, consistency] {
    // The client may have left in the meantime.
    if (Status status = waiting->parts.pause(); !status.ok()) return waiting->done(status);
    OpenView(consistency, std::move(*waiting));
  };
  // A task goes on: its work was admitted before.
  if (readers_.RunsHere()) return readers_.Post(client, open);
  const Status accepted = readers_.TryPost(client, open);
  if (accepted.ok()) return;
  // Not in the client's own queue, which has no room.
  readers_.Post(ClientKey::kInternal, [waiting, accepted] { waiting->done(accepted); });
}

void Engine::Core::OpenView(const request::Consistency& consistency, OpeningView opening) {
  if (std::holds_alternative<request::Now>(consistency)) {
    return OpenAt(commit_clock_.ReadTime(), std::move(opening));
  }
  if (const auto* read_time = std::get_if<Timestamp>(&consistency)) {
    if (Status status = CheckReadTime(*read_time); !status.ok()) return opening.done(status);
    return OpenAt(*read_time, std::move(opening));
  }
  std::string id;
  request::Client client;
  if (const auto* existing = std::get_if<request::InTransaction>(&consistency)) {
    id = existing->id;
    client = existing->client;
  } else {
    const auto& beginning = std::get<request::NewTransaction>(consistency);
    Result<std::string> started =
        BeginTransaction(*opening.database, beginning.options, beginning.client);
    if (!started.ok()) return opening.done(started.status());
    id = opening.parts.new_transaction = *std::move(started);
    client = beginning.client;
  }
  Result<std::shared_ptr<const Transaction>> transaction =
      transactions_.BeginUse(*opening.database, id, std::move(client));
  if (!transaction.ok()) return opening.done(transaction.status());
  OpenInTransaction(*std::move(transaction), std::move(opening));
}

void Engine::Core::OpenAt(Timestamp read_time, OpeningView opening) {
  const auto finish = [this, read_time](OpeningView& settled) {
    settled.done(ViewAt(*settled.database, settled.scope, read_time, std::move(settled.parts)));
  };
  // Commits at or before that moment may still be on their way to the disk. The wait is short, but
  // only a reader may block.
  if (readers_.RunsHere()) {
    commit_clock_.WaitUntilSettled(read_time);
    return finish(opening);
  }
  const bool needs_no_disk = opening.scope.access == ReadScope::Access::kSingleDocuments;
  if (needs_no_disk && commit_clock_.TrySettle(read_time)) return finish(opening);
  const ClientKey client = opening.caller.client;
  auto waiting = std::make_shared<OpeningView>(std::move(opening));
  const Status accepted = readers_.TryPost(client, [this, read_time, finish, waiting] {
    commit_clock_.WaitUntilSettled(read_time);
    finish(*waiting);
  });
  if (!accepted.ok()) waiting->done(accepted);
}

void Engine::Core::OpenInTransaction(std::shared_ptr<const Transaction> transaction,
                                     OpeningView opening) {
  opening.parts.use = std::shared_ptr<void>(
      nullptr, [this, transaction](void*) { transactions_.EndUse(*transaction); });
  if (transaction->mode == request::TransactionOptions::Mode::kReadOnly) {
    return OpenAt(transaction->read_time, std::move(opening));
  }
  opening.parts.locked_by = transaction->owner;
  transactions::LockScope locks = ToLockScope(*opening.database, opening.scope);
  const Caller caller = opening.caller;
  const auto wait = std::make_shared<LockWait>();
  const LockTable::Ticket ticket = locks_.Acquire(
      transaction->owner, std::move(locks), transaction->read_lock,
      [this, transaction, wait, opening = std::move(opening)](const Status& locked) mutable {
        if (opening.scope.access == ReadScope::Access::kSingleDocuments) {
          return FinishLocked(*transaction, locked, std::move(opening));
        }
        const ClientKey client = opening.caller.client;
        readers_.Post(client, [this, transaction, locked, opening = std::move(opening)]() mutable {
          FinishLocked(*transaction, locked, std::move(opening));
        });
      },
      caller.client);
  wait->when_left.emplace(caller.left, [this, ticket] { locks_.Cancel(ticket); });
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
  // has lost its locks stays, so that later requests get the same error. One whose caller does not
  // wait any more stays as it was.
  const bool may_go_on =
      locked.ok() || locked.code() == Code::kAborted || locked.code() == Code::kCancelled;
  const bool is_over = is_first_read ? !view.ok() : !may_go_on;
  if (is_over) {
    IgnoreError(transactions_.Rollback(*opening.database, transaction.id),
                "it may have ended already");
  }
  opening.done(std::move(view));
}

}  // namespace hearth::engine
