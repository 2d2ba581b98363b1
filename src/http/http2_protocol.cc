#include "http/http2_protocol.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "base/check.h"

namespace hearth::http {
namespace {

// Closed streams kept for reuse; more than a busy client usually has open at once.
constexpr size_t kSpareStreamsMax = 128;
// Unsent answers to PING and SETTINGS before nghttp2 drops the peer.
constexpr size_t kUnsentAcksMax = 1'000;
// Unsent frames at which reading stops: a peer that never reads gets no further.
constexpr size_t kUnsentFramesMax = 4'000;
// Frames that neither open a stream nor carry a part of a body, since the last one that opened a
// stream.
constexpr size_t kUselessFramesMax = 10'000;
// Each frame of an answer makes up for this many: clients open windows and send PINGs as they read.
constexpr size_t kUselessFramesPerAnswerFrame = 8;
// A header block with more parts than this is an attack; our heads fit into two.
constexpr size_t kContinuationsMax = 8;
// A head over the limit is decoded and answered with 431 up to this many times the limit. A larger
// one is an attack and ends its connection: a byte may stand for kilobytes, and all of them are
// checked.
constexpr size_t kHeadBytesFactorMax = 4;
// How long the first step of a drain waits if the peer does not answer its PING.
constexpr std::chrono::milliseconds kDrainRoundTripMax{1'000};
constexpr uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 0, 0, 0};

std::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

int IgnoreUnknownFrame(nghttp2_session*, void**, const nghttp2_frame_hd*, void*) {
  return NGHTTP2_ERR_CANCEL;
}

Http2Protocol& Self(void* self) { return *static_cast<Http2Protocol*>(self); }

}  // namespace

Http2Protocol::Http2Protocol(ProtocolHost& host, const ConnectionLimits& limits, Service& service)
    : host_(host),
      limits_(limits),
      service_(service),
      last_received_(host.loop()->turn_start()),
      last_stream_closed_(last_received_),
      resets_left_(static_cast<double>(limits.stream_reset_burst_max)),
      resets_counted_(last_received_) {
  CreateSession();
  const std::array<nghttp2_settings_entry, 3> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.concurrent_streams_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(limits.header_bytes_max)},
  }};
  CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) ==
        0);
  CHECK(nghttp2_session_set_local_window_size(
            session_, NGHTTP2_FLAG_NONE, 0, static_cast<int32_t>(limits.connection_window_bytes)) ==
        0);
  host_.OutputReady();
  host_.CheckAt(last_received_ + limits_.ping_interval);
}

Http2Protocol::~Http2Protocol() { nghttp2_session_del(session_); }

void Http2Protocol::CreateSession() {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, &OnBeginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &OnFrameSent);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, &OnSendData);
  nghttp2_session_callbacks_set_unpack_extension_callback(callbacks, &IgnoreUnknownFrame);

  nghttp2_option* option = nullptr;
  CHECK(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);  // Needed only for RFC 7540 priorities.
  nghttp2_option_set_max_outbound_ack(option, kUnsentAcksMax);
  nghttp2_option_set_max_continuations(option, kContinuationsMax);
  // nghttp2's own limit also counts resets of streams that have ended, which cancel nothing: curl
  // 7.88 sends one after every answer. CountReset distinguishes them.
  nghttp2_option_set_stream_reset_rate_limit(option, std::numeric_limits<uint64_t>::max(), 0);
  // Unknown frames are ignored, but OnBeginFrame counts them.
  for (int type = NGHTTP2_CONTINUATION + 1; type <= std::numeric_limits<uint8_t>::max(); ++type) {
    nghttp2_option_set_user_recv_extension_type(option, static_cast<uint8_t>(type));
  }
  CHECK(nghttp2_session_server_new2(&session_, callbacks, this, option) == 0);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
}

size_t Http2Protocol::Receive(std::string_view bytes) {
  last_received_ = host_.loop()->turn_start();
  if (ping_sent_ != TimePoint::max()) {
    ping_sent_ = TimePoint::max();
    host_.CheckAt(last_received_ + limits_.ping_interval);
  }
  const ssize_t taken = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  // nghttp2 answers protocol violations with GOAWAY; these errors cannot be answered.
  if (taken < 0) broken_ = true;
  host_.OutputReady();
  return bytes.size();
}

bool Http2Protocol::wants_input() const {
  // Between the two steps of a drain, nghttp2 itself no longer wants to read.
  return (nghttp2_session_want_read(session_) != 0 || drain_ == DrainStep::kNoticeSent) &&
         nghttp2_session_get_outbound_queue_size(session_) < kUnsentFramesMax;
}

void Http2Protocol::Produce(std::string& out, size_t bytes_max) {
  output_ = &out;
  do {
    while (!broken_ && out.size() < bytes_max) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) broken_ = true;
      if (size <= 0) break;
      out.append(View(data, static_cast<size_t>(size)));
    }
    OpenWaitingStreams();
    if (writable_streams_.empty()) break;
    RunWritableHandlers();
  } while (!broken_ && out.size() < bytes_max);
  output_ = nullptr;
}

