#include "load/load_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/check.h"

namespace hearth::bench {
namespace {

constexpr size_t kInputBytes = 256 * 1024;
// Far more than the answers of all calls in flight: flow control is not what is measured.
constexpr int32_t kWindowBytes = 1 << 28;

nghttp2_nv StaticHeader(std::string_view name, std::string_view value) {
  return {.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

void WriteFrame(std::string_view message, std::string& frame) {
  frame.assign(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>(message.size() >> shift & 0xff);
  }
  frame += message;
}

}  // namespace

LoadConnection::LoadConnection(const LoadOptions& options, LoadBody& body,
                               std::atomic<uint64_t>& next_request, LoadCounts& counts)
    : options_(options),
      body_(body),
      next_request_(next_request),
      counts_(counts),
      authority_(options.host + ":" + std::to_string(options.port)),
      input_(kInputBytes) {
  PrepareHeaders();
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  CHECK(nghttp2_session_client_new(&session_, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
}

LoadConnection::~LoadConnection() {
  nghttp2_session_del(session_);
  if (descriptor_ >= 0) close(descriptor_);
}

void LoadConnection::PrepareHeaders() {
  headers_ = {StaticHeader(":method", "POST"),
              StaticHeader(":scheme", "http"),
              StaticHeader(":path", options_.path),
              StaticHeader(":authority", authority_),
              StaticHeader("content-type", "application/grpc"),
              StaticHeader("te", "trailers"),
              StaticHeader("user-agent", "hearth_load")};
  for (const auto& [name, value] : options_.headers) headers_.push_back(StaticHeader(name, value));
}

Status LoadConnection::Start() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(options_.port);
  if (inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr) != 1) {
    return InvalidArgument(options_.host + " is no IPv4 address");
  }
  descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return Status(Code::kUnavailable, "cannot connect to " + authority_ + ": " + strerror(errno));
  }
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(descriptor_, F_SETFL, O_NONBLOCK);

  const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindowBytes};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindowBytes);
  now_ = Clock::now();
  for (size_t i = 0; i < options_.streams; ++i) OpenCall();
  Flush();
  return Status();
}

void LoadConnection::OnReadable() {
  const ssize_t size = recv(descriptor_, input_.data(), input_.size(), 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) return Lose();
  now_ = Clock::now();
  if (nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(input_.data()),
                               static_cast<size_t>(size)) < 0) {
    return Lose();
  }
  for (; to_open_ > 0; --to_open_) {
    if (opening_) OpenCall();
  }
  Flush();
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) {
    Lose();  // The server said GOAWAY.
  }
}

void LoadConnection::OpenCall() {
  const uint64_t number = next_request_.fetch_add(1, std::memory_order_relaxed);
  if (options_.requests_max != 0 && number >= options_.requests_max) {
    opening_ = false;
    return;
  }
  if (free_calls_.empty()) {
    calls_.push_back(std::make_unique<Call>());
    free_calls_.push_back(calls_.back().get());
  }
  Call* const call = free_calls_.back();
  WriteFrame(body_.Next(number), call->frame);
  call->sent_bytes = 0;
  call->start = now_;
  call->grpc_status = -1;
  const nghttp2_data_provider provider = {.source = {.ptr = call}, .read_callback = &ReadFrame};
  // Fails when the stream ids of this connection are used up, or after GOAWAY.
  if (nghttp2_submit_request(session_, nullptr, headers_.data(), headers_.size(), &provider, call) <
      0) {
    opening_ = false;
    return;
  }
  free_calls_.pop_back();
  ++in_flight_;
}

void LoadConnection::EndCall(Call* call) {
  --in_flight_;
  ++counts_.by_grpc_status[call->grpc_status];
  counts_.latency.Add(static_cast<uint64_t>((now_ - call->start).count()));
  free_calls_.push_back(call);
  ++to_open_;
}

void LoadConnection::Flush() {
  // Until the session has no more, or the socket takes no more: only then is there a next call.
  while (true) {
    while (unsent_.size() < kInputBytes) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size < 0) return Lose();
      if (size == 0) break;
      unsent_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
    if (unsent_.empty()) return;
    while (!unsent_.empty()) {
      const ssize_t sent = send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) return Lose();
      unsent_.erase(0, static_cast<size_t>(sent));
    }
  }
}

void LoadConnection::Lose() {
  if (lost_) return;
  lost_ = true;
  counts_.by_grpc_status[-1] += in_flight_;
  in_flight_ = 0;
  unsent_.clear();
}

ssize_t LoadConnection::ReadFrame(nghttp2_session*, int32_t, uint8_t* buffer, size_t bytes_max,
                                  uint32_t* flags, nghttp2_data_source* source, void*) {
  Call& call = *static_cast<Call*>(source->ptr);
  const size_t size = std::min(bytes_max, call.frame.size() - call.sent_bytes);
  std::memcpy(buffer, call.frame.data() + call.sent_bytes, size);
  call.sent_bytes += size;
  if (call.sent_bytes == call.frame.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

int LoadConnection::OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                             const uint8_t* name, size_t name_size, const uint8_t* value,
                             size_t value_size, uint8_t, void*) {
  if (std::string_view(reinterpret_cast<const char*>(name), name_size) != "grpc-status") return 0;
  if (auto* call =
          static_cast<Call*>(nghttp2_session_get_stream_user_data(session, frame->hd.stream_id))) {
    const char* const text = reinterpret_cast<const char*>(value);
    std::from_chars(text, text + value_size, call->grpc_status);
  }
  return 0;
}

int LoadConnection::OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t,
                                  void* self) {
  if (auto* call = static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream_id))) {
    static_cast<LoadConnection*>(self)->EndCall(call);
  }
  return 0;
}

}  // namespace hearth::bench
