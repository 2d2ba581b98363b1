#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "cases/runner/client_convert.h"
#include "client/firestore.h"

namespace hearth::cases {

// One attempt of a transaction of the C++ client, controlled step by step. The client runs a
// transaction as a function; here that function waits for its next task, on its own thread.
//
// Threads: safe for concurrent use. The destructor rolls it back if it has not ended.
class ClientTransaction {
 public:
  ClientTransaction(const client::Firestore& database, const client::TransactionOptions& options);
  ~ClientTransaction();
  ClientTransaction(const ClientTransaction&) = delete;
  ClientTransaction& operator=(const ClientTransaction&) = delete;

  // Waits until it has begun; returns the error if it could not.
  Status AwaitBegin();
  // False once it has ended.
  bool IsOpen() EXCLUDES_LOCK(mutex_);
  // Runs `task` within the transaction, and waits for it.
  void Do(const std::function<void(client::Transaction&)>& task) EXCLUDES_LOCK(mutex_);
  // Ends it and waits until it has ended.
  Status Commit(const std::vector<ClientWrite>& writes);
  Status Rollback();

 private:
  Status Attempt(client::Transaction& transaction);
  void End(std::optional<Status> outcome) EXCLUDES_LOCK(mutex_);

  const client::Firestore database_;
  std::promise<Status> begun_;
  std::promise<Status> ended_;
  std::future<Status> ended_future_ = ended_.get_future();
  Mutex mutex_;
  CondVar changed_;
  std::function<void(client::Transaction&)> task_ GUARDED_BY(mutex_);
  std::optional<Status> ending_ GUARDED_BY(mutex_);  // What the function should return.
  bool has_begun_ GUARDED_BY(mutex_) = false;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hearth::cases
