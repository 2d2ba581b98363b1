#include "http/http1_protocol.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace hearth::http {
namespace {

namespace beast_http = boost::beast::http;

// Reading pauses when the handler holds this many body bytes.
constexpr size_t kBodyWindowBytes = 256 * 1024;
// An unwanted body is read and dropped up to this size, to keep the connection; beyond it the
// connection is closed.
constexpr size_t kDiscardedBodyBytesMax = 256 * 1024;
// "0\r\n\r\n". Beast asserts that a truncated last chunk is not offered again with fewer bytes.
constexpr size_t kLastChunkBytesMin = 5;
// Capacity that the output keeps while it is empty; it is not counted.
constexpr size_t kKeptOutputBytes = 4 * 1024;
// Enough for a status line and the fields that the protocol adds to a head.
constexpr size_t kHeadFrameBytes = 256;
// Enough for the size of a chunk and the line ends around it.
constexpr size_t kChunkFrameBytes = 32;
constexpr size_t kFieldFrameBytes = 4;  // ": " and the line end.
constexpr int kTooManyRequests = 429;   // As the doors answer RESOURCE_EXHAUSTED.

size_t FieldBytes(std::span<const Header> headers) {
  size_t bytes = 0;
  for (const Header& header : headers) {
    bytes += header.name.size() + header.value.size() + kFieldFrameBytes;
  }
  return bytes;
}

void AppendStatusLine(std::string& out, int status) {
  out += "HTTP/1.1 ";
  out += std::to_string(status);
  out += ' ';
  const auto reason =
      beast_http::obsolete_reason(beast_http::int_to_status(static_cast<unsigned>(status)));
  out.append(reason.data(), reason.size());
  out += "\r\n";
}

void AppendHeader(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

void AppendHex(std::string& out, size_t number) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), number, 16).ptr;
  out.append(text, end);
}

std::optional<uint64_t> ContentLength(std::span<const Header> headers) {
  for (const Header& header : headers) {
    if (header.name != "content-length") continue;
    uint64_t length = 0;
    const char* const end = header.value.data() + header.value.size();
    CHECK(std::from_chars(header.value.data(), end, length).ptr == end);
    return length;
  }
  return std::nullopt;
}

}  // namespace

Http1Protocol::Http1Protocol(ProtocolHost& host, const ConnectionLimits& limits, Service& service)
    : host_(host), limits_(limits), service_(service), last_progress_(host.loop()->turn_start()) {}

size_t Http1Protocol::Receive(std::string_view bytes) {
  const size_t offered = bytes.size();
  while (!bytes.empty() && !close_after_output_) {
    // Already answered: the answer to the next pipelined request joins it in one write.
    if (Answered() && unsent_bytes() < kSendBufferLowBytes) EndExchange();
    if (request_ == RequestPart::kNone) {
      // RFC 9112, 2.2: empty lines before a request are skipped.
      bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
      if (bytes.empty()) break;
      request_ = RequestPart::kHead;
      NoteProgress();
      Http1ParserSink& sink = *this;
      parser_.emplace(sink, static_cast<uint32_t>(limits_.header_bytes_max));
    }
    if (request_ == RequestPart::kComplete || unconsumed_bytes_ >= kBodyWindowBytes) break;

    if (chunk_head_is_cut_ && bytes.size() < kLastChunkBytesMin) break;
    boost::beast::error_code error;
    const size_t used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    chunk_head_is_cut_ = request_ == RequestPart::kBody && error == beast_http::error::need_more;
    const std::string_view parsed = bytes.substr(0, used);
    bytes.remove_prefix(used);
    if (request_ == RequestPart::kHead && parser_->is_header_done() && !error) {
      // Beast limits only incomplete heads, and not to the byte.
      if (used > limits_.header_bytes_max) error = beast_http::error::header_limit;
      if (const int status = error ? 0 : parser_->CheckHead(parsed); status != 0) {
        Refuse(status);
        break;
      }
      if (!error) Open();
    } else if (!error && parser_->is_done() && parser_->chunked() && HasFoldedLine(parsed)) {
      error = beast_http::error::bad_field;  // In the trailers.
    }
    if (chunk_head_is_cut_ && bytes.size() > limits_.header_bytes_max) {
      error = beast_http::error::header_limit;  // Of an endless chunk head, or of trailers.
    }
    if (error == beast_http::error::need_more) break;
    if (error) {
      Refuse(error == beast_http::error::header_limit ? 431 : 400);
      break;
    }
    if (parser_->is_done()) {
      OnRequestComplete();
    } else if (used == 0) {
      break;
    }
  }
  return close_after_output_ ? offered : offered - bytes.size();
}