void Http2Protocol::RunWritableHandlers() {
  std::vector<int32_t> ids;
  ids.swap(writable_streams_);
  for (const int32_t id : ids) {
    if (Http2Stream* stream = FindStream(id)) stream->OnWritable();
  }
}

void Http2Protocol::NoteUnread() {
  const bool is_behind = host_.budget().is_behind();
  if (is_behind == was_behind_) return;
  was_behind_ = is_behind;
  host_.client()->SetBehind(is_behind);
  if (is_behind) return;
  // Any of them may have waited for the others.
  for (const auto& stream : streams_) NoteWritable(stream->id());
  host_.OutputReady();
}

void Http2Protocol::OpenWaitingStreams() {
  while (!broken_ && !waiting_streams_.empty() && !host_.budget().is_behind()) {
    const int32_t id = waiting_streams_.front();
    waiting_streams_.pop_front();
    if (Http2Stream* stream = FindStream(id)) stream->OpenLate(service_);
  }
}

std::chrono::milliseconds Http2Protocol::StallCheckInterval() const {
  return std::min(limits_.send_stall_timeout, limits_.body_period) / 2;
}

void Http2Protocol::CutOffStalled(TimePoint now) {
  last_stall_check_ = now;
  // Divided, because streams that are read together may be slow only because the connection is.
  const size_t send_bytes_min =
      std::max<size_t>(limits_.send_bytes_per_period_min / std::max<size_t>(streams_.size(), 1), 1);
  for (const auto& stream : streams_) {
    if (stream->IsStalled(now, limits_, send_bytes_min)) stream->CutOff();
  }
}

bool Http2Protocol::done() const {
  if (broken_) return true;
  if (drain_ == DrainStep::kNoticeSent) return false;
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void Http2Protocol::Drain() {
  if (drain_ != DrainStep::kNone) return;
  drain_ = DrainStep::kNoticeSent;
  // Two steps, so that no request already in flight is refused: first "open no more streams", then,
  // when the answer to the PING shows that this was read, the last stream that counts.
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kDrainPing);
  final_goaway_due_ = host_.loop()->turn_start() + kDrainRoundTripMax;
  host_.CheckAt(final_goaway_due_);
  host_.OutputReady();
  std::vector<std::shared_ptr<ExchangeHandler>> handlers;  // Streams may end during the calls.
  for (const auto& stream : streams_) handlers.push_back(stream->handler());
  for (const auto& handler : handlers) {
    if (handler) handler->OnDrain();
  }
}

void Http2Protocol::SendFinalGoaway() {
  if (drain_ != DrainStep::kNoticeSent) return;
  drain_ = DrainStep::kGoawaySent;
  final_goaway_due_ = TimePoint::max();
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  host_.OutputReady();
}

TimePoint Http2Protocol::OnTimer(TimePoint now) {
  if (!streams_.empty() && now >= last_stall_check_ + StallCheckInterval()) CutOffStalled(now);
  if (now >= final_goaway_due_) SendFinalGoaway();
  if (ping_sent_ != TimePoint::max() && now >= ping_sent_ + limits_.ping_timeout) {
    broken_ = true;
    return TimePoint::max();
  }
  if (streams_.empty() && now >= last_stream_closed_ + limits_.http2_idle_timeout) {
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    host_.OutputReady();
    return TimePoint::max();
  }
  if (ping_sent_ == TimePoint::max() && now >= last_received_ + limits_.ping_interval) {
    ping_sent_ = now;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    host_.OutputReady();
  }
  TimePoint next = ping_sent_ == TimePoint::max() ? last_received_ + limits_.ping_interval
                                                  : ping_sent_ + limits_.ping_timeout;
  next = std::min(next, streams_.empty() ? last_stream_closed_ + limits_.http2_idle_timeout
                                         : last_stall_check_ + StallCheckInterval());
  return std::min(next, final_goaway_due_);
}

void Http2Protocol::OnLost() {
  broken_ = true;
  host_.client()->Leave();
  while (!streams_.empty()) CloseStream(*streams_.back());
}

Http2Stream& Http2Protocol::OpenStream(int32_t stream_id) {
  std::unique_ptr<Http2Stream> stream;
  if (spare_.empty()) {
    stream = std::make_unique<Http2Stream>(*this);
  } else {
    stream = std::move(spare_.back());
    spare_.pop_back();
  }
  stream->Reset(stream_id, streams_.size());
  streams_.push_back(std::move(stream));
  if (streams_.size() == 1) {
    last_stall_check_ = host_.loop()->turn_start();
    host_.CheckAt(last_stall_check_ + StallCheckInterval());
  }
  useless_frames_ = 0;
  return *streams_.back();
}

void Http2Protocol::CloseStream(Http2Stream& stream) {
  const size_t index = stream.index();
  std::unique_ptr<Http2Stream> closed = std::move(streams_[index]);
  if (index + 1 < streams_.size()) {
    streams_[index] = std::move(streams_.back());
    streams_[index]->set_index(index);
  }
  streams_.pop_back();
  if (streams_.empty()) last_stream_closed_ = host_.loop()->turn_start();
  closed->OnClosed();
  if (spare_.size() < kSpareStreamsMax) spare_.push_back(std::move(closed));
}

