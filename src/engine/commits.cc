// Commits and transactions, up to the committer.
#include <utility>

#include "base/status_macros.h"
#include "engine/core.h"
#include "model/document_key.h"
#include "transactions/write_effect.h"

namespace hearth::engine {
namespace {

using documents::Database;
using transactions::LockOwner;
using transactions::Transaction;

transactions::LockScope ToLockScope(const Database& database,
                                    const std::vector<request::Write>& writes) {
  transactions::LockScope locks;
  locks.document_keys.reserve(writes.size());
  for (const request::Write& write : writes) {
    locks.document_keys.push_back(model::DocumentKey(database.number, write.path));
  }
  return locks;
}

}  // namespace

void Engine::Core::Admit(Database& database, std::vector<request::Write> writes,
                         const LockOwner& owner, ClientKey client, CommitCallback done) {
  const size_t bytes = request::ApproximateBytes(writes);
  if (!commits_under_way_.Begin(client, bytes)) {
    locks_.Release(owner);
    counters_.commit_errors.Add();
    return done(Status(Code::kResourceExhausted, "too many commits are waiting"));
  }
  const bool may_create = !database.is_on_disk;
  if (may_create) {
    if (const Status status = catalog_->BeginCreation(database, client); !status.ok()) {
      commits_under_way_.End(client, bytes);
      locks_.Release(owner);
      counters_.commit_errors.Add();
      return done(status);
    }
  }
  transactions::LockScope scope = ToLockScope(database, writes);
  // Shared by the lock table's may_enter question and the callback.
  auto commit = std::make_shared<commit::AdmittedCommit>(commit::AdmittedCommit{
      database.shared_from_this(), owner, client, std::move(writes),
      [this, client, bytes, may_create, &database,
       done = std::move(done)](Result<request::CommitResult> result) mutable {
        commits_under_way_.End(client, bytes);
        if (may_create) catalog_->EndCreation(database);
        (result.ok() ? counters_.commits : counters_.commit_errors).Add();
        done(std::move(result));
      }});
  scope.may_enter = [commit](size_t i, const watch::LiveQuery& query) {
    return transactions::MayEnter(query, commit->database->name, commit->writes[i]);
  };
  locks_.Acquire(
      owner, std::move(scope), transactions::LockMode::kWrite,
      [this, commit = std::move(commit)](const Status& status) {
        if (status.ok()) return committer_.Submit(std::move(*commit));
        locks_.Release(commit->owner);
        commit->done(status);
      },
      client);
}

void Engine::Core::Commit(Database& database, std::vector<request::Write> writes,
                          std::string_view transaction, Executor& executor, CommitCallback done,
                          ClientKey client) {
  auto answer = [&executor, done = std::move(done)](Result<request::CommitResult> result) mutable {
    executor.Post([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    });
  };
  if (transaction.empty()) {
    return Admit(database, std::move(writes), transactions_.NewOwner(), client, std::move(answer));
  }
  Result<std::shared_ptr<const Transaction>> used = transactions_.BeginUse(database, transaction);
  if (!used.ok()) return answer(used.status());
  transactions_.EndUse(**used);
  const bool is_read_only = (*used)->mode == request::TransactionOptions::Mode::kReadOnly;
  if (is_read_only && !writes.empty()) {
    return answer(InvalidArgument("Cannot modify entities in a read-only transaction."));
  }
  Result<std::shared_ptr<const Transaction>> taken =
      transactions_.TakeForCommit(database, transaction);
  if (!taken.ok()) return answer(taken.status());
  // The transaction, and with it the locks, lasts exactly as long as its commit: when the commit is
  // reported, the locks are already released.
  const LockOwner owner = (*taken)->owner;
  Admit(database, std::move(writes), owner, client,
        [transaction = *std::move(taken),
         answer = std::move(answer)](Result<request::CommitResult> result) mutable {
          transaction.reset();
          answer(std::move(result));
        });
}

Result<std::string> Engine::Core::BeginTransaction(const Database& database,
                                                   const request::TransactionOptions& options,
                                                   request::Client client) {
  if (options.read_time) RETURN_IF_ERROR(CheckReadTime(*options.read_time));
  ASSIGN_OR_RETURN(const std::shared_ptr<const Transaction> transaction,
                   transactions_.Begin(database, options, std::move(client)));
  return transaction->id;
}

}  // namespace hearth::engine
