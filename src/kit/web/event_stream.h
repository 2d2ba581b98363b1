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
// What the client has not taken yet stays in the channel. A client so slow that the channel has
// forgotten its next event is cut off: it comes back, and goes on with what there is.
//
// Threads: the exchange's loop. Ownership: shared by the exchange's handler and by what is posted
// to the loop; borrows the exchange until Close.
class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  EventStream(http::Exchange& exchange, std::shared_ptr<EventChannel> channel, uint64_t last_id,
              std::chrono::milliseconds keep_alive);

  // False when the channel has too many already.
  [[nodiscard]] bool Subscribe();
  // To be called once the head of the answer is sent.
  void Start();
  void OnWritable() { Deliver(); }
  // Ends the answer, so that the client sees its end.
  void End();
  // The exchange is gone.
  void Close();

 private:
  void OnNews();
  void Deliver();
  void ArmKeepAlive();

  const std::shared_ptr<http::EventLoop> loop_;
  http::Exchange* exchange_;                     // Null once closed.
  const std::shared_ptr<EventChannel> channel_;  // Shared with those who publish.
  const std::chrono::milliseconds keep_alive_;
  http::Timer timer_;
  uint64_t last_id_;
  bool has_begun_ = false;
  uint64_t subscription_ = 0;               // 0: none.
  std::atomic<bool> delivery_due_ = false;  // Posted to the loop, which has not begun it yet.
};

}  // namespace hearth::kit
