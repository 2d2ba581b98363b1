#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "doors/webchannel/channel_session.h"
#include "doors/webchannel/options.h"
#include "doors/webchannel/session_table.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "http/rpc_methods.h"

namespace hearth::doors::webchannel {

// The streaming methods for browsers, which can neither speak gRPC nor send while they receive:
// "/package.Service/Method/channel" is the channel to the method of that path. docs/webchannel.md
// has the protocol.
//
// Threads: safe for concurrent use; never blocks a loop. Ownership: borrows the methods; must
// outlive the server, and be outlived by what the methods use: its end ends all calls.
// Errors: 400 for a request that is none, "Unknown SID" for a session that is not there, 404 for
// a method that is not there or does not stream, 503 for too many sessions.
class ChannelService final : public http::Service {
 public:
  explicit ChannelService(const http::RpcMethods& methods, ChannelOptions options = {});
  ~ChannelService() override { sessions_.Clear(); }

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

  size_t session_count() const { return sessions_.size(); }

 private:
  std::shared_ptr<http::ExchangeHandler> OpenBackChannel(http::Exchange& exchange,
                                                         const ChannelQuery& query);
  // A request whose body is there, on the request's loop.
  void Answer(const std::shared_ptr<http::PlainCall>& request);
  void AnswerHandshake(const std::shared_ptr<http::PlainCall>& request, const ChannelQuery& query,
                       const Form& query_form);
  void AnswerForward(const std::shared_ptr<http::PlainCall>& request, const ChannelQuery& query);

  const http::RpcMethods& methods_;
  const ChannelOptions options_;
  const http::PlainHandler handler_;
  SessionTable sessions_;
};

}  // namespace hearth::doors::webchannel
