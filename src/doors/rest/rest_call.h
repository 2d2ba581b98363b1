#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
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
  // Longer messages are converted to JSON in the background.
  size_t prompt_answer_bytes_max = 64 * 1024;
  // For bodies off the loop and for long answers. Must outlive the calls. Null: unlimited.
  MemoryBudget* memory = nullptr;
};

// One request in JSON. A method with one answer returns an object, one with many a list that is
// sent as it grows. An error is an object as well, inside a list if the method returns a list; an
// error after the first element is the last element.
//
// Threads, Ownership: as rpc::Call says. The exchange holds it until OnClosed. Short messages are
// converted to JSON on the thread that sends them, long ones in the background. The method is not
// writable meanwhile, and what it sends next waits.
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
  // JSON: a message, or elements of a list. Or long messages, which are not JSON yet.
  struct Encoded {
    std::string json = {};
    rpc::MessageBatch messages = {};
    MemoryClaim claim = {};
  };
  Result<Encoded> Encode(std::string_view message) const;
  Result<Encoded> Encode(rpc::MessageBatch batch) const;
  static size_t BytesOf(const Encoded& encoded) {
    return encoded.json.size() + encoded.messages.bytes();
  }
  // Long messages that become JSON in the background. The connection counts their bytes, until
  // nobody needs the JSON any more; then the claim counts them until the task has dropped them.
  //
  // Threads: `messages` does not change, and `claim` belongs to the loop.
  struct Conversion {
    explicit Conversion(MemoryBudget* memory) : claim(memory) {}

    MemoryClaim claim;  // Outlives the messages.
    rpc::MessageBatch messages;
    std::atomic<bool> is_dropped = false;
  };
  Result<Encoded> ToJson(std::string_view message) const;
  Result<Encoded> ToJson(const rpc::MessageBatch& batch) const;
  // The bytes of the request message.
  Result<std::string> ReadRequest(std::string body, MemoryClaim* claim) const;

  // The functions below run on the loop.
  void WriteNow(Encoded encoded) REQUIRES_LOCK(on_loop_);
  void WriteEndNow(const Status& status) REQUIRES_LOCK(on_loop_);
  bool IsWritable() const REQUIRES_LOCK(on_loop_) {
    return !waits_to_write() && exchange_->is_writable();
  }
  bool waits_to_write() const REQUIRES_LOCK(on_loop_) {
    return conversion_ != nullptr || is_broken_;
  }
  void DeliverNow() {}  // The one message is in the body.
  void ReleaseNow() {}  // The body is freed once the method has been called.
  void WriteJson(Encoded encoded) REQUIRES_LOCK(on_loop_);
  // Writes what does not wait for the background any more.
  void WriteUnwritten() REQUIRES_LOCK(on_loop_);
  void EncodeInBackground(rpc::MessageBatch messages) REQUIRES_LOCK(on_loop_);
  void OnEncoded(const Conversion& conversion, Result<Encoded> encoded) REQUIRES_LOCK(on_loop_);
  // Ends the answer with an error, whatever was to follow. The method is notified; Later: not from
  // inside its own call.
  void BreakOff(const Status& status) REQUIRES_LOCK(on_loop_);
  void BreakOffLater(Status status) REQUIRES_LOCK(on_loop_);
  void DropUnwritten() REQUIRES_LOCK(on_loop_);
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
  Encoded answer_ GUARDED_BY(on_loop_);  // For a method with one answer, until it finishes.
  std::shared_ptr<Conversion> conversion_ GUARDED_BY(on_loop_);  // Shared with its task.
  bool is_broken_ GUARDED_BY(on_loop_) = false;                  // BreakOff will run soon.
  std::deque<Encoded> unwritten_ GUARDED_BY(on_loop_);           // Behind the conversion.
  size_t unencoded_bytes_ GUARDED_BY(on_loop_) = 0;              // Of messages, in both.
  std::optional<Status> unwritten_end_ GUARDED_BY(on_loop_);     // Behind all of them.
  bool head_sent_ GUARDED_BY(on_loop_) = false;
};

}  // namespace hearth::doors::rest
