#include "http/testing/test_socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <random>
#include <string>
#include <utility>

#include "base/check.h"

namespace hearth::http {
namespace {

constexpr timeval kTestPatience = {.tv_sec = 120, .tv_usec = 0};

// Reserves the port by a name that only one process can have, and that ends with the process.
bool IsReservedForThisProcess(uint16_t port) {
  const std::string name = "hearth-test-port-" + std::to_string(port);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;  // A name that starts with a null byte is not a file.
  name.copy(address.sun_path + 1, name.size());
  const socklen_t size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(descriptor >= 0);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0) return true;
  close(descriptor);
  return false;
}

bool IsFree(uint16_t port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(descriptor >= 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int bound = bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  close(descriptor);
  return bound == 0;
}

}  // namespace

TestSocket::TestSocket(uint16_t port, int receive_buffer_bytes)
    : TestSocket(port, receive_buffer_bytes, nullptr) {}

TestSocket::TestSocket(uint16_t port, const char* source) : TestSocket(port, 0, source) {}

TestSocket::TestSocket(uint16_t port, int receive_buffer_bytes, const char* source)
    : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &kTestPatience, sizeof(kTestPatience));
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &kTestPatience, sizeof(kTestPatience));
  if (receive_buffer_bytes > 0) {
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
               sizeof(receive_buffer_bytes));
  }
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (source != nullptr) {
    CHECK(inet_pton(AF_INET, source, &address.sin_addr) == 1);
    CHECK(bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connected_ =
      connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

TestSocket::~TestSocket() { Close(); }

bool TestSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string TestSocket::ReadSome() {
  if (!unread_.empty()) return std::exchange(unread_, {});
  std::string bytes(64 * 1024, '\0');
  const ssize_t size = recv(descriptor_, bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return bytes;
}

std::string TestSocket::ReadUntil(std::string_view end) {
  std::string bytes;
  while (bytes.find(end) == std::string::npos) {
    const std::string more = ReadSome();
    if (more.empty()) return bytes;
    bytes += more;
  }
  const size_t size = bytes.find(end) + end.size();
  unread_ = bytes.substr(size);
  bytes.resize(size);
  return bytes;
}

std::string TestSocket::ReadExactly(size_t count) {
  std::string bytes = std::exchange(unread_, {});
  while (bytes.size() < count) {
    const std::string more = ReadSome();
    if (more.empty()) return bytes;
    bytes += more;
  }
  unread_ = bytes.substr(count);
  bytes.resize(count);
  return bytes;
}

std::string TestSocket::ReadToEnd() {
  std::string bytes;
  for (std::string more = ReadSome(); !more.empty(); more = ReadSome()) bytes += more;
  return bytes;
}

void TestSocket::CloseSending() { shutdown(descriptor_, SHUT_WR); }

void TestSocket::Close() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

bool TestSocket::readable() const {
  pollfd entry = {.fd = descriptor_, .events = POLLIN, .revents = 0};
  return !unread_.empty() || poll(&entry, 1, 0) == 1;
}

uint16_t FreePort() {
  // Below the ports that Linux hands out by default.
  std::uniform_int_distribution<uint16_t> ports(16'384, 32'767);
  std::random_device random;
  while (true) {
    const uint16_t port = ports(random);
    if (IsReservedForThisProcess(port) && IsFree(port)) return port;
  }
}

}  // namespace hearth::http
