#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/event_loop.h"
#include "http/exchange.h"
#include "http/options.h"

namespace hearth::http {

// The overhead that RFC 9113 counts for a header field in addition to its text.
inline constexpr size_t kHeaderOverheadBytes = 32;

class Http2Protocol;

// One HTTP/2 stream: a request and its answer.
//
// Threads: the connection's loop. Ownership: owned and reused by the connection's Http2Protocol.
class Http2Stream final : public Exchange {
 public:
  explicit Http2Stream(Http2Protocol& protocol) : protocol_(protocol) {}

  // Turns a reused object into a fresh stream.
  void Reset(int32_t id, size_t index);

  int32_t id() const { return id_; }
  size_t index() const { return index_; }
  // Null if no handler needs the stream's end.
  const std::shared_ptr<ExchangeHandler>& handler() const { return handler_; }
  void set_index(size_t index) { index_ = index; }

  // Whether the peer neither takes the answer nor sends what it owes of the request, for longer
  // than the limits allow. Call it from time to time.
  // `send_bytes_min`: of the answer, in each period.
  bool IsStalled(TimePoint now, const ConnectionLimits& limits, size_t send_bytes_min);
  // Resets the stream: the client sees RESOURCE_EXHAUSTED.
  void CutOff();

  // The request, as its frames arrive.
  void OnHeader(std::string_view name, std::string_view value, size_t header_bytes_max);
  void OnHeadEnd(Service& service, BodyFollows body);
  // Starts a request that had to wait because the client was behind.
  void OpenLate(Service& service);
  void OnBody(std::string_view bytes);
  void OnBodyEnd();
  void OnWritable();
  void OnAnswerSent();
  void OnClosed();

  // Writes the next `size` bytes of the answer's body to `out`.
  void MoveBody(size_t size, std::string& out);

  const RequestHead& head() const override { return head_; }
  RequestHead TakeHead() override { return std::exchange(head_, {}); }
  const std::shared_ptr<EventLoop>& loop() const override;
  BufferBudget& budget() override;
  const std::string& peer() const override;
  const std::shared_ptr<ConnectedClient>& client() const override;
  void SendHead(int status, std::span<const Header> headers, BodyFollows body) override;
  void SendBody(std::string bytes) override;
  void Finish(std::span<const Header> trailers) override;
  void Abort() override;
  void ConsumeBody(size_t bytes) override;
  size_t unsent_bytes() const override { return unsent_bytes_; }

 private:
  static ssize_t ReadBody(nghttp2_session* session, int32_t stream_id, uint8_t* buffer,
                          size_t bytes_max, uint32_t* flags, nghttp2_data_source* source,
                          void* protocol);
  ssize_t NextBodyBytes(size_t bytes_max, uint32_t* flags);
  void ForgetWrittenChunks();
  // Counts what the head now holds. If there is no memory for it, the stream is refused.
  void ClaimHead();
  void DropHead();
  void ResumeBody();
  void Open(Service& service);
  // Claims and returns memory for the answer. If there is none, the stream ends.
  [[nodiscard]] bool TakeAnswer(size_t bytes);
  void ReturnAnswer(size_t bytes);

  Http2Protocol& protocol_;
  int32_t id_ = 0;
  size_t index_ = 0;
  RequestHead head_;
  size_t header_bytes_ = 0;
  size_t head_claim_bytes_ = 0;               // For the stream and its head, until it closes.
  std::shared_ptr<ExchangeHandler> handler_;  // Shared with the code that computes the answer.

  std::vector<std::string> chunks_;  // The answer's body; those before first_chunk_ are written.
  size_t first_chunk_ = 0;
  size_t first_chunk_offset_ = 0;
  size_t unsent_bytes_ = 0;
  size_t answer_claim_bytes_ = 0;  // For the chunks that are left, the head and the trailers.
  std::vector<Header> trailers_;
  std::string trailer_text_;  // The text that trailers_ refers to, unless it is static.

  // The answer must advance by a minimum in each period, while some of it is unsent.
  TimePoint send_period_start_;
  size_t sent_bytes_ = 0;  // In that period.

  std::string early_body_;       // Arrived before the request was opened.
  size_t unconsumed_bytes_ = 0;  // Received, not yet returned to flow control.
  size_t received_bytes_ = 0;    // Of the body, in the period since `period_start_`.
  TimePoint period_start_;
  bool is_waiting_ = false;  // For OpenLate.
  bool head_too_large_ = false;
  bool has_memory_ = false;      // For the stream and its head.
  bool is_head_method_ = false;  // Then the answer has no body, whatever the handler sends.
  bool request_ended_ = false;
  bool head_sent_ = false;
  bool finished_ = false;  // Finish, Abort or a head without body: later calls have no effect.
  bool deferred_ = false;  // nghttp2 waits for ResumeBody.
  bool was_full_ = false;  // An OnWritable is due.
};

}  // namespace hearth::http
