#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "doors/webchannel/channel_request.h"
#include "http/event_loop.h"
#include "http/exchange.h"

namespace hearth::doors::webchannel {

class ChannelSession;

// The request whose answer carries a session's arrays.
//
// Threads: Send, Finish and Refuse from any thread; the rest on the request's loop, which may
// differ from the session's. Ownership: shared by the connection and by the session, which releases
// it when it is notified of the end.
class BackChannel final : public http::ExchangeHandler,
                          public std::enable_shared_from_this<BackChannel> {
 public:
  BackChannel(http::Exchange& exchange, std::shared_ptr<ChannelSession> session,
              const ChannelQuery& query);

  BackChannelMode mode() const { return mode_; }
  std::optional<std::chrono::milliseconds> poll_timeout() const { return poll_timeout_; }

  // The session's OnBackChannelReady is called when there is room for more.
  void Send(std::string chunk);
  // Sends the remaining data, if any, and ends the answer.
  void Finish(std::string chunk);
  // The session no longer exists.
  void Refuse();

  void OnBody(std::string_view bytes) override;
  void OnBodyEnd() override {}
  void OnInputEnd() override;
  void OnDrain() override;
  void OnWritable() override;
  void OnClosed() override;

 private:
  template <typename Work>
  void OnLoop(Work work);

  // The functions below run on the loop.
  void SendNow(std::string chunk);
  void SendHeadNow();
  void ReportReady();

  const std::shared_ptr<http::EventLoop> loop_;  // Shared: the session may outlive the server.
  const std::shared_ptr<ChannelSession> session_;
  const BackChannelMode mode_;
  const std::optional<std::chrono::milliseconds> poll_timeout_;
  http::Exchange* exchange_;  // Null once closed.
  bool head_sent_ = false;
  bool ready_owed_ = false;  // The session waits for OnBackChannelReady.
};

}  // namespace hearth::doors::webchannel
