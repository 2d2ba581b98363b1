#include "kit/web/event_stream.h"

#include <utility>

namespace hearth::kit {

EventStream::EventStream(http::Exchange& exchange, std::shared_ptr<EventChannel> channel,
                         uint64_t last_id, std::chrono::milliseconds keep_alive)
    : loop_(exchange.loop()),
      exchange_(&exchange),
      channel_(std::move(channel)),
      keep_alive_(keep_alive),
      timer_(*loop_),
      last_id_(last_id) {}

bool EventStream::Subscribe() {
  // Weak: a publisher's call must not keep the stream alive, whose timer belongs to the loop.
  const std::optional<uint64_t> subscription =
      channel_->Subscribe([weak = weak_from_this(), loop = loop_] {
        if (const auto self = weak.lock()) {
          if (self->delivery_due_.exchange(true)) return;
          loop->Post([weak] {
            if (const auto stream = weak.lock()) stream->OnNews();
          });
        }
      });
  if (!subscription) return false;
  subscription_ = *subscription;
  return true;
}

void EventStream::Start() {
  ArmKeepAlive();
  Deliver();
}

void EventStream::OnNews() {
  delivery_due_ = false;  // Reset before reading: later events post again.
  Deliver();
}

void EventStream::Deliver() {
  while (exchange_ != nullptr) {
    const bool is_full = exchange_->unsent_bytes() >= http::kSendBufferLowBytes;
    EventChannel::Piece piece =
        channel_->ReadAfter(last_id_, is_full ? 0 : http::kSendBufferLowBytes);
    if (piece.has_gap && has_begun_) {
      http::Exchange& exchange = *exchange_;
      Close();
      return exchange.Abort();
    }
    if (is_full) return;  // OnWritable resumes.
    has_begun_ = true;
    last_id_ = piece.last_id;
    const bool has_text = !piece.text.empty();
    if (has_text) exchange_->SendBody(std::move(piece.text));
    if (piece.has_ended) return End();
    if (!has_text) return;
  }
}

void EventStream::ArmKeepAlive() {
  timer_.Arm(loop_->turn_start() + keep_alive_, [this] {
    // A heartbeat is pointless while bytes are still waiting.
    if (exchange_->unsent_bytes() == 0) exchange_->SendBody(": still here\n\n");
    ArmKeepAlive();
  });
}

void EventStream::End() {
  if (exchange_ == nullptr) return;
  http::Exchange& exchange = *exchange_;
  Close();
  exchange.Finish({});
}

void EventStream::Close() {
  exchange_ = nullptr;
  timer_.Disarm();
  if (subscription_ != 0) channel_->Unsubscribe(std::exchange(subscription_, 0));
}

}  // namespace hearth::kit
