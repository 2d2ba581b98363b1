#include "load/client_connection.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/check.h"

namespace hearth::bench {
namespace {

constexpr size_t kInputBytes = 256 * 1024;
// Far more than the answers of all calls in flight, so that flow control does not limit the result.
constexpr int32_t kWindowBytes = 1 << 28;
constexpr int kEventsMax = 256;

nghttp2_nv StaticHeader(std::string_view name, std::string_view value) {
  return {.name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

void AppendFrame(std::string_view message, std::string& frames) {
  frames += '\0';
  for (int shift = 24; shift >= 0; shift -= 8) {
    frames += static_cast<char>(message.size() >> shift & 0xff);
  }
  frames += message;
}

ClientCall* CallOf(nghttp2_session* session, int32_t stream_id) {
  return static_cast<ClientCall*>(nghttp2_session_get_stream_user_data(session, stream_id));
}

}  // namespace

void ClientOptions::SetAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  host = address.substr(0, colon);
  port = 0;
  if (colon == std::string_view::npos) return;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
}

ClientConnection::ClientConnection(const ClientOptions& options)
    : options_(options),
      authority_(options.host + ":" + std::to_string(options.port)),
      input_(kInputBytes) {
  PrepareHeaders();
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &OnDataChunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &OnStreamClose);
  CHECK(nghttp2_session_client_new(&session_, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
}

ClientConnection::~ClientConnection() {
  nghttp2_session_del(session_);
  if (descriptor_ >= 0) close(descriptor_);
}

void ClientConnection::PrepareHeaders() {
  headers_ = {StaticHeader(":path", ""),
              StaticHeader(":method", "POST"),
              StaticHeader(":scheme", "http"),
              StaticHeader(":authority", authority_),
              StaticHeader("content-type", "application/grpc"),
              StaticHeader("te", "trailers"),
              StaticHeader("user-agent", "hearth_load")};
  for (const auto& [name, value] : options_.headers) headers_.push_back(StaticHeader(name, value));
}

Status ClientConnection::Connect() {
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
  return Status();
}

bool ClientConnection::Open(ClientCall& call, std::string_view path, std::string_view message,
                            Messages messages) {
  call.frames_.clear();
  AppendFrame(message, call.frames_);
  call.sent_bytes_ = 0;
  call.grpc_status_ = -1;
  call.is_complete_ = messages == Messages::kOne;
  call.is_deferred_ = false;
  headers_[0] = StaticHeader(":path", path);
  const nghttp2_data_provider provider = {.source = {.ptr = &call}, .read_callback = &ReadFrames};
  // Fails if this connection has used up its stream ids, or after GOAWAY.
  call.stream_id_ =
      nghttp2_submit_request(session_, nullptr, headers_.data(), headers_.size(), &provider, &call);
  return call.stream_id_ >= 0;
}

void ClientConnection::Send(ClientCall& call, std::string_view message) {
  AppendFrame(message, call.frames_);
  if (call.is_deferred_) nghttp2_session_resume_data(session_, call.stream_id_);
  call.is_deferred_ = false;
}

void ClientConnection::OnReadable() {
  const ssize_t size = recv(descriptor_, input_.data(), input_.size(), 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0) return Lose();
  now_ = Clock::now();
  if (nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(input_.data()),
                               static_cast<size_t>(size)) < 0) {
    return Lose();
  }
  Flush();
  if (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0) {
    Lose();  // The server sent GOAWAY.
  }
}

void ClientConnection::Flush() {
  // Until the session has nothing more to send or the socket is full: only then is there a next
  // call.
  while (!lost_) {
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

void ClientConnection::Lose() {
  lost_ = true;
  unsent_.clear();
}

ssize_t ClientConnection::ReadFrames(nghttp2_session*, int32_t, uint8_t* buffer, size_t bytes_max,
                                     uint32_t* flags, nghttp2_data_source* source, void*) {
  ClientCall& call = *static_cast<ClientCall*>(source->ptr);
  const size_t size = std::min(bytes_max, call.frames_.size() - call.sent_bytes_);
  if (size == 0 && !call.is_complete_) {
    call.is_deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  std::memcpy(buffer, call.frames_.data() + call.sent_bytes_, size);
  call.sent_bytes_ += size;
  if (call.sent_bytes_ == call.frames_.size()) {
    call.frames_.clear();
    call.sent_bytes_ = 0;
    if (call.is_complete_) *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return static_cast<ssize_t>(size);
}

int ClientConnection::OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                               const uint8_t* name, size_t name_size, const uint8_t* value,
                               size_t value_size, uint8_t, void*) {
  if (std::string_view(reinterpret_cast<const char*>(name), name_size) != "grpc-status") return 0;
  if (ClientCall* const call = CallOf(session, frame->hd.stream_id)) {
    const char* const text = reinterpret_cast<const char*>(value);
    std::from_chars(text, text + value_size, call->grpc_status_);
  }
  return 0;
}

int ClientConnection::OnDataChunk(nghttp2_session* session, uint8_t, int32_t stream_id,
                                  const uint8_t* data, size_t size, void*) {
  if (ClientCall* const call = CallOf(session, stream_id)) {
    call->OnData({reinterpret_cast<const char*>(data), size});
  }
  return 0;
}

int ClientConnection::OnStreamClose(nghttp2_session* session, int32_t stream_id, uint32_t, void*) {
  if (ClientCall* const call = CallOf(session, stream_id)) call->OnEnd(call->grpc_status_);
  return 0;
}

ClientPoll::ClientPoll() : poll_(epoll_create1(EPOLL_CLOEXEC)) {}

ClientPoll::~ClientPoll() { close(poll_); }

void ClientPoll::Add(ClientConnection& connection) { Watch(connection, EPOLL_CTL_ADD); }

void ClientPoll::Update(ClientConnection& connection) {
  if (!connection.lost() && connection.wants_writable()) Watch(connection, EPOLL_CTL_MOD);
}

void ClientPoll::Wait(std::chrono::milliseconds wait_max) {
  epoll_event events[kEventsMax];
  const int count = epoll_wait(poll_, events, kEventsMax, static_cast<int>(wait_max.count()));
  for (int i = 0; i < count; ++i) {
    Serve(*static_cast<ClientConnection*>(events[i].data.ptr), events[i].events);
  }
}

void ClientPoll::Watch(ClientConnection& connection, int operation) {
  epoll_event event = {};
  event.events = connection.wants_writable() ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &connection;
  CHECK(epoll_ctl(poll_, operation, connection.descriptor(), &event) == 0);
}

void ClientPoll::Serve(ClientConnection& connection, uint32_t events) {
  if ((events & EPOLLOUT) != 0) connection.OnWritable();
  if ((events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) connection.OnReadable();
  if (connection.lost()) {
    epoll_ctl(poll_, EPOLL_CTL_DEL, connection.descriptor(), nullptr);
  } else if (connection.wants_writable() != ((events & EPOLLOUT) != 0)) {
    Watch(connection, EPOLL_CTL_MOD);
  }
}

}  // namespace hearth::bench
