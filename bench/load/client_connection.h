#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hearth::bench {

// One gRPC call over a connection. It may be opened again after its end.
//
// Threads: its connection's. Ownership: outlives its time on the connection.
class ClientCall {
 public:
  ClientCall() = default;
  virtual ~ClientCall() = default;
  ClientCall(const ClientCall&) = delete;
  ClientCall& operator=(const ClientCall&) = delete;

  // Bytes of the answer: messages in gRPC's frames, cut anywhere.
  virtual void OnData(std::string_view) {}
  // -1: the stream ended without a status. Not called when the connection is lost.
  virtual void OnEnd(int grpc_status) = 0;

 private:
  friend class ClientConnection;

  std::string frames_;  // Messages in gRPC's frames, from `sent_bytes_` on to be sent.
  size_t sent_bytes_ = 0;
  int32_t stream_id_ = -1;
  int grpc_status_ = -1;
  bool is_complete_ = true;   // No more messages will follow.
  bool is_deferred_ = false;  // The session waits to be told of more.
};

struct ClientOptions {
  std::string host = "127.0.0.1";  // A numeric IPv4 address.
  uint16_t port = 0;
  std::vector<std::pair<std::string, std::string>> headers = {};  // Besides those of gRPC.

  // Takes "HOST:PORT"; without a port that is a number, it is 0.
  void SetAddress(std::string_view address);
};

// One HTTP/2 connection of a client that is cheap enough not to be what is measured.
//
// Threads: one. Ownership: borrows the options and the calls. Errors: after a broken connection it
// is lost() and does nothing any more.
class ClientConnection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Messages : uint8_t { kOne, kMore };

  explicit ClientConnection(const ClientOptions& options);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  Status Connect();
  // Sends a request; false when the connection takes no more calls. `path` outlives the connection.
  // Until Flush, or the end of the callback it is called from, all stays here.
  bool Open(ClientCall& call, std::string_view path, std::string_view message, Messages messages);
  // Sends another message of a call that was opened for more.
  void Send(ClientCall& call, std::string_view message);
  void Flush();

  int descriptor() const { return descriptor_; }
  void OnReadable();
  void OnWritable() { Flush(); }
  // True while the socket has not taken everything.
  bool wants_writable() const { return !unsent_.empty(); }
  bool lost() const { return lost_; }
  // When the bytes that are being worked on were read.
  Clock::time_point now() const { return now_; }

 private:
  static ssize_t ReadFrames(nghttp2_session*, int32_t, uint8_t* buffer, size_t bytes_max,
                            uint32_t* flags, nghttp2_data_source* source, void*);
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*);
  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t stream_id, const uint8_t* data,
                         size_t size, void*);
  static int OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t, void*);

  void PrepareHeaders();
  void Lose();

  const ClientOptions& options_;
  int descriptor_ = -1;
  nghttp2_session* session_ = nullptr;
  std::string authority_;
  std::vector<nghttp2_nv> headers_;  // The first is the path.
  std::string unsent_;
  std::vector<char> input_;
  Clock::time_point now_;
  bool lost_ = false;
};

// Serves the connections of one thread. Ownership: borrows them.
class ClientPoll {
 public:
  ClientPoll();
  ~ClientPoll();
  ClientPoll(const ClientPoll&) = delete;
  ClientPoll& operator=(const ClientPoll&) = delete;

  void Add(ClientConnection& connection);
  // Serves what is ready, and waits for some when nothing is.
  void Wait(std::chrono::milliseconds wait_max);

 private:
  void Watch(ClientConnection& connection, int operation);
  void Serve(ClientConnection& connection, uint32_t events);

  const int poll_;
};

}  // namespace hearth::bench
