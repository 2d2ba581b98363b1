#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "http/http1_protocol.h"
#include "http/http2_protocol.h"

namespace hearth::http {
namespace {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// The number of reads and writes that one connection may do in a row before others get their turn.
constexpr int kReadsPerTurnMax = 4;
constexpr int kWritesPerTurnMax = 8;
// After the last answer the peer gets this long to read it and close; closing immediately would
// make the kernel discard data the peer has not read yet.
constexpr std::chrono::milliseconds kLingerTimeout{2'000};
// Capacity that a buffer may keep while it is empty; it is not counted.
constexpr size_t kKeptBufferBytes = 4 * 1024;

void Empty(std::string& buffer) {
  if (buffer.capacity() > kKeptBufferBytes) {
    FreeText(buffer);
  } else {
    buffer.clear();
  }
}

// What a buffer counts for.
size_t CountedBytes(const std::string& buffer) {
  return buffer.capacity() > kKeptBufferBytes ? buffer.capacity() : 0;
}

}  // namespace

Peer::Peer(const tcp::socket& socket, uint64_t connection_number) : key{connection_number} {
  ErrorCode error;
  const tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (error) return;
  boost::asio::ip::address known = endpoint.address();
  if (known.is_v6() && known.to_v6().is_v4_mapped()) {
    known = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, known.to_v6());
  }
  address = known.to_string();
  constexpr uint64_t kIsAddress = uint64_t{1} << 63;
  const bool is_local = known == boost::asio::ip::address_v4::loopback() ||
                        known == boost::asio::ip::address_v6::loopback();
  if (!is_local) key = ClientKey{std::hash<std::string>()(address) | kIsAddress};
}

Connection::Connection(tcp::socket socket, Peer peer, std::shared_ptr<EventLoop> loop,
                       const ConnectionLimits& limits, MemoryBudget* memory, Service& service,
                       ConnectionKeeper& keeper)
    : socket_(std::move(socket)),
      loop_(std::move(loop)),
      limits_(limits),
      service_(service),
      keeper_(keeper),
      budget_(limits.buffered_request_bytes_max, memory),
      peer_(std::move(peer.address)),
      client_(std::make_shared<ConnectedClient>(peer.key)),
      timer_(*loop_) {}

void Connection::Start() {
  ErrorCode error;
  socket_.set_option(tcp::no_delay(true), error);  // Fails only on a socket that is dead already.
  socket_.non_blocking(true, error);
  // Without this, the kernel keeps retransmitting to a vanished peer for a quarter of an hour.
  const auto unanswered_ms = static_cast<unsigned>(limits_.send_stall_timeout.count());
  setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms,
             sizeof(unanswered_ms));
  if (error) return Close();
  last_read_ = loop_->turn_start();
  CheckAt(loop_->turn_start() + limits_.header_read_timeout);
  WaitReadable();
}

void Connection::Drain() {
  if (draining_ || phase_ != Phase::kOpen) return;
  draining_ = true;
  if (!protocol_) return Close();
  protocol_->Drain();
  OutputReady();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  const Phase before = std::exchange(phase_, Phase::kClosed);
  const std::shared_ptr<Connection> self = shared_from_this();
  timer_.Disarm();
  ErrorCode ignored;  // The socket is closed either way.
  socket_.close(ignored);
  if (protocol_ && before == Phase::kOpen) protocol_->OnLost();
  keeper_.OnConnectionClosed(self);
}

void Connection::OutputReady() {
  if (turn_end_queued_) return;
  turn_end_queued_ = true;
  loop_->AtTurnEnd(shared_from_this());
}

void Connection::InputWanted() {
  input_wanted_ = true;
  OutputReady();  // The remaining bytes are offered at the end of the turn.
}

void Connection::RunAtTurnEnd() {
  turn_end_queued_ = false;
  if (phase_ != Phase::kOpen) return;
  if (std::exchange(input_wanted_, false) && !unread_.empty()) {
    const std::string bytes = std::exchange(unread_, {});
    Feed(bytes);
    if (phase_ != Phase::kOpen) return;
  }
  Flush();
  if (phase_ == Phase::kOpen) WaitReadable();
}

void Connection::WaitReadable() {
  // Unread bytes beyond one read's worth apply backpressure to the peer through TCP.
  const bool wanted =
      phase_ == Phase::kLingering ||
      ((!protocol_ || protocol_->wants_input()) && unread_.size() < loop_->read_scratch().size());
  if (waiting_readable_ || input_ended_ || phase_ == Phase::kClosed || !wanted) return;
  waiting_readable_ = true;
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    self->waiting_readable_ = false;
    if (!error) self->OnReadable();
  });
}

TimePoint Connection::idle_since() const {
  const bool is_idle = phase_ == Phase::kOpen && (!protocol_ || protocol_->is_idle());
  return is_idle ? last_read_ : TimePoint::max();
}

void Connection::OnReadable() {
  LoopTurn turn(*loop_);
  last_read_ = loop_->turn_start();
  for (int reads = 0; reads < kReadsPerTurnMax && ReadOnce(); ++reads) {
  }
  // Send answers before waiting again: the client can work while this thread waits.
  if (phase_ == Phase::kOpen) Flush();
  if (phase_ != Phase::kClosed) WaitReadable();
}

bool Connection::ReadOnce() {
  std::vector<char>& scratch = loop_->read_scratch();
  ErrorCode error;
  const size_t size = socket_.read_some(boost::asio::buffer(scratch), error);
  if (error == boost::asio::error::would_block) return false;
  if (error == boost::asio::error::eof) {
    OnInputEnd();
    return false;
  }
  if (error) {
    Close();
    return false;
  }
  if (phase_ == Phase::kLingering) return true;  // Read and discarded.
  if (unread_.empty()) {
    Feed({scratch.data(), size});
  } else {
    std::string bytes = std::exchange(unread_, {});
    bytes.append(scratch.data(), size);
    Feed(bytes);
  }
  return size == scratch.size() && phase_ == Phase::kOpen && unread_.empty();
}

