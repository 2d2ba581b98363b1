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
  // `receive_buffer_bytes` other than 0 makes the kernel hold no more than about that.
  explicit TestSocket(uint16_t port, int receive_buffer_bytes = 0);
  ~TestSocket();
  TestSocket(const TestSocket&) = delete;
  TestSocket& operator=(const TestSocket&) = delete;

  bool connected() const { return connected_; }
  // False when the peer is gone.
  bool Send(std::string_view bytes);
  // "" when the peer has closed or patience has run out.
  std::string ReadSome();
  // Reads until what was read since the last call holds `end`; returns up to and including it.
  std::string ReadUntil(std::string_view end);
  std::string ReadExactly(size_t bytes);
  std::string ReadToEnd();
  void CloseSending();
  void Close();
  // True when bytes, or the peer's close, can be read now.
  bool readable() const;

 private:
  int descriptor_ = -1;
  bool connected_ = false;
  std::string unread_;
};

// A port of the loopback that was free a moment ago, for servers that cannot choose one and say
// which. Another process may take it at any time.
uint16_t FreePort();

}  // namespace hearth::http