void Http1Protocol::Open() {
  request_ = RequestPart::kBody;
  StartBodyPeriod();
  head_ = std::move(parser_->head());
  is_head_method_ = head_.method() == "HEAD";
  is_http10_ = head_.version() == HttpVersion::kHttp10;
  keep_alive_ = parser_->keep_alive();
  continue_expected_ = !is_http10_ && !parser_->is_done() && head_.Find("expect") == "100-continue";
  const size_t claim_bytes = kRequestBytes + head_.bytes();
  if (!budget().TakeRequest(claim_bytes)) return Refuse(kTooManyRequests);
  request_claim_bytes_ = claim_bytes;
  handler_ = service_.Open(*this);
  if (continue_expected_ && answer_ == AnswerPart::kNone) {
    continue_expected_ = false;
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (Reserve(kContinue.size())) output_ += kContinue;
    host_.OutputReady();
  }
}

void Http1Protocol::OnParsedBody(std::string_view bytes) {
  body_period_bytes_ += bytes.size();
  if (handler_ && answer_ != AnswerPart::kComplete) {
    unconsumed_bytes_ += bytes.size();
    handler_->OnBody(bytes);
    return;
  }
  discarded_bytes_ += bytes.size();
  if (discarded_bytes_ > kDiscardedBodyBytesMax) CloseAfterOutput();
}

void Http1Protocol::OnRequestComplete() {
  if (request_ == RequestPart::kComplete) return;
  request_ = RequestPart::kComplete;
  if (handler_ && answer_ != AnswerPart::kComplete) handler_->OnBodyEnd();
  if (answer_ == AnswerPart::kComplete) host_.OutputReady();  // Produce ends the exchange.
}

void Http1Protocol::OnInputEnd() {
  input_ended_ = true;
  input_ended_at_ = host_.loop()->turn_start();
  keep_alive_ = false;
  // A client may close its half and still read, so a complete request is still answered.
  if (request_ != RequestPart::kComplete) {
    CloseAfterOutput();
  } else if (handler_ && answer_ != AnswerPart::kComplete) {
    handler_->OnInputEnd();
    host_.CheckAt(Deadline());
  }
}

void Http1Protocol::Abandon() {
  Abort();
  EndExchange();
}

void Http1Protocol::Produce(std::string& out, size_t bytes_max) {
  while (out.size() < bytes_max) {
    const size_t size = std::min(bytes_max - out.size(), unsent_bytes());
    out.append(output_, output_offset_, size);
    output_offset_ += size;
    if (head_begin_ && *head_begin_ < output_offset_) head_begin_.reset();
    if (unsent_bytes() == 0) FreeOutput();
    if (was_full_ && unsent_bytes() < kSendBufferLowBytes) {
      was_full_ = false;
      if (handler_ && answer_ == AnswerPart::kBody) handler_->OnWritable();
    }
    if (unsent_bytes() == 0) break;
  }
  if (Answered() && unsent_bytes() == 0) EndExchange();
}

bool Http1Protocol::Reserve(size_t bytes) {
  if (output_.capacity() - output_.size() >= bytes) return true;
  const size_t needed = unsent_bytes() + bytes;
  // Twice the size, so that many small answers are not moved for each of them; but a large answer
  // takes no more than its size.
  const size_t capacity = std::max(needed, std::min(2 * output_.capacity(), kSendBufferLowBytes));
  const size_t claim_bytes = capacity > kKeptOutputBytes ? capacity : 0;
  if (claim_bytes > output_claim_bytes_) {
    if (!budget().TakeAnswer(claim_bytes - output_claim_bytes_)) return false;
    output_claim_bytes_ = claim_bytes;
  }
  std::string larger;
  larger.reserve(capacity);
  larger.append(output_, output_offset_);
  output_ = std::move(larger);
  if (head_begin_) *head_begin_ -= output_offset_;
  output_offset_ = 0;
  return true;
}

