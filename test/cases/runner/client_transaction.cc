#include "cases/runner/client_transaction.h"

#include <utility>

namespace hearth::cases {
namespace {

Status RolledBack() { return Status(Code::kCancelled, "rolled back by the case"); }

}  // namespace

ClientTransaction::ClientTransaction(const client::Firestore& database,
                                     const client::TransactionOptions& options)
    : database_(database), thread_([this, options] {
        const Status status = database_.RunTransaction(
            [this](client::Transaction& transaction) { return Attempt(transaction); }, options);
        bool has_begun = false;
        {
          MutexLock lock(mutex_);
          is_over_ = true;
          has_begun = has_begun_;
        }
        if (!has_begun) begun_.set_value(status);
        ended_.set_value(status);
      }) {}

ClientTransaction::~ClientTransaction() {
  End(RolledBack());
  thread_.join();
}

Status ClientTransaction::Attempt(client::Transaction& transaction) {
  {
    MutexLock lock(mutex_);
    has_begun_ = true;
  }
  begun_.set_value(Status());
  while (true) {
    std::function<void(client::Transaction&)> task;
    {
      MutexLock lock(mutex_);
      while (!task_ && !ending_) changed_.Wait(mutex_);
      task = std::exchange(task_, nullptr);
      if (!task) return *ending_;
    }
    task(transaction);
  }
}

Status ClientTransaction::AwaitBegin() { return begun_.get_future().get(); }

bool ClientTransaction::IsOpen() {
  MutexLock lock(mutex_);
  return !is_over_ && !ending_;
}

void ClientTransaction::Do(const std::function<void(client::Transaction&)>& task) {
  std::promise<void> done;
  {
    MutexLock lock(mutex_);
    task_ = [&](client::Transaction& transaction) {
      task(transaction);
      done.set_value();
    };
    changed_.NotifyAll();
  }
  done.get_future().wait();
}

void ClientTransaction::End(std::optional<Status> outcome) {
  MutexLock lock(mutex_);
  if (!ending_) ending_ = std::move(outcome);
  changed_.NotifyAll();
}

Status ClientTransaction::Commit(const std::vector<ClientWrite>& writes) {
  Do([&](client::Transaction& transaction) {
    for (const ClientWrite& write : writes) AddTo(database_, write, &transaction);
  });
  End(Status());
  return ended_future_.get();
}

Status ClientTransaction::Rollback() {
  End(RolledBack());
  const Status status = ended_future_.get();
  return status == RolledBack() ? Status() : status;
}

}  // namespace hearth::cases
