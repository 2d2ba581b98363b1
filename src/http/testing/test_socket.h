#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::http {

// A blocking TCP client for tests. Every wait ends after kTestPatience at the latest, as if the
// peer had closed, so that a broken server fails a test instead of hanging it.
class TestSocket {
 public:
  // `receive_buffer_bytes` other than 0 limits the kernel's receive buffer to about that size.
  explicit TestSocket(uint16_t port, int receive_buffer_bytes = 0);
  // As another client: `source` is an address of the loopback, such as "127.0.0.2".
  TestSocket(uint16_t port, const char* source);
  ~TestSocket();
  TestSocket(const TestSocket&) = delete;
  TestSocket& operator=(const TestSocket&) = delete;

  bool connected() const { return connected_; }
  // False if the peer is gone.
  bool Send(std::string_view bytes);
  // "" if the peer has closed or the wait timed out.
  std::string ReadSome();
  // Reads until the bytes since the last call contain `end`; returns up to and including it.
  std::string ReadUntil(std::string_view end);
  std::string ReadExactly(size_t bytes);
  std::string ReadToEnd();
  void CloseSending();
  void Close();
  // True if bytes, or the peer's close, can be read now.
  bool readable() const;

 private:
  TestSocket(uint16_t port, int receive_buffer_bytes, const char* source);

  int descriptor_ = -1;
  bool connected_ = false;
  std::string unread_;
};

// A loopback port for a server that cannot select one and report it. As long as this process runs,
// no other test gets it, nor does the system hand it out.
uint16_t FreePort();

}  // namespace hearth::http
