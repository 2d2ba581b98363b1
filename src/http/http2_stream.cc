#include "http/http2_stream.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "http/http2_protocol.h"

namespace hearth::http {
namespace {

// A chunk list that grew beyond this is not kept for the next stream.
constexpr size_t kKeptChunksMax = 64;
constexpr size_t kWrittenChunksMax = 64;
// The same for the text of trailers; that of a success fits.
constexpr size_t kKeptTrailerBytesMax = 256;

uint8_t* Bytes(std::string_view text) {
  // nghttp2 takes pointers to non-const bytes but does not write to them.
  return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
}

nghttp2_nv ToNameValue(const Header& header) {
  const uint8_t flags = header.text == HeaderText::kStatic
                            ? NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE
                            : NGHTTP2_NV_FLAG_NONE;
  return {.name = Bytes(header.name),
          .value = Bytes(header.value),
          .namelen = header.name.size(),
          .valuelen = header.value.size(),
          .flags = flags};
}

size_t TextBytes(std::span<const Header> headers) {
  size_t bytes = 0;
  for (const Header& header : headers) bytes += header.name.size() + header.value.size();
  return bytes;
}

// The memory that a chunk of an answer holds until all of it is written.
size_t ChunkBytes(const std::string& chunk) { return sizeof(chunk) + chunk.capacity(); }

// The array form that nghttp2 takes; on the stack for ordinary heads.
class NameValues {
 public:
  explicit NameValues(size_t size_max) {
    if (size_max > inline_.size()) {
      large_.resize(size_max);
      data_ = large_.data();
    }
  }
  void Add(const Header& header) { data_[size_++] = ToNameValue(header); }
  const nghttp2_nv* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::array<nghttp2_nv, 16> inline_;
  std::vector<nghttp2_nv> large_;
  nghttp2_nv* data_ = inline_.data();
  size_t size_ = 0;
};

}  // namespace

void Http2Stream::Reset(int32_t id, size_t index) {
  id_ = id;
  index_ = index;
  head_.set_version(HttpVersion::kHttp2);
  header_bytes_ = 0;
  has_memory_ = budget().TakeRequest(kRequestBytes);
  head_claim_bytes_ = has_memory_ ? kRequestBytes : 0;
  first_chunk_ = first_chunk_offset_ = sent_bytes_ = received_bytes_ = 0;
  send_period_start_ = period_start_ = protocol_.host().loop()->turn_start();
  head_too_large_ = is_head_method_ = request_ended_ = head_sent_ = finished_ = deferred_ =
      was_full_ = is_waiting_ = false;
}

void Http2Stream::OnHeader(std::string_view name, std::string_view value, size_t header_bytes_max) {
  if (head_too_large_ || !has_memory_) return;
  header_bytes_ += name.size() + value.size() + kHeaderOverheadBytes;
  if (header_bytes_ > header_bytes_max) {
    head_too_large_ = true;
    return DropHead();
  }
  if (!name.starts_with(':')) {
    head_.AddHeader(name, value);
    // HTTP/1.1 gateways may send Host instead of the pseudo-header.
    if (name == "host" && head_.authority().empty()) head_.set_authority(value);
  } else if (name == ":path") {
    head_.set_target(value);
  } else if (name == ":method") {
    head_.set_method(value);
  } else if (name == ":authority") {
    head_.set_authority(value);
  } else if (name == ":scheme") {
    head_.set_scheme(value);
  }
  ClaimHead();
}

void Http2Stream::ClaimHead() {
  const size_t needed = kRequestBytes + head_.bytes();
  if (needed <= head_claim_bytes_) return;
  has_memory_ = budget().TakeRequest(needed - head_claim_bytes_);
  if (!has_memory_) return DropHead();
  head_claim_bytes_ = needed;
}

void Http2Stream::DropHead() {
  TakeHead();
  budget().ReturnRequest(std::exchange(head_claim_bytes_, 0));
}

void Http2Stream::OnHeadEnd(Service& service, BodyFollows body) {
  request_ended_ = body == BodyFollows::kNo;
  is_head_method_ = head_.method() == "HEAD";
  if (head_too_large_) {
    SendHead(431, {}, BodyFollows::kNo);
    return;
  }
  if (!has_memory_) return CutOff();
  if (!head_.has_valid_target()) {
    // CONNECT, or a scheme whose paths nghttp2 does not check.
    finished_ = true;
    nghttp2_submit_rst_stream(protocol_.session(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_PROTOCOL_ERROR);
    return protocol_.host().OutputReady();
  }
  if (budget().is_behind()) {
    is_waiting_ = true;
    return protocol_.OpenWhenRead(id_);
  }
  Open(service);
}

void Http2Stream::Open(Service& service) {
  handler_ = service.Open(*this);
  if (request_ended_ && handler_) handler_->OnBodyEnd();
}

void Http2Stream::OpenLate(Service& service) {
  CHECK(is_waiting_);
  is_waiting_ = false;
  period_start_ = protocol_.host().loop()->turn_start();
  received_bytes_ = 0;
  handler_ = service.Open(*this);
  const std::string body = std::exchange(early_body_, {});
  budget().Return(body.size());
  if (!handler_) return ConsumeBody(body.size());
  if (!body.empty()) handler_->OnBody(body);
  // The handler may have ended the stream.
  if (request_ended_ && handler_) handler_->OnBodyEnd();
}

void Http2Stream::OnBody(std::string_view bytes) {
  unconsumed_bytes_ += bytes.size();
  received_bytes_ += bytes.size();
  if (handler_) {
    handler_->OnBody(bytes);
  } else if (!is_waiting_) {
    ConsumeBody(bytes.size());
  } else if (budget().Take(bytes.size())) {
    early_body_.append(bytes);  // Bounded by the stream's window.
  } else {
    CutOff();
  }
}

void Http2Stream::OnBodyEnd() {
  request_ended_ = true;
  if (handler_) handler_->OnBodyEnd();
}

bool Http2Stream::IsStalled(TimePoint now, const ConnectionLimits& limits, size_t send_bytes_min) {
  if (unsent_bytes_ > 0 && now - send_period_start_ >= limits.send_stall_timeout) {
    if (sent_bytes_ < send_bytes_min) return true;
    send_period_start_ = now;
    sent_bytes_ = 0;
  }
  // A slow handler is not the client's fault.
  const bool is_held_back = unconsumed_bytes_ >= limits.stream_window_bytes / 2;
  const bool is_owed =
      !request_ended_ && !finished_ && handler_ && !is_held_back && handler_->AwaitsBody();
  if (is_owed && now - period_start_ < limits.body_period) return false;
  if (is_owed && received_bytes_ < limits.body_bytes_per_period_min) return true;
  period_start_ = now;
  received_bytes_ = 0;
  return false;
}

void Http2Stream::CutOff() {
  finished_ = true;
  nghttp2_submit_rst_stream(protocol_.session(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_ENHANCE_YOUR_CALM);
  protocol_.host().OutputReady();
}

void Http2Stream::OnWritable() {
  if (handler_ && !finished_) handler_->OnWritable();
}

void Http2Stream::OnClosed() {
  finished_ = true;
  // The object is kept for another stream, but none of its text.
  ReturnAnswer(answer_claim_bytes_);
  unsent_bytes_ = 0;
  chunks_.clear();
  if (chunks_.capacity() > kKeptChunksMax) chunks_ = {};
  trailers_.clear();
  if (trailer_text_.capacity() > kKeptTrailerBytesMax) FreeText(trailer_text_);
  budget().Return(early_body_.size());
  FreeText(early_body_);
  // Bytes left over by this stream must not shrink the connection's window.
  if (unconsumed_bytes_ > 0) {
    nghttp2_session_consume_connection(protocol_.session(), unconsumed_bytes_);
    unconsumed_bytes_ = 0;
    protocol_.host().OutputReady();
  }
  if (const auto handler = std::move(handler_)) handler->OnClosed();
  DropHead();
}

const std::shared_ptr<EventLoop>& Http2Stream::loop() const { return protocol_.host().loop(); }

BufferBudget& Http2Stream::budget() { return protocol_.host().budget(); }

const std::string& Http2Stream::peer() const { return protocol_.host().peer(); }

const std::shared_ptr<ConnectedClient>& Http2Stream::client() const {
  return protocol_.host().client();
}

void Http2Stream::SendHead(int status, std::span<const Header> headers, BodyFollows body) {
  if (finished_ || head_sent_) return;
  head_sent_ = true;
  // nghttp2 copies it, and keeps it until the socket takes it.
  if (!TakeAnswer(TextBytes(headers))) return;
  std::array<char, 3> status_text;
  CHECK(status >= 200 && status <= 999);
  std::to_chars(status_text.data(), status_text.data() + status_text.size(), status);

  NameValues fields(headers.size() + 1);
  fields.Add({.name = ":status", .value = {status_text.data(), status_text.size()}});
  for (const Header& header : headers) fields.Add(header);
  if (body == BodyFollows::kNo || is_head_method_) {
    finished_ = true;
    // Fails only if the stream is already closing, which OnClosed reports.
    nghttp2_submit_response(protocol_.session(), id_, fields.data(), fields.size(), nullptr);
  } else {
    const nghttp2_data_provider provider = {.source = {.ptr = this}, .read_callback = &ReadBody};
    nghttp2_submit_response(protocol_.session(), id_, fields.data(), fields.size(), &provider);
  }
  protocol_.host().OutputReady();
}

void Http2Stream::SendBody(std::string bytes) {
  if (finished_ || bytes.empty()) return;
  CHECK(head_sent_);
  if (!TakeAnswer(ChunkBytes(bytes))) return;
  if (unsent_bytes_ == 0) {
    send_period_start_ = protocol_.host().loop()->turn_start();
    sent_bytes_ = 0;
  }
  unsent_bytes_ += bytes.size();
  if (unsent_bytes_ >= kSendBufferLowBytes) was_full_ = true;
  chunks_.push_back(std::move(bytes));
  ResumeBody();
}

void Http2Stream::Finish(std::span<const Header> trailers) {
  if (finished_) return;
  CHECK(head_sent_);
  const size_t text_bytes = TextBytes(trailers);
  if (!TakeAnswer(text_bytes)) return;
  finished_ = true;
  trailer_text_.clear();
  trailer_text_.reserve(text_bytes);  // The views below must stay valid.
  const auto keep = [this](std::string_view text) {
    const size_t begin = trailer_text_.size();
    trailer_text_.append(text);
    return std::string_view(trailer_text_).substr(begin);
  };
  for (const Header& header : trailers) {
    trailers_.push_back(header.text == HeaderText::kStatic
                            ? header
                            : Header{.name = keep(header.name), .value = keep(header.value)});
  }
  ResumeBody();
}

void Http2Stream::Abort() {
  if (finished_) return;
  finished_ = true;
  nghttp2_submit_rst_stream(protocol_.session(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_INTERNAL_ERROR);
  protocol_.host().OutputReady();
}

void Http2Stream::ConsumeBody(size_t bytes) {
  bytes = std::min(bytes, unconsumed_bytes_);
  if (bytes == 0) return;
  unconsumed_bytes_ -= bytes;
  nghttp2_session_consume(protocol_.session(), id_, bytes);
  protocol_.host().OutputReady();  // A window update may be due.
}

ssize_t Http2Stream::ReadBody(nghttp2_session*, int32_t, uint8_t*, size_t bytes_max,
                              uint32_t* flags, nghttp2_data_source* source, void*) {
  return static_cast<Http2Stream*>(source->ptr)->NextBodyBytes(bytes_max, flags);
}

ssize_t Http2Stream::NextBodyBytes(size_t bytes_max, uint32_t* flags) {
  if (unsent_bytes_ == 0 && !finished_) {
    deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  const size_t size = std::min(bytes_max, unsent_bytes_);
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (finished_ && size == unsent_bytes_) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!trailers_.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      NameValues fields(trailers_.size());
      for (const Header& header : trailers_) fields.Add(header);
      nghttp2_submit_trailer(protocol_.session(), id_, fields.data(), fields.size());
    }
  }
  return static_cast<ssize_t>(size);
}

void Http2Stream::MoveBody(size_t size, std::string& out) {
  CHECK(size <= unsent_bytes_);
  unsent_bytes_ -= size;
  sent_bytes_ += size;
  size_t freed = 0;
  while (size > 0) {
    std::string& chunk = chunks_[first_chunk_];
    const size_t part = std::min(size, chunk.size() - first_chunk_offset_);
    out.append(chunk, first_chunk_offset_, part);
    size -= part;
    first_chunk_offset_ += part;
    if (first_chunk_offset_ == chunk.size()) {
      freed += ChunkBytes(chunk);
      FreeText(chunk);
      ++first_chunk_;
      first_chunk_offset_ = 0;
    }
  }
  ForgetWrittenChunks();
  if (freed > 0) ReturnAnswer(freed);
  if (was_full_ && unsent_bytes_ < kSendBufferLowBytes) {
    was_full_ = false;
    protocol_.NoteWritable(id_);
  }
}

bool Http2Stream::TakeAnswer(size_t bytes) {
  if (!budget().TakeAnswer(bytes)) {
    CutOff();
    return false;
  }
  answer_claim_bytes_ += bytes;
  protocol_.NoteUnread();
  return true;
}

void Http2Stream::ReturnAnswer(size_t bytes) {
  answer_claim_bytes_ -= bytes;
  budget().ReturnAnswer(bytes);
  protocol_.NoteUnread();
}

void Http2Stream::ForgetWrittenChunks() {
  if (unsent_bytes_ == 0) {
    chunks_.clear();
    first_chunk_ = 0;
  } else if (first_chunk_ >= kWrittenChunksMax) {
    // An endless answer whose queue never drains must not accumulate empty chunks.
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<ptrdiff_t>(first_chunk_));
    first_chunk_ = 0;
  }
}

void Http2Stream::ResumeBody() {
  if (deferred_) {
    deferred_ = false;
    nghttp2_session_resume_data(protocol_.session(), id_);
  }
  protocol_.host().OutputReady();
}

void Http2Stream::OnAnswerSent() {
  if (request_ended_) return;
  // The client need not send the rest of a request that is already answered (RFC 9113, 8.1).
  nghttp2_submit_rst_stream(protocol_.session(), NGHTTP2_FLAG_NONE, id_, NGHTTP2_NO_ERROR);
}

}  // namespace hearth::http
