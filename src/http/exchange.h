// One HTTP request and its answer, whatever the protocol version below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/client_presence.h"

namespace hearth::http {

class EventLoop;

// A producer of a long answer waits until fewer bytes than this are queued on its exchange.
inline constexpr size_t kSendBufferLowBytes = 64 * 1024;

enum class HttpVersion : uint8_t { kHttp10, kHttp11, kHttp2 };

// kStatic promises that both views live as long as the process, so nobody needs to copy them.
enum class HeaderText : uint8_t { kCopied, kStatic };

// One field of a head or of trailers. Borrows its text; names are in lower case, and an answer's
// values hold no control characters.
struct Header {
  std::string_view name;
  std::string_view value;
  HeaderText text = HeaderText::kCopied;
};

// What a request says before its body. All text lies in one buffer, so that a request costs two
// allocations however many fields it has.
//
// Threads: immutable once the exchange is opened. Ownership: owns its text; views end with it.
class RequestHead {
 public:
  std::string_view method() const { return View(method_); }
  std::string_view target() const { return View(target_); }        // "/path?query", as received.
  std::string_view path() const;                                   // The target before any '?'.
  std::string_view query() const;                                  // What follows the '?', or "".
  std::string_view authority() const { return View(authority_); }  // From :authority or Host.
  std::string_view scheme() const { return View(scheme_); }
  HttpVersion version() const { return version_; }

  size_t header_count() const { return fields_.size(); }
  Header header(size_t index) const;

  // The value of the first field of that name (in lower case); nullopt if there is none.
  std::optional<std::string_view> Find(std::string_view name) const;

  // For the protocols that fill it in, and for tests.
  void set_method(std::string_view text) { method_ = Add(text); }
  void set_target(std::string_view text) { target_ = Add(text); }
  void set_authority(std::string_view text) { authority_ = Add(text); }
  void set_scheme(std::string_view text) { scheme_ = Add(text); }
  void set_version(HttpVersion version) { version_ = version; }
  // Lower-cases `name`.
  void AddHeader(std::string_view name, std::string_view value);

 private:
  struct Range {  // Offsets, because the buffer moves while it grows.
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

// How many bytes of unfinished requests a connection may hold in memory.
//
// Threads: used on one loop only.
class BufferBudget {
 public:
  explicit BufferBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // False, and nothing is taken, when `bytes` more would exceed the budget.
  [[nodiscard]] bool Take(size_t bytes);
  void Return(size_t bytes);
  size_t used_bytes() const { return used_bytes_; }

 private:
  const size_t bytes_max_;
  size_t used_bytes_ = 0;
};

enum class BodyFollows : uint8_t { kNo, kYes };

// The connection's side of one request: where the answer goes.
//
// An answer is SendHead once, SendBody any number of times, Finish once; with BodyFollows::kNo the
// head is the whole answer. Calls that come too late (after Finish, Abort) do nothing.
// Threads: lives on one loop; every call is made there. Ownership: belongs to its connection and
// ends with the handler's OnClosed. Errors: a lost client is reported by OnClosed only.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const RequestHead& head() const = 0;
  // For a handler that outlives the exchange. head() is empty afterwards.
  virtual RequestHead TakeHead() = 0;

  // The client's address as text, without a port; IPv4 in its usual form also on a socket of both
  // families. Lives as long as the connection.
  virtual const std::string& peer() const = 0;

  // Tells of the end of the connection, where a client keeps one for all of its requests. Null on
  // HTTP/1.1: there the end of a connection says nothing about the client.
  virtual std::shared_ptr<const ClientPresence> client() const { return nullptr; }

  // Shared, because an answer computed elsewhere needs the loop even when the server is gone.
  virtual const std::shared_ptr<EventLoop>& loop() const = 0;
  virtual BufferBudget& budget() = 0;

  // A body without content-length is chunked on HTTP/1.1.
  virtual void SendHead(int status, std::span<const Header> headers, BodyFollows body) = 0;
  virtual void SendBody(std::string bytes) = 0;
  virtual void Finish(std::span<const Header> trailers) = 0;
  // Breaks the answer off so that the client sees an error rather than a short answer.
  virtual void Abort() = 0;

  // Lets the client send `bytes` more of the request body. Bytes given to OnBody and not yet
  // returned here are what holds a fast sender back.
  virtual void ConsumeBody(size_t bytes) = 0;

  // Bytes given to SendBody that the connection has not yet taken for writing.
  virtual size_t unsent_bytes() const = 0;
};

// The product's side of one request. Runs on the exchange's loop; never called from inside a call
// of the exchange.
class ExchangeHandler {
 public:
  virtual ~ExchangeHandler() = default;

  virtual void OnBody(std::string_view bytes) = 0;
  virtual void OnBodyEnd() = 0;
  // The request is complete and its connection will bring nothing more. On HTTP/1.1 only; some
  // clients still read then, most have gone.
  virtual void OnInputEnd() {}
  // The server is about to end and waits for the answers: one that has no end of its own is to
  // end soon.
  virtual void OnDrain() {}
  // unsent_bytes() has fallen below kSendBufferLowBytes after having been at or above it.
  virtual void OnWritable() {}
  // The exchange is over, answered or not, and is gone when this returns. The last call.
  virtual void OnClosed() = 0;
};

// What a server serves.
//
// Threads: Open runs on any of the server's loops, several at once.
class Service {
 public:
  virtual ~Service() = default;

  // Starts answering `exchange`, whose head is complete. Null when nobody wants the body or to
  // know of the end: the answer has been given already.
  virtual std::shared_ptr<ExchangeHandler> Open(Exchange& exchange) = 0;
};

// A service that tells by the head which requests are its own.
class ChoosingService : public Service {
 public:
  // True for a request that is to be answered here, be it with an error.
  virtual bool Wants(const RequestHead& head) const = 0;
};

}  // namespace hearth::http
