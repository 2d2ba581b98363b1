#include "http/listener.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::http {
namespace {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// Long enough for some connection to end when the process has run out of file descriptors.
constexpr std::chrono::milliseconds kAcceptRetryDelay{100};

std::string ToText(const ListenAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  const std::string host = is_v6 ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

Status BindError(const ListenAddress& address, const ErrorCode& error) {
  return Status(Code::kFailedPrecondition,
                "cannot listen on " + ToText(address) + ": " + error.message());
}

// IPv4 first if a name has both, since that is what clients of "localhost" fall back to.
Result<tcp::endpoint> Resolve(boost::asio::io_context& io, const ListenAddress& address) {
  ErrorCode error;
  tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(address.host, std::to_string(address.port),
                       tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return InvalidArgument("cannot listen on " + ToText(address) +
                           ": the host is neither an address nor a known name");
  }
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return entry.endpoint();
  }
  return found.begin()->endpoint();
}

}  // namespace

Listener::Socket::Socket(EventLoop& loop) : acceptor(loop.io()), retry(loop) {}

Result<ListenAddress> Listener::Bind(const ListenAddress& address) {
  ASSIGN_OR_RETURN(const tcp::endpoint endpoint, Resolve(loop_.io(), address));
  auto socket = std::make_unique<Socket>(loop_);
  tcp::acceptor& acceptor = socket->acceptor;
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  // A restarted server must not wait for the old one's connections to time out.
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return BindError(address, error);
  const tcp::endpoint bound = acceptor.local_endpoint(error);
  if (error) return BindError(address, error);
  sockets_.push_back(std::move(socket));
  return ListenAddress{.host = bound.address().to_string(), .port = bound.port()};
}

void Listener::Accept(OnAccepted on_accepted) {
  on_accepted_ = std::move(on_accepted);
  for (const auto& socket : sockets_) AcceptOn(*socket);
}

void Listener::Stop(Task on_stopped) {
  CHECK(!on_stopped_);
  on_stopped_ = std::move(on_stopped);
  for (const auto& socket : sockets_) {
    ErrorCode ignored;  // Closed either way.
    socket->acceptor.close(ignored);
    socket->retry.Disarm();
  }
  if (accepts_under_way_ == 0) on_stopped_();
}

void Listener::AcceptOn(Socket& socket) {
  const size_t index = next_loop_++ % loops_.size();
  ++accepts_under_way_;
  socket.acceptor.async_accept(loops_[index]->io(), [this, &socket, index](const ErrorCode& error,
                                                                           tcp::socket accepted) {
    LoopTurn turn(loop_);
    --accepts_under_way_;
    if (on_stopped_) {
      if (accepts_under_way_ == 0) on_stopped_();
      return;
    }
    if (!error) {
      on_accepted_(std::move(accepted), index);
      AcceptOn(socket);
      return;
    }
    Log(LogLevel::kWarning, "accepting a connection failed", {{"reason", error.message()}});
    socket.retry.Arm(loop_.turn_start() + kAcceptRetryDelay, [this, &socket] { AcceptOn(socket); });
  });
}

}  // namespace hearth::http
