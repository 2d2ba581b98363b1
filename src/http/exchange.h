// One HTTP request and its answer, for any protocol version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/connected_client.h"
#include "base/memory_budget.h"

namespace hearth::http {

class EventLoop;

// A producer of a long answer waits until fewer bytes than this are queued on its exchange.
inline constexpr size_t kSendBufferLowBytes = 64 * 1024;

enum class HttpVersion : uint8_t { kHttp10, kHttp11, kHttp2 };

// kStatic promises that both views live as long as the process, so they need not be copied.
enum class HeaderText : uint8_t { kCopied, kStatic };

// One field of a head or of trailers. Borrows its text; names are in lower case, and the values of
// an answer contain no control characters.
struct Header {
  std::string_view name;
  std::string_view value;
  HeaderText text = HeaderText::kCopied;
};

// The head of a request. All text is in one buffer, so that a request costs two allocations however
// many fields it has.
//
// Threads: immutable once the exchange is opened. Ownership: owns its text; views end with it.
class RequestHead {
 public:
  std::string_view method() const { return View(method_); }
  // "/path?query"; for a request about the server as a whole, "*".
  std::string_view target() const { return View(target_); }
  std::string_view path() const;                                   // The target before any '?'.
  std::string_view query() const;                                  // The part after the '?', or "".
  std::string_view authority() const { return View(authority_); }  // From :authority or Host.
  std::string_view scheme() const { return View(scheme_); }
  HttpVersion version() const { return version_; }

  size_t header_count() const { return fields_.size(); }
  Header header(size_t index) const;

  // The value of the first field with that name (in lower case); nullopt if there is none.
  std::optional<std::string_view> Find(std::string_view name) const;

  // Whether the target has one of the forms that services may rely on: it begins with a slash, or
  // is the "*" of OPTIONS. Protocols refuse other requests.
  bool has_valid_target() const;
  // The memory that it holds.
  size_t bytes() const { return text_.capacity() + fields_.capacity() * sizeof(Field); }

  // For the protocols that fill it in, and for tests.
  void set_method(std::string_view text) { method_ = Add(text); }
  void set_target(std::string_view text) { target_ = Add(text); }
  void set_authority(std::string_view text) { authority_ = Add(text); }
  void set_scheme(std::string_view text) { scheme_ = Add(text); }
  void set_version(HttpVersion version) { version_ = version; }
  // Lower-cases `name`.
  void AddHeader(std::string_view name, std::string_view value);

 private:
  struct Range {  // Offsets, because the buffer moves as it grows.
    uint32_t begin = 0;
    uint32_t size = 0;
  };
  struct Field {
    Range name;
    Range value;
  };

  std::string_view View(Range range) const {
    return std::string_view(text_).substr(range.begin, range.size);
  }
  Range Add(std::string_view text);

  std::string text_;
  std::vector<Field> fields_;
  Range method_, target_, authority_, scheme_;
  HttpVersion version_ = HttpVersion::kHttp11;
};

// The memory that a request takes in addition to its head, body and answer: the stream, the call
// and what its method keeps for it.
inline constexpr size_t kRequestBytes = 2 * 1024;

// Limits the memory of one connection: requests and their heads, answers that the client has not
// read, and its own buffers. All of it comes from the memory budget of the process, in steps, so
// that most requests do not touch what threads share. While the process is short of memory, a
// connection claims no more than it uses.
//
// Threads: used on one loop only. Ownership: borrows the memory budget.
class BufferBudget {
 public:
  // `memory`: null: unlimited.
  explicit BufferBudget(size_t request_bytes_max, MemoryBudget* memory = nullptr);

  // For requests in progress. Returns false and takes nothing if `bytes` more would exceed the
  // limit or the memory.
  [[nodiscard]] bool Take(size_t bytes);
  void Return(size_t bytes);
  // The same for requests themselves, with their heads, but without their bodies. A client decides
  // how long a request for a stream lasts, so what is kept for short work is open to the first few
  // of a connection only.
  [[nodiscard]] bool TakeRequest(size_t bytes);
  void ReturnRequest(size_t bytes);
  size_t used_bytes() const { return request_bytes_; }

  // For answers. Returns false and takes nothing if there is no memory.
  [[nodiscard]] bool TakeAnswer(size_t bytes);
  void ReturnAnswer(size_t bytes);
  size_t answer_bytes() const { return answer_bytes_; }

  // The connection itself and its buffers hold this much from now on. They are counted even if
  // there is no memory for more; then the result is false.
  bool SetBuffers(size_t bytes);