void Http1Protocol::FreeOutput() {
  if (output_.capacity() > kKeptOutputBytes) {
    FreeText(output_);
  } else {
    output_.clear();
  }
  output_offset_ = 0;
  head_begin_.reset();
  budget().ReturnAnswer(std::exchange(output_claim_bytes_, 0));
}

bool Http1Protocol::Answered() const {
  // No need to wait for the rest of a request if the connection ends anyway.
  return answer_ == AnswerPart::kComplete &&
         (request_ == RequestPart::kComplete || !keep_alive_ || close_after_output_);
}

void Http1Protocol::EndExchange() {
  if (const auto handler = std::move(handler_)) handler->OnClosed();
  if (!keep_alive_ || draining_) close_after_output_ = true;
  TakeHead();
  budget().ReturnRequest(std::exchange(request_claim_bytes_, 0));
  request_ = RequestPart::kNone;
  answer_ = AnswerPart::kNone;
  parser_.reset();
  unconsumed_bytes_ = discarded_bytes_ = 0;
  NoteProgress();
  host_.InputWanted();  // A pipelined request may be waiting.
}

void Http1Protocol::Drain() {
  draining_ = true;
  if (request_ == RequestPart::kNone) CloseAfterOutput();
  if (handler_ && answer_ != AnswerPart::kComplete) handler_->OnDrain();
}

TimePoint Http1Protocol::Deadline() const {
  switch (request_) {
    case RequestPart::kNone:
      return last_progress_ + limits_.http1_idle_timeout;
    case RequestPart::kHead:
      return last_progress_ + limits_.header_read_timeout;
    case RequestPart::kBody:
      // A slow handler is not the client's fault.
      if (unconsumed_bytes_ >= kBodyWindowBytes) return TimePoint::max();
      return body_period_start_ + limits_.body_period;
    case RequestPart::kComplete:
      if (!input_ended_ || answer_ == AnswerPart::kComplete) return TimePoint::max();
      return input_ended_at_ + limits_.half_closed_timeout;
  }
  return TimePoint::max();
}

void Http1Protocol::NoteProgress() {
  last_progress_ = host_.loop()->turn_start();
  host_.CheckAt(Deadline());
}

void Http1Protocol::StartBodyPeriod() {
  body_period_start_ = host_.loop()->turn_start();
  body_period_bytes_ = 0;
  host_.CheckAt(Deadline());
}

TimePoint Http1Protocol::OnTimer(TimePoint now) {
  if (now < Deadline()) return Deadline();
  if (request_ == RequestPart::kBody && body_period_bytes_ >= limits_.body_bytes_per_period_min) {
    StartBodyPeriod();
    return Deadline();
  }
  if (request_ == RequestPart::kComplete) {
    Abandon();
  } else if (request_ == RequestPart::kNone || answer_ != AnswerPart::kNone) {
    CloseAfterOutput();
  } else {
    Refuse(408);
  }
  return TimePoint::max();
}

void Http1Protocol::OnLost() {
  close_after_output_ = true;
  FreeOutput();
  if (const auto handler = std::move(handler_)) handler->OnClosed();
  budget().ReturnRequest(std::exchange(request_claim_bytes_, 0));
}

Http1Protocol::Framing Http1Protocol::ChooseFraming(int status,
                                                    std::optional<uint64_t> content_length,
                                                    BodyFollows body) const {
  if (is_head_method_ || body == BodyFollows::kNo || status == 204 || status == 304) {
    return Framing::kNoBody;
  }
  if (content_length) return Framing::kLength;
  return is_http10_ ? Framing::kUntilClose : Framing::kChunked;
}

