#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "http/event_loop.h"
#include "http/exchange.h"
#include "kit/web/events.h"

namespace hearth::kit {

// Delivers a channel to one client, as server-sent events over an exchange.
//
// Events that the client has not taken yet stay in the channel. A client so slow that the channel
// has dropped its next event is disconnected; it reconnects and continues with what is left.
//
// Threads: the exchange's loop. Ownership: shared by the exchange's handler and by tasks posted to
// the loop; borrows the exchange until Close.
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  EventStream(http::Exchange& exchange, std::shared_ptr<EventChannel> channel, uint64_t last_id,
              std::chrono::milliseconds keep_alive);

  // False if the channel has too many subscribers.
  [[nodiscard]] bool Subscribe();
  // Call once the head of the response is sent.
  void Start();
  void OnWritable() { Deliver(); }
  // Ends the response, so that the client sees its end.
  void End();
  // The exchange is gone.
  void Close();

 private:
  void OnNews();
  void Deliver();
  void ArmKeepAlive();

  const std::shared_ptr<http::EventLoop> loop_;
  http::Exchange* exchange_;                     // Null once closed.
  const std::shared_ptr<EventChannel> channel_;  // Shared with the publishers.
  const std::chrono::milliseconds keep_alive_;
  http::Timer timer_;
  uint64_t last_id_;
  bool has_begun_ = false;
  uint64_t subscription_ = 0;               // 0: none.
  std::atomic<bool> delivery_due_ = false;  // Posted to the loop, but not started.
};

}  // namespace hearth::kit
