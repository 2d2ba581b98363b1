// Calls the service's methods without a network: requests and answers are the same bytes that gRPC
// carries.
#include <deque>
#include <functional>
#include <utility>

#include "access/access_policy.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/thread_pool.h"
#include "cases/runner/doors.h"
#include "cases/runner/local_engine.h"
#include "cases/runner/rpc.h"
#include "rpc/call.h"
#include "rpc/methods.h"
#include "service/firestore_methods.h"
#include "storage/memory_store.h"

namespace hearth::cases {
namespace {

std::string PathOf(const std::string& method) { return "/google.firestore.v1.Firestore/" + method; }

// Runs methods and their callbacks, one after the other.
class Loop final : public Executor {
 public:
  void Post(Task task) override { pool_.Post(std::move(task)); }

 private:
  ThreadPool pool_{1, 0};
};

// One call, as its method sees it. Threads: safe for concurrent use.
class LocalCall final : public rpc::Call, public std::enable_shared_from_this<LocalCall> {
 public:
  LocalCall(Loop& loop, const std::string& method) : loop_(loop) {
    head_.set_method("POST");
    head_.set_target(PathOf(method));
  }

  const http::RequestHead& head() const override { return head_; }
  Executor& executor() const override { return loop_; }
  bool closed() const override {
    MutexLock lock(mutex_);
    return is_over_;
  }
  void OnCancelled(Task callback) override {
    MutexLock lock(mutex_);
    if (!is_over_) on_cancelled_ = std::move(callback);
  }
  void Send(std::string message) override {
    MutexLock lock(mutex_);
    if (!is_over_) messages_.push_back(std::move(message));
    changed_.NotifyAll();
  }
  void Send(rpc::MessageBatch batch) override {
    batch.ForEach([this](std::string_view message) { Send(std::string(message)); });
  }
  void WhenWritable(Task callback) override {
    if (!closed()) loop_.Post(std::move(callback));
  }
  void Finish(const Status& status) override {
    MutexLock lock(mutex_);
    if (is_over_) return;
    is_over_ = true;
    status_ = status;
    on_cancelled_ = nullptr;
    changed_.NotifyAll();
  }
  void Finish(rpc::MessageBatch last, const Status& status) override {
    Send(std::move(last));
    Finish(status);
  }
  void Respond(Result<std::string> answer) override {
    if (answer.ok()) Send(*std::move(answer));
    Finish(answer.status());
  }
  void PauseReceiving() override {
    MutexLock lock(mutex_);
    is_paused_ = true;
  }
  void ResumeReceiving() override {
    {
      MutexLock lock(mutex_);
      is_paused_ = false;
    }
    loop_.Post([self = shared_from_this()] { self->Deliver(); });
  }

  // The client's side.
  void Cancel() {
    Task callback;
    {
      MutexLock lock(mutex_);
      is_over_ = true;
      callback = std::exchange(on_cancelled_, nullptr);
    }
    if (callback) callback();
  }
  bool IsOver() { return closed(); }
  // The next message, or how the call ended.
  Result<std::string> Next() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mutex_);
    while (messages_.empty() && !is_over_) {
      if (std::chrono::steady_clock::now() > end) return OutOfPatience();
      changed_.WaitFor(mutex_, std::chrono::seconds(1));
    }
    if (messages_.empty()) {
      return status_.ok() ? Status(Code::kOutOfRange, "the stream has ended") : status_;
    }
    std::string message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  // Waits for the end.
  Result<std::vector<std::string>> All() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mutex_);
    while (!is_over_) {
      if (std::chrono::steady_clock::now() > end) return OutOfPatience();
      changed_.WaitFor(mutex_, std::chrono::seconds(1));
    }
    if (!status_.ok()) return status_;
    return std::vector<std::string>(messages_.begin(), messages_.end());
  }
  // On the loop: opens the stream, accepts the client's messages, and ends it.
  void Receive(const rpc::StreamMethod& method) { receiver_ = method(shared_from_this()); }
  void Take(std::string message) {
    incoming_.push_back(std::move(message));
    Deliver();
  }
  void Drop() {
    Cancel();
    receiver_.reset();
  }

 private:
  void Deliver() {
    while (receiver_ && !incoming_.empty() && !is_paused()) {
      const std::string message = std::move(incoming_.front());
      incoming_.pop_front();
      receiver_->OnMessage(message);
    }
  }
  bool is_paused() const {
    MutexLock lock(mutex_);
    return is_paused_;
  }

  Loop& loop_;
  http::RequestHead head_;
  std::unique_ptr<rpc::Receiver> receiver_;  // Used on the loop.
  std::deque<std::string> incoming_;         // Used on the loop.
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<std::string> messages_ GUARDED_BY(mutex_);
  bool is_over_ GUARDED_BY(mutex_) = false;
  bool is_paused_ GUARDED_BY(mutex_) = false;
  Status status_ GUARDED_BY(mutex_);
  Task on_cancelled_ GUARDED_BY(mutex_);
};

