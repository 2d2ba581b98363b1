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

// A transaction of the C++ client, one attempt of it, told step by step what to do. The client
// runs a transaction as a function: this one waits for its next task, on a thread of its own.
//
// Threads: safe for concurrent use. At the end of its life it is rolled back if it has not ended.
class ClientTransaction {
 public:
  ClientTransaction(const client::Firestore& database, const client::TransactionOptions& options);
  ~ClientTransaction();
  ClientTransaction(const ClientTransaction&) = delete;
  ClientTransaction& operator=(const ClientTransaction&) = delete;

  // Waits until it has begun; the error where it has not.
  Status AwaitBegin();
  // False once it has ended.
  bool IsOpen() EXCLUDES_LOCK(mutex_);
  // Runs `task` within the transaction, and waits for it.
  void Do(const std::function<void(client::Transaction&)>& task) EXCLUDES_LOCK(mutex_);
  // Ends it, and waits for that.
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
  std::optional<Status> ending_ GUARDED_BY(mutex_);  // What the function is to return.
  bool has_begun_ GUARDED_BY(mutex_) = false;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace hearth::cases
