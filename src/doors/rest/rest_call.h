#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory_budget.h"
#include "doors/rest/bindings.h"
#include "doors/rest/query_parameters.h"
#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "rpc/call.h"
#include "rpc/loop_call.h"
#include "wire/json.h"

namespace hearth::doors::rest {

// A request before its body has arrived.
struct RestRequest {
  std::shared_ptr<const Bindings>
      bindings;  // Shared: `match` refers to them, and may outlive the door.
  Match match;
  QueryParameters parameters;
  wire::JsonForm form;
};

struct RestOptions {
  // Firestore's limit for a request, plus some room for JSON's overhead.
  size_t body_bytes_max = 10 * 1024 * 1024 + 64 * 1024;
  // Longer ones are handled off the loop.
  size_t loop_body_bytes_max = 64 * 1024;
  MemoryBudget* memory = nullptr;  // For bodies off the loop. Null: unlimited.
};

// One request in JSON. A method with one answer returns an object, one with many a list that is
// sent as it grows. An error is an object as well, inside a list if the method returns a list; an
// error after the first element is the last element.
//
// Threads, Ownership: as rpc::Call says. The exchange holds it until OnClosed. Messages are
// converted to JSON on the thread that sends them, so that a long answer does not keep the loop
// busy.
class RestCall final : public rpc::LoopCall<RestCall>, public http::ExchangeHandler {
 public:
  // `method` outlives the call, `background` the exchange.
  RestCall(http::Exchange& exchange, const rpc::SingleRequestMethod& method, RestRequest request,
           const rpc::Background& background, const RestOptions& options);

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override;
  void OnWritable() override;
  void OnClosed() override;

 private:
  friend class rpc::LoopCall<RestCall>;

  bool answers_with_list() const { return request_.match.binding->method->server_streaming(); }
  // JSON: a message, or elements of a list.
  using Encoded = std::string;
  Result<Encoded> Encode(std::string_view message) const;
  Result<Encoded> Encode(const rpc::MessageBatch& batch) const;
  static size_t BytesOf(const Encoded& encoded) { return encoded.size(); }
  // The bytes of the request message.
  Result<std::string> ReadRequest(std::string body, MemoryClaim* claim) const;

  // The functions below run on the loop.
  void WriteNow(Encoded json) REQUIRES_LOCK(on_loop_);
  void WriteEndNow(const Status& status) REQUIRES_LOCK(on_loop_);
  bool IsWritable() const REQUIRES_LOCK(on_loop_) { return exchange_->is_writable(); }
  void DeliverNow() {}  // The one message is in the body.
  void ReleaseNow() {}  // The body is freed once the method has been called.
  void SendListHeadNow() REQUIRES_LOCK(on_loop_);
  void WriteListEndNow(const Status& status) REQUIRES_LOCK(on_loop_);
  void AnswerNow(http::PlainAnswer answer) REQUIRES_LOCK(on_loop_);
  // Ends a call whose method has not been called.
  void Refuse(const Status& status, int http_status = 0) REQUIRES_LOCK(on_loop_);
  void DropBody() REQUIRES_LOCK(on_loop_);
  void StartInBackground() REQUIRES_LOCK(on_loop_);

  const rpc::SingleRequestMethod& method_;
  const RestRequest request_;
  const rpc::Background& background_;
  const RestOptions options_;

  // Everything below belongs to the loop.
  http::Exchange* exchange_ GUARDED_BY(on_loop_);  // Null once closed.
  std::string body_ GUARDED_BY(on_loop_);
  size_t budgeted_bytes_ GUARDED_BY(on_loop_) = 0;
  std::string answer_ GUARDED_BY(on_loop_);  // For a method with one answer, until it finishes.
  bool head_sent_ GUARDED_BY(on_loop_) = false;
};

}  // namespace hearth::doors::rest