class LocalPending final : public PendingRpc {
 public:
  explicit LocalPending(std::shared_ptr<LocalCall> call) : call_(std::move(call)) {}
  ~LocalPending() override { call_->Cancel(); }
  bool IsDone() override { return call_->IsOver(); }
  Result<std::vector<std::string>> Wait() override { return call_->All(); }

 private:
  const std::shared_ptr<LocalCall> call_;  // Shared with the method.
};

class LocalStream final : public RpcStream {
 public:
  LocalStream(Loop& loop, std::shared_ptr<LocalCall> call) : loop_(loop), call_(std::move(call)) {}
  ~LocalStream() override {
    loop_.Post([call = call_] { call->Drop(); });
  }
  void Send(const google::protobuf::Message& message) override {
    loop_.Post([call = call_, bytes = message.SerializeAsString()] { call->Take(bytes); });
  }
  Result<std::string> Receive() override { return call_->Next(); }

 private:
  Loop& loop_;
  const std::shared_ptr<LocalCall> call_;  // Shared with the method.
};

class LocalChannel final : public RpcChannel {
 public:
  LocalChannel(Loop& loop, const rpc::Methods& methods) : loop_(loop), methods_(methods) {}

  std::unique_ptr<PendingRpc> Start(const Request& request) override {
    const auto [call, method] = Open(MethodOf(request));
    loop_.Post([call = call, method = method, bytes = MessageOf(request).SerializeAsString()] {
      std::get<rpc::SingleRequestMethod> (*method)(call, bytes);
    });
    return std::make_unique<LocalPending>(call);
  }

  std::unique_ptr<RpcStream> OpenStream(const std::string& name, const std::string&) override {
    const auto [call, method] = Open(name);
    loop_.Post(
        [call = call, method = method] { call->Receive(std::get<rpc::StreamMethod>(*method)); });
    return std::make_unique<LocalStream>(loop_, call);
  }

 private:
  std::pair<std::shared_ptr<LocalCall>, const rpc::Method*> Open(const std::string& name) {
    const rpc::Method* method = methods_.Find(PathOf(name));
    CHECK(method != nullptr);
    return {std::make_shared<LocalCall>(loop_, name), method};
  }

  Loop& loop_;
  const rpc::Methods& methods_;
};

class EngineDoor final : public Door {
 public:
  EngineDoor() { service_.Register(&methods_); }

  std::optional<std::string> WhyNot(const Operation&) const override { return std::nullopt; }
  std::optional<std::string> WhyNotListen(const proto::Target&) const override {
    return std::nullopt;
  }
  bool Shows(Detail) const override { return true; }
  std::unique_ptr<Session> Open(const std::string& database) override {
    return NewRpcSession(std::make_unique<LocalChannel>(loop_, methods_), database);
  }

 private:
  rpc::Methods methods_;
  LocalEngine local_{storage::NewMemoryStore()};
  const access::AccessPolicy policy_{"unused", {}};  // Every project is open.
  service::FirestoreMethods service_{*local_.engine, policy_, local_.clock, local_.random};
  Loop loop_;
};

}  // namespace

std::unique_ptr<Door> NewEngineDoor() { return std::make_unique<EngineDoor>(); }

}  // namespace hearth::cases