  // Whether so much is unread that no further request should be started: 16 MiB, or little if the
  // process is short of memory.
  bool is_behind() const;

 private:
  size_t needed_bytes() const { return request_bytes_ + answer_bytes_ + buffer_bytes_; }
  [[nodiscard]] bool Claim(size_t bytes);
  void Release();
  bool is_scarce() const;

  const size_t request_bytes_max_;
  const MemoryBudget* const memory_;
  size_t request_bytes_ = 0;
  size_t head_bytes_ = 0;  // Those of them without bodies.
  size_t answer_bytes_ = 0;
  size_t buffer_bytes_ = 0;
  MemoryClaim claim_;  // At least the sum of these.
};

enum class BodyFollows : uint8_t { kNo, kYes };

// The connection's side of one request: where the answer goes.
//
// An answer is SendHead once, SendBody any number of times, Finish once; with BodyFollows::kNo the
// head is the whole answer. Calls that come too late (after Finish, Abort) have no effect.
// Threads: lives on one loop; every call is made there. Ownership: belongs to its connection and
// ends with the handler's OnClosed. Errors: a lost client is reported by OnClosed only.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const RequestHead& head() const = 0;
  // For a handler that outlives the exchange. head() is empty afterwards.
  virtual RequestHead TakeHead() = 0;

  // The client's address as text, without a port; IPv4 in its usual form even on a dual-stack
  // socket. Lives as long as the connection.
  virtual const std::string& peer() const = 0;

  // The client on this connection. On HTTP/2 it leaves when the connection closes. On HTTP/1.1 it
  // never does: there the end of a connection says nothing about the client.
  virtual const std::shared_ptr<ConnectedClient>& client() const = 0;

  // Shared, because an answer computed elsewhere needs the loop even after the server is gone.
  virtual const std::shared_ptr<EventLoop>& loop() const = 0;
  virtual BufferBudget& budget() = 0;

  // A body without content-length is chunked on HTTP/1.1.
  virtual void SendHead(int status, std::span<const Header> headers, BodyFollows body) = 0;
  // If the process has no memory for it, the answer is broken off. If nothing of it has been sent,
  // an error takes its place where that is possible.
  virtual void SendBody(std::string bytes) = 0;
  virtual void Finish(std::span<const Header> trailers) = 0;
  // Breaks the answer off so that the client sees an error rather than a short answer.
  virtual void Abort() = 0;

  // Lets the client send `bytes` more of the request body. Bytes passed to OnBody and not yet
  // returned here hold a fast sender back.
  virtual void ConsumeBody(size_t bytes) = 0;

  // Bytes passed to SendBody that the connection has not yet taken for writing.
  virtual size_t unsent_bytes() const = 0;
  // Whether a producer may go on: little of this answer is unsent, and the client reads the others.
  bool is_writable() { return unsent_bytes() < kSendBufferLowBytes && !budget().is_behind(); }
};

// The application's side of one request. Runs on the exchange's loop; never called from inside a
// call of the exchange.
class ExchangeHandler {
 public:
  virtual ~ExchangeHandler() = default;

  virtual void OnBody(std::string_view bytes) = 0;
  virtual void OnBodyEnd() = 0;
  // The request is complete and its connection will deliver nothing more. On HTTP/1.1 only; some
  // clients still read after that, but most are gone. If there is no whole answer soon, OnClosed
  // follows.
  virtual void OnInputEnd() {}
  // The server is shutting down and waits for the answers: an answer without an end of its own
  // should end soon.
  virtual void OnDrain() {}
  // The exchange may have become writable.
  virtual void OnWritable() {}
  // Whether the client owes the rest of a message. If it makes no progress, it is cut off. False
  // for a stream of messages between two of them.
  virtual bool AwaitsBody() const { return true; }
  // The exchange is over, answered or not, and is destroyed when this returns. The last call.
  virtual void OnClosed() = 0;
};

// The application of a server.
//
// Threads: Open runs on any of the server's loops, several at once.
class Service {
 public:
  virtual ~Service() = default;

  // Starts answering `exchange`, whose head is complete. Returns null if the handler needs neither
  // the body nor OnClosed: the answer has already been given.
  virtual std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) = 0;
};

// A service that decides by the head which requests it handles.
class ChoosingService : public Service {
 public:
  // True for a request that should be answered here, even if with an error.
  virtual bool Wants(const RequestHead& head) const = 0;
};

}  // namespace hearth::http
