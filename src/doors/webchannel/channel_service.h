#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "doors/webchannel/channel_session.h"
#include "doors/webchannel/options.h"
#include "doors/webchannel/session_table.h"
#include "http/exchange.h"
#include "http/plain.h"
#include "rpc/methods.h"

namespace hearth::doors::webchannel {

// The streaming methods for browsers, which can neither speak gRPC nor send while they receive:
// "/package.Service/Method/channel" is the channel to the method of that path. docs/webchannel.md
// documents the protocol.
//
// Threads: safe for concurrent use; never blocks a loop. Ownership: borrows the methods; must
// outlive the server, and must be destroyed before what the methods use: its destruction ends all
// calls.
// Errors: 400 for an invalid request, "Unknown SID" for a session that does not exist, 404 for a
// method that does not exist or does not stream, 503 for too many sessions.
class ChannelService final : public http::Service {
 public:
  // `background` may run tasks after the service is destroyed.
  ChannelService(const rpc::Methods& methods, rpc::Background background,
                 ChannelOptions options = {});
  ~ChannelService() override { sessions_.Clear(); }

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override;

  size_t session_count() const { return sessions_.size(); }

 private:
  struct Body {
    Form form;
    std::vector<IncomingMap> maps;
    MemoryClaim claim;  // For both, until the session claims what it keeps.
  };

  // `claim` is for what the body takes.
  static Result<Body> ParseBody(std::string_view text, const google::protobuf::Descriptor& type,
                                MemoryClaim claim);
  std::shared_ptr<http::ExchangeHandler> OpenBackChannel(http::Exchange& exchange,
                                                         const ChannelQuery& query);
  // The functions below run on the request's loop, when its body has arrived.
  void Answer(const std::shared_ptr<http::PlainCall>& request);
  void AnswerTerminate(const std::shared_ptr<http::PlainCall>& request, const ChannelQuery& query);
  void AnswerHandshake(const std::shared_ptr<http::PlainCall>& request, const ChannelQuery& query,
                       MethodTypes types, Body body);
  // Parses the body and passes it to `answer`, on the same loop; rejects an invalid one.
  void ReadBody(const std::shared_ptr<http::PlainCall>& request,
                const google::protobuf::Descriptor& type, Callback<void(Body body)> answer);

  const rpc::Methods& methods_;
  const rpc::Background background_;
  const ChannelOptions options_;
  const http::PlainHandler handler_;
  SessionTable sessions_;
};

}  // namespace hearth::doors::webchannel
