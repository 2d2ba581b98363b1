#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/testing/test_socket.h"

namespace hearth::http {

using TestHeaders = std::vector<std::pair<std::string, std::string>>;

// The answer on one stream so far.
struct TestAnswer {
  std::map<std::string, std::string> headers;  // From the head and the trailers.
  std::string body;
  size_t header_blocks = 0;
  bool closed = false;
  uint32_t error_code = 0;  // From the RST_STREAM that closed it, else 0.

  int http_status() const;
  int grpc_status() const;                    // -1 if there is none yet.
  std::vector<std::string> messages() const;  // The complete gRPC messages in the body.
};

// A gRPC frame around `message`.
std::string TestFrame(std::string_view message, bool compressed = false);

struct TestHttp2Options {
  uint32_t stream_window_bytes = 65'535;
  bool opens_windows = true;  // Otherwise the server may send only the first window.
  int receive_buffer_bytes = 0;
};

// A blocking HTTP/2 client for tests; frames move only inside its functions.
class TestHttp2Client {
 public:
  explicit TestHttp2Client(uint16_t port, TestHttp2Options options = {});
  ~TestHttp2Client();
  TestHttp2Client(const TestHttp2Client&) = delete;
  TestHttp2Client& operator=(const TestHttp2Client&) = delete;

  // Starts a request; its body is what SendBody adds, until EndBody.
  int32_t Open(std::string_view method, std::string_view path, const TestHeaders& headers);
  int32_t OpenGrpc(std::string_view path, const TestHeaders& more_headers = {});
  void SendBody(int32_t stream_id, std::string_view bytes);
  void EndBody(int32_t stream_id);
  void Reset(int32_t stream_id);

  // A whole unary call; returns when its stream is closed or the connection is gone.
  TestAnswer Call(std::string_view path, std::string_view message,
                  const TestHeaders& more_headers = {});
  // A whole call with `body` as is.
  TestAnswer CallRaw(std::string_view path, std::string_view body,
                     const TestHeaders& more_headers = {});
  // A whole request without body.
  TestAnswer Get(std::string_view path);

  // Exchanges frames until `met` returns true; false if the connection ends or the wait times out
  // first.
  bool Until(const std::function<bool()>& met);
  bool UntilClosed(int32_t stream_id);
  // Returns once the server has answered a PING, and so has seen everything sent before.
  bool RoundTrip();
  // Writes queued frames without waiting for anything.
  void Flush();
  bool UntilConnectionEnds();

  const TestAnswer& answer(int32_t stream_id) { return answers_[stream_id]; }
  // The last stream id of the latest GOAWAY, if any, and its reason.
  std::optional<int32_t> goaway() const { return goaway_; }
  uint32_t goaway_reason() const { return goaway_reason_; }
  size_t goaway_count() const { return goaway_count_; }
  // The number of PINGs from the server.
  size_t pings_received() const { return pings_received_; }
  uint32_t server_setting(nghttp2_settings_id id) const;
  // Bytes of request body still held back by flow control.
  size_t unsent_bytes(int32_t stream_id) { return uploads_[stream_id].bytes.size(); }
  nghttp2_session* session() { return session_; }
  TestSocket& socket() { return socket_; }

 private:
  struct Upload {
    std::string bytes;
    bool ended = false;
    bool deferred = false;
  };

  static ssize_t ReadUpload(nghttp2_session*, int32_t stream_id, uint8_t* buffer, size_t bytes_max,
                            uint32_t* flags, nghttp2_data_source*, void* self);
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t flags,
                      void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnData(nghttp2_session*, uint8_t flags, int32_t stream_id, const uint8_t* data,
                    size_t size, void* self);
  static int OnStreamClose(nghttp2_session*, int32_t stream_id, uint32_t error_code, void* self);
  void Resume(int32_t stream_id);

  TestSocket socket_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, TestAnswer> answers_;
  std::map<int32_t, Upload> uploads_;
  std::optional<int32_t> goaway_;
  uint32_t goaway_reason_ = 0;
  size_t goaway_count_ = 0;
  size_t pings_answered_ = 0;
  size_t pings_received_ = 0;
  bool gone_ = false;
};

}  // namespace hearth::http
