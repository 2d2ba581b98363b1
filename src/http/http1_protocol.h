#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "http/http1_parser.h"
#include "http/options.h"
#include "http/protocol.h"

namespace hearth::http {

// HTTP/1.1 and 1.0: one request at a time, so it is its own Exchange. A pipelined request waits
// unread until the one before is answered and less than kSendBufferLowBytes of answers is unsent.
// So for a client that does not read, at most that, one answer and what is being written wait.
//
// Threads, Ownership, Errors: as Protocol says.
class Http1Protocol final : public Protocol, public Exchange, private Http1ParserSink {
 public:
  Http1Protocol(ProtocolHost& host, const ConnectionLimits& limits, Service& service);

  size_t Receive(std::string_view bytes) override;
  bool wants_input() const override { return !input_ended_ && !close_after_output_; }
  void OnInputEnd() override;
  void Produce(std::string& out, size_t bytes_max) override;
  size_t idle_bytes() const override { return 2 * 1024; }
  bool is_idle() const override { return request_ == RequestPart::kNone && unsent_bytes() == 0; }
  bool done() const override { return close_after_output_ && unsent_bytes() == 0; }
  void Drain() override;
  TimePoint OnTimer(TimePoint now) override;
  void OnLost() override;

  const RequestHead& head() const override { return head_; }
  RequestHead TakeHead() override { return std::exchange(head_, {}); }
  const std::shared_ptr<EventLoop>& loop() const override { return host_.loop(); }
  BufferBudget& budget() override { return host_.budget(); }
  const std::string& peer() const override { return host_.peer(); }
  const std::shared_ptr<ConnectedClient>& client() const override { return host_.client(); }
  void SendHead(int status, std::span<const Header> headers, BodyFollows body) override;
  void SendBody(std::string bytes) override;
  void Finish(std::span<const Header> trailers) override;
  void Abort() override;
  void ConsumeBody(size_t bytes) override;
  size_t unsent_bytes() const override { return output_.size() - output_offset_; }

 private:
  enum class RequestPart : uint8_t { kNone, kHead, kBody, kComplete };
  enum class AnswerPart : uint8_t { kNone, kBody, kComplete };
  // How the client detects the end of the answer's body.
  enum class Framing : uint8_t { kNoBody, kLength, kChunked, kUntilClose };

  void OnParsedBody(std::string_view bytes) override;
  // Starts the request whose head is complete.
  void Open();
  void OnRequestComplete();
  // Gives up the request: its client has most likely left.
  void Abandon();
  Framing ChooseFraming(int status, std::optional<uint64_t> content_length, BodyFollows body) const;
  // Answers a request that never became an exchange, and ends the connection.
  void Refuse(int status);
  // Makes room for that much more output. False if there is no memory.
  [[nodiscard]] bool Reserve(size_t bytes);
  void FreeOutput();
  void CompleteAnswer();
  // Ends an answer for which there is no memory.
  void RefuseAnswer();
  bool Answered() const;
  void EndExchange();
  void CloseAfterOutput();
  TimePoint Deadline() const;
  void StartBodyPeriod();
  void NoteProgress();

  ProtocolHost& host_;
  const ConnectionLimits& limits_;
  Service& service_;

  std::optional<Http1Parser> parser_;  // For the request in progress.
  RequestPart request_ = RequestPart::kNone;
  AnswerPart answer_ = AnswerPart::kNone;
  RequestHead head_;
  std::shared_ptr<ExchangeHandler> handler_;  // Shared with the code that computes the answer.
  bool is_head_method_ = false;
  bool is_http10_ = false;
  bool keep_alive_ = true;
  bool continue_expected_ = false;  // The client waits for 100 Continue.
  bool chunk_head_is_cut_ = false;  // The parser waits for more of it.
  size_t unconsumed_bytes_ = 0;     // Passed to the handler, not yet returned.
  size_t discarded_bytes_ = 0;      // From an unwanted body.

  Framing framing_ = Framing::kNoBody;
  uint64_t length_left_ = 0;  // Body bytes still owed under kLength.
  std::string output_;
  size_t output_offset_ = 0;
  size_t output_claim_bytes_ = 0;     // For output_, unless it is small.
  std::optional<size_t> head_begin_;  // Of the answer's head in output_, if it is still there.
  size_t request_claim_bytes_ = 0;    // For the request and its head.
  bool was_full_ = false;             // An OnWritable is due.

  TimePoint last_progress_;
  // The body must advance by a minimum in each period.
  TimePoint body_period_start_;
  size_t body_period_bytes_ = 0;
  TimePoint input_ended_at_;
  bool input_ended_ = false;
  bool draining_ = false;
  bool close_after_output_ = false;
};

}  // namespace hearth::http
