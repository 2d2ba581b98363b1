#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/http2_stream.h"
#include "http/options.h"
#include "http/protocol.h"
#include "http/stream_order.h"

namespace hearth::http {

// The bytes with which every HTTP/2 connection starts.
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// HTTP/2 with an nghttp2 server session.
//
// Flow control is manual: a stream's window reopens when its handler has consumed the bytes.
// Threads, Ownership, Errors: as Protocol says.
class Http2Protocol final : public Protocol {
 public:
  Http2Protocol(ProtocolHost& host, const ConnectionLimits& limits, Service& service);
  ~Http2Protocol() override;

  size_t Receive(std::string_view bytes) override;
  bool wants_input() const override;
  void OnInputEnd() override { broken_ = true; }
  void Produce(std::string& out, size_t bytes_max) override;
  // Most of it are the two tables of header fields.
  size_t idle_bytes() const override { return 12 * 1024; }
  bool is_idle() const override { return streams_.empty(); }
  bool done() const override;
  void Drain() override;
  TimePoint OnTimer(TimePoint now) override;
  void OnLost() override;

  // For the streams.
  ProtocolHost& host() { return host_; }
  nghttp2_session* session() { return session_; }
  void NoteWritable(int32_t stream_id) { writable_streams_.push_back(stream_id); }
  // The stream's request is opened once the client has read more of its answers.
  void OpenWhenRead(int32_t stream_id) { waiting_streams_.push_back(stream_id); }
  // The amount of unread answers has changed.
  void NoteUnread();

 private:
  // The progress of the graceful shutdown.
  enum class DrainStep : uint8_t { kNone, kNoticeSent, kGoawaySent };

  void CreateSession();
  Http2Stream& OpenStream(int32_t stream_id);
  void CloseStream(Http2Stream& stream);
  void RunWritableHandlers();
  void OpenWaitingStreams();
  // Cuts off the streams whose peer makes no progress.
  void CutOffStalled(TimePoint now);
  // How often to look for them.
  std::chrono::milliseconds StallCheckInterval() const;
  void SendFinalGoaway();
  // Ends the connection if the peer sends too many useless frames.
  void CountUselessFrame();
  // Ends the connection if the peer cancels more requests than the limits allow.
  void CountReset();

  // nghttp2's callbacks; `self` is the Http2Protocol.
  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* self);
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t flags,
                      void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnData(nghttp2_session*, uint8_t flags, int32_t stream_id, const uint8_t* data,
                    size_t size, void* self);
  static int OnStreamClose(nghttp2_session*, int32_t stream_id, uint32_t error_code, void* self);
  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnSendData(nghttp2_session*, nghttp2_frame* frame, const uint8_t* frame_head,
                        size_t size, nghttp2_data_source* source, void* self);

  Http2Stream* FindStream(int32_t stream_id);

  ProtocolHost& host_;
  const ConnectionLimits& limits_;
  Service& service_;
  nghttp2_session* session_ = nullptr;

  std::vector<std::unique_ptr<Http2Stream>> streams_;  // A stream stores its index.
  std::vector<std::unique_ptr<Http2Stream>> spare_;    // Closed ones, kept for their buffers.
  std::vector<int32_t> writable_streams_;              // Ids, since a stream may close in between.
  std::deque<int32_t> waiting_streams_;                // Not opened yet, in order of arrival.
  std::string* output_ = nullptr;                      // Set while Produce runs.

  TimePoint last_received_;
  TimePoint last_stream_closed_;
  TimePoint last_stall_check_;
  bool was_behind_ = false;
  TimePoint ping_sent_ = TimePoint::max();  // max() if no answer is pending.
  DrainStep drain_ = DrainStep::kNone;
  TimePoint final_goaway_due_ = TimePoint::max();
  StreamOrder stream_order_;
  size_t head_bytes_ = 0;  // Of the head or the trailers that are being decoded.
  size_t useless_frames_ = 0;
  double resets_left_;  // At `resets_counted_`; refilled over time.
  TimePoint resets_counted_;
  bool broken_ = false;  // This connection can send nothing more.
};

}  // namespace hearth::http