void Http1Protocol::SendHead(int status, std::span<const Header> headers, BodyFollows body) {
  if (answer_ != AnswerPart::kNone || close_after_output_) return;
  CHECK(status >= 200 && status <= 999);
  const std::optional<uint64_t> content_length = ContentLength(headers);
  framing_ = ChooseFraming(status, content_length, body);
  length_left_ = framing_ == Framing::kLength ? *content_length : 0;
  // A client that expects 100-continue may or may not send its body now: only closing is
  // unambiguous.
  if (framing_ == Framing::kUntilClose || continue_expected_ || draining_) keep_alive_ = false;
  if (!Reserve(kHeadFrameBytes + FieldBytes(headers))) return Abort();

  head_begin_ = output_.size();
  AppendStatusLine(output_, status);
  for (const Header& header : headers) AppendHeader(output_, header.name, header.value);
  if (framing_ == Framing::kChunked) AppendHeader(output_, "transfer-encoding", "chunked");
  if (body == BodyFollows::kNo && !content_length && status != 204 && status != 304) {
    AppendHeader(output_, "content-length", "0");
  }
  if (!keep_alive_) {
    AppendHeader(output_, "connection", "close");
  } else if (is_http10_) {
    AppendHeader(output_, "connection", "keep-alive");
  }
  output_ += "\r\n";
  answer_ = AnswerPart::kBody;
  if (body == BodyFollows::kNo) CompleteAnswer();
  host_.OutputReady();
}

void Http1Protocol::SendBody(std::string bytes) {
  if (answer_ != AnswerPart::kBody || bytes.empty() || framing_ == Framing::kNoBody) return;
  if (!Reserve(bytes.size() + kChunkFrameBytes)) return RefuseAnswer();
  if (framing_ == Framing::kLength) {
    CHECK(bytes.size() <= length_left_);
    length_left_ -= bytes.size();
    output_ += bytes;
  } else if (framing_ == Framing::kChunked) {
    AppendHex(output_, bytes.size());
    output_ += "\r\n";
    output_ += bytes;
    output_ += "\r\n";
  } else {
    output_ += bytes;
  }
  if (unsent_bytes() >= kSendBufferLowBytes) was_full_ = true;
  host_.OutputReady();
}

void Http1Protocol::Finish(std::span<const Header> trailers) {
  if (answer_ != AnswerPart::kBody) return;
  if (framing_ == Framing::kChunked) {
    if (!Reserve(FieldBytes(trailers) + kChunkFrameBytes)) return RefuseAnswer();
    output_ += "0\r\n";
    for (const Header& header : trailers) AppendHeader(output_, header.name, header.value);
    output_ += "\r\n";
  }
  // Closing is the only way to signal an answer that is shorter than announced.
  if (length_left_ > 0) keep_alive_ = false;
  CompleteAnswer();
}

void Http1Protocol::CompleteAnswer() {
  answer_ = AnswerPart::kComplete;
  unconsumed_bytes_ = 0;  // Bytes still held by the handler no longer matter.
  host_.InputWanted();    // The rest of an unwanted body is read and dropped.
}

void Http1Protocol::RefuseAnswer() {
  if (!head_begin_) return Abort();  // A part of it is sent already.
  output_.resize(*head_begin_);
  answer_ = AnswerPart::kNone;
  length_left_ = 0;
  SendHead(kTooManyRequests, {}, BodyFollows::kNo);
}

void Http1Protocol::Abort() {
  if (answer_ == AnswerPart::kComplete) return;
  answer_ = AnswerPart::kComplete;
  FreeOutput();  // Drops queued bytes too, so that it cannot look complete.
  CloseAfterOutput();
}

void Http1Protocol::ConsumeBody(size_t bytes) {
  const bool was_paused = unconsumed_bytes_ >= kBodyWindowBytes;
  unconsumed_bytes_ -= std::min(bytes, unconsumed_bytes_);
  if (was_paused && unconsumed_bytes_ < kBodyWindowBytes) {
    StartBodyPeriod();
    host_.InputWanted();
  }
}

void Http1Protocol::Refuse(int status) {
  keep_alive_ = false;
  // Another answer cannot start in the middle of one.
  if (answer_ == AnswerPart::kNone) {
    is_head_method_ = false;
    SendHead(status, {}, BodyFollows::kNo);
  }
  CloseAfterOutput();
}

void Http1Protocol::CloseAfterOutput() {
  close_after_output_ = true;
  host_.OutputReady();
}

}  // namespace hearth::http
