#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "doors/rest/bindings.h"
#include "doors/rest/query_parameters.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "http/rpc.h"
#include "wire/json.h"

namespace hearth::doors::rest {

// What a request asks for, before its body is there.
struct RestRequest {
  std::shared_ptr<const Bindings>
      bindings;  // Shared: `match` views them, and may outlive the door.
  Match match;
  QueryParameters parameters;
  wire::JsonForm form;
};

struct RestOptions {
  // Firestore's limit for a request, and something for what JSON says in more words.
  size_t body_bytes_max = 10 * 1024 * 1024 + 64 * 1024;
  // Longer ones are read where they keep no loop busy.
  size_t loop_body_bytes_max = 64 * 1024;
};

// Runs a task on a thread that is nobody's loop; fails when too many wait there.
using Background = std::function<Status(std::function<void()> task)>;

// One request in JSON. A method with one answer gets an object, one with many a list that is sent
// while it grows. An error is an object as well, in a list where a list was asked for; one that
// comes after the first element is the last element.
//
// Threads, Ownership: as RpcCall says. The exchange holds it until OnClosed. Messages become JSON
// on the thread that sends them, so that a long answer does not keep the loop busy.
class RestCall final : public http::RpcCall,
                       public http::ExchangeHandler,
                       public std::enable_shared_from_this<RestCall> {
 public:
  // `method` outlives the call, `background` the exchange.
  RestCall(http::Exchange& exchange, const http::SingleRequestMethod& method, RestRequest request,
           const Background& background, const RestOptions& options);

  const http::RequestHead& head() const override { return head_; }
  bool closed() const override { return closed_.load(std::memory_order_acquire); }
  void OnCancelled(std::function<void()> callback) override;
  void Send(std::string message) override;
  void Send(http::MessageBatch batch) override;
  void WhenWritable(std::function<void()> callback) override;
  void Finish(const Status& status) override;
  void Finish(http::MessageBatch last, const Status& status) override;
  void Respond(Result<std::string> answer) override;

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override;
  void OnWritable() override;
  void OnClosed() override;

 private:
  template <typename Work>
  void OnLoop(Work work);

  bool answers_with_list() const { return request_.match.binding->method->server_streaming(); }
  Result<std::string> Encode(std::string_view message) const;
  Result<std::string> Encode(const http::MessageBatch& batch) const;
  // The bytes of the request message.
  Result<std::string> ReadRequest(std::string body) const;

  // What follows runs on the loop.
  void SendNow(Result<std::string> json);
  void SendListHeadNow();
  void FinishNow(const Status& status);
  void FinishListNow(const Status& status);
  void AnswerNow(http::PlainAnswer answer);
  // Ends the call with an error that its method did not ask for.
  void RefuseNow(const Status& status, int http_status = 0);
  void MarkEnded();
  void DropBody();
  void StartNow(const Result<std::string>& message);

  const std::shared_ptr<http::EventLoop> loop_;  // Shared: the call may outlive the server.
  const http::RequestHead head_;
  const http::SingleRequestMethod& method_;
  const RestRequest request_;
  const Background& background_;
  const RestOptions options_;
  std::atomic<bool> closed_ = false;

  // Everything below belongs to the loop.
  http::Exchange* exchange_;  // Null once closed.
  std::string body_;
  size_t budgeted_bytes_ = 0;
  std::string answer_;  // Of a method that has one, until it is finished.
  std::function<void()> on_cancelled_;
  std::function<void()> on_writable_;
  bool head_sent_ = false;
  bool ended_ = false;
  bool cancelled_ = false;  // Ended other than by Finish.
};

}  // namespace hearth::doors::rest