Http2Stream* Http2Protocol::FindStream(int32_t stream_id) {
  return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session_, stream_id));
}

void Http2Protocol::CountUselessFrame() {
  if (++useless_frames_ > kUselessFramesMax) {
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

void Http2Protocol::CountReset() {
  const TimePoint now = host_.loop()->turn_start();
  const std::chrono::duration<double> passed = now - resets_counted_;
  resets_counted_ = now;
  const double gained = passed.count() * static_cast<double>(limits_.stream_resets_per_second_max);
  resets_left_ =
      std::min(resets_left_ + gained, static_cast<double>(limits_.stream_reset_burst_max)) - 1;
  if (resets_left_ < 0) nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

int Http2Protocol::OnBeginFrame(nghttp2_session* session, const nghttp2_frame_hd* head,
                                void* self) {
  Http2Protocol& protocol = Self(self);
  switch (head->type) {
    case NGHTTP2_DATA:
      if (head->length == 0) protocol.CountUselessFrame();
      return 0;
    case NGHTTP2_HEADERS:
      if (!protocol.stream_order_.Note(head->stream_id)) {
        nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
      }
      protocol.CountUselessFrame();  // Taken back if it opens a stream.
      return 0;
    case NGHTTP2_RST_STREAM:    // Counted when it is known what it resets.
    case NGHTTP2_CONTINUATION:  // Limited in number.
      return 0;
    default:
      protocol.CountUselessFrame();
      return 0;
  }
}

int Http2Protocol::OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame,
                                  void* self) {
  Self(self).head_bytes_ = 0;
  if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  Http2Stream& stream = Self(self).OpenStream(frame->hd.stream_id);
  nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, &stream);
  return 0;
}

int Http2Protocol::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                            size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                            void* self) {
  Http2Protocol& protocol = Self(self);
  protocol.head_bytes_ += name_size + value_size + kHeaderOverheadBytes;
  if (protocol.head_bytes_ > kHeadBytesFactorMax * protocol.limits_.header_bytes_max) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;  // Stops decoding at once.
  }
  // Trailers of a request are ignored.
  if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  if (Http2Stream* stream = protocol.FindStream(frame->hd.stream_id)) {
    stream->OnHeader(View(name, name_size), View(value, value_size),
                     protocol.limits_.header_bytes_max);
  }
  return 0;
}

int Http2Protocol::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  Http2Protocol& protocol = Self(self);
  const bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      Http2Stream* const stream = protocol.FindStream(frame->hd.stream_id);
      if (stream == nullptr) return 0;
      if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        stream->OnHeadEnd(protocol.service_, ends_stream ? BodyFollows::kNo : BodyFollows::kYes);
      } else if (ends_stream) {
        stream->OnBodyEnd();
      } else if (frame->hd.length > 0 && frame->hd.length == frame->data.padlen) {
        protocol.CountUselessFrame();
      }
      return 0;
    }
    case NGHTTP2_PING:
      if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 &&
          std::ranges::equal(frame->ping.opaque_data, kDrainPing)) {
        protocol.SendFinalGoaway();
      }
      return 0;
    case NGHTTP2_RST_STREAM:
      // Runs before nghttp2 closes the stream, if it is still open.
      if (protocol.FindStream(frame->hd.stream_id) != nullptr) {
        protocol.CountReset();
      } else {
        protocol.CountUselessFrame();
      }
      return 0;
    default:
      return 0;
  }
}

int Http2Protocol::OnData(nghttp2_session* session, uint8_t, int32_t stream_id, const uint8_t* data,
                          size_t size, void* self) {
  if (Http2Stream* stream = Self(self).FindStream(stream_id)) {
    stream->OnBody(View(data, size));
  } else {
    nghttp2_session_consume(session, stream_id, size);
  }
  return 0;
}

int Http2Protocol::OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t,
                                 void* self) {
  if (Http2Stream* stream = Self(self).FindStream(stream_id)) {
    nghttp2_session_set_stream_user_data(session, stream_id, nullptr);
    Self(self).CloseStream(*stream);
  }
  return 0;
}

int Http2Protocol::OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  const bool ends_stream = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                           (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (!ends_stream) return 0;
  if (Http2Stream* stream = Self(self).FindStream(frame->hd.stream_id)) stream->OnAnswerSent();
  return 0;
}

int Http2Protocol::OnSendData(nghttp2_session*, nghttp2_frame*, const uint8_t* frame_head,
                              size_t size, nghttp2_data_source* source, void* self) {
  constexpr size_t kFrameHeadBytes = 9;
  Http2Protocol& protocol = Self(self);
  protocol.useless_frames_ -= std::min(protocol.useless_frames_, kUselessFramesPerAnswerFrame);
  std::string& out = *protocol.output_;
  out.append(View(frame_head, kFrameHeadBytes));
  static_cast<Http2Stream*>(source->ptr)->MoveBody(size, out);
  return 0;
}

}  // namespace hearth::http