void Connection::Feed(std::string_view bytes) {
  if (!protocol_) ChooseProtocol(bytes);
  while (protocol_ && !bytes.empty() && !protocol_->done()) {
    const size_t taken = protocol_->Receive(bytes);
    if (taken == 0) break;
    bytes.remove_prefix(taken);
  }
  if (bytes.empty()) {
    Empty(unread_);
  } else {
    unread_.assign(bytes);
  }
  // Closed, because there is no answer that would make the client take its bytes back.
  if (!CountBuffers() && !unread_.empty()) Close();
}

bool Connection::CountBuffers() {
  const size_t bytes =
      CountedBytes(unread_) + CountedBytes(unsent_) + (protocol_ ? protocol_->idle_bytes() : 0);
  return std::exchange(counted_bytes_, bytes) == bytes || budget_.SetBuffers(bytes);
}

void Connection::ChooseProtocol(std::string_view bytes) {
  const size_t compared = std::min(bytes.size(), kHttp2Preface.size());
  if (bytes.substr(0, compared) != kHttp2Preface.substr(0, compared)) {
    protocol_ = std::make_unique<Http1Protocol>(*this, limits_, service_);
  } else if (compared == kHttp2Preface.size()) {
    protocol_ = std::make_unique<Http2Protocol>(*this, limits_, service_);
  }
}

void Connection::OnInputEnd() {
  input_ended_ = true;
  if (phase_ == Phase::kLingering || !protocol_) return Close();
  protocol_->OnInputEnd();
  OutputReady();
}

void Connection::Flush() {
  if (waiting_writable_) return;
  for (int writes = 0; writes < kWritesPerTurnMax; ++writes) {
    if (!protocol_) return;
    std::string& out = loop_->write_scratch();
    out.clear();
    protocol_->Produce(out, limits_.send_buffer_bytes_max);
    if (out.empty()) {
      if (protocol_->done()) Linger();
      return;
    }
    std::string_view rest = out;
    switch (SendAll(rest)) {
      case SendResult::kFailed:
        return Close();
      case SendResult::kSome:
        unsent_.assign(rest);
        // Even if there is no room: until now, most of it was counted as answers.
        CountBuffers();
        ExpectSendProgress();
        return WaitWritable();
      case SendResult::kAll:
        break;
    }
    // Less than a full buffer means that the protocol has no more output.
    if (rest.empty() && out.size() < limits_.send_buffer_bytes_max && !protocol_->done()) return;
  }
  // Others get their turn before the rest is produced.
  loop_->Post([self = shared_from_this()] { self->OutputReady(); });
}

Connection::SendResult Connection::SendAll(std::string_view& bytes) {
  while (!bytes.empty()) {
    ErrorCode error;
    const size_t size = socket_.write_some(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (error == boost::asio::error::would_block) return SendResult::kSome;
    if (error) return SendResult::kFailed;
    bytes.remove_prefix(size);
  }
  return SendResult::kAll;
}

void Connection::ExpectSendProgress() {
  send_deadline_ = loop_->turn_start() + limits_.send_stall_timeout;
  sent_bytes_ = 0;
  ArmTimer();
}

void Connection::WaitWritable() {
  waiting_writable_ = true;
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const ErrorCode& error) {
    self->waiting_writable_ = false;
    if (!error) self->OnWritable();
  });
}

void Connection::OnWritable() {
  LoopTurn turn(*loop_);
  if (phase_ != Phase::kOpen) return;
  std::string_view rest = unsent_;
  const SendResult result = SendAll(rest);
  if (result == SendResult::kFailed) return Close();
  sent_bytes_ += unsent_.size() - rest.size();
  unsent_.erase(0, unsent_.size() - rest.size());
  if (result == SendResult::kSome) return WaitWritable();
  Empty(unsent_);
  CountBuffers();
  send_deadline_ = TimePoint::max();
  Flush();
  if (phase_ == Phase::kOpen) WaitReadable();
}

void Connection::Linger() {
  if (input_ended_) return Close();
  ErrorCode error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
  if (error) return Close();
  phase_ = Phase::kLingering;
  Empty(unread_);
  CountBuffers();
  // No more answers can be sent, so the exchanges need not wait for the peer to close.
  protocol_->OnLost();
  protocol_deadline_ = TimePoint::max();
  linger_deadline_ = loop_->turn_start() + kLingerTimeout;
  ArmTimer();
  WaitReadable();
}

void Connection::CheckAt(TimePoint when) {
  protocol_deadline_ = std::min(protocol_deadline_, when);
  ArmTimer();
}

void Connection::ArmTimer() {
  const TimePoint next = std::min({protocol_deadline_, send_deadline_, linger_deadline_});
  // A timer that fires too early checks and waits again; that is cheaper than moving it each time.
  if (next < timer_.armed_for()) timer_.Arm(next, [this] { OnTimer(); });
}

void Connection::OnTimer() {
  const TimePoint now = loop_->turn_start();
  if (now >= linger_deadline_) return Close();
  if (now >= send_deadline_) {
    if (sent_bytes_ < limits_.send_bytes_per_period_min) return Close();
    ExpectSendProgress();
  }
  if (now >= protocol_deadline_) {
    // No protocol yet: the peer did not send enough to tell in time.
    if (!protocol_) return Close();
    protocol_deadline_ = protocol_->OnTimer(now);
    OutputReady();
  }
  ArmTimer();
}

}  // namespace hearth::http
