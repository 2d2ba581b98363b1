#include "doors/webchannel/back_channel.h"

#include <utility>
#include <vector>

#include "doors/webchannel/answers.h"
#include "doors/webchannel/channel_session.h"

namespace hearth::doors::webchannel {

BackChannel::BackChannel(http::Exchange& exchange, std::shared_ptr<ChannelSession> session,
                         const ChannelQuery& query)
    : loop_(exchange.loop()),
      session_(std::move(session)),
      mode_(query.mode),
      poll_timeout_(query.poll_timeout),
      exchange_(&exchange) {}

template <typename Work>
void BackChannel::OnLoop(Work work) {
  if (loop_->InLoop()) {
    if (exchange_) work(*this);
  } else {
    loop_->Post([self = shared_from_this(), work = std::move(work)]() mutable {
      if (self->exchange_) work(*self);
    });
  }
}

void BackChannel::Send(std::string chunk) {
  OnLoop([chunk = std::move(chunk)](BackChannel& channel) mutable {
    channel.SendNow(std::move(chunk));
    channel.ready_owed_ = true;
    if (channel.exchange_->unsent_bytes() < http::kSendBufferLowBytes) channel.ReportReady();
  });
}

void BackChannel::Finish(std::string chunk) {
  OnLoop([chunk = std::move(chunk)](BackChannel& channel) mutable {
    channel.SendNow(std::move(chunk));
    channel.exchange_->Finish({});
  });
}

void BackChannel::Refuse() {
  OnLoop([](BackChannel& channel) {
    if (std::exchange(channel.head_sent_, true)) return channel.exchange_->Finish({});
    http::AnswerPlain(*channel.exchange_, UnknownSessionAnswer(channel.exchange_->head()));
  });
}

void BackChannel::SendNow(std::string chunk) {
  SendHeadNow();
  if (!chunk.empty()) exchange_->SendBody(std::move(chunk));
}

void BackChannel::SendHeadNow() {
  if (std::exchange(head_sent_, true)) return;
  const auto texts = ChannelHeaders(exchange_->head());
  std::vector<http::Header> headers = {
      {"content-type", kChannelContentType, http::HeaderText::kStatic},
      // Tells proxies that support it not to buffer.
      {"x-accel-buffering", "no", http::HeaderText::kStatic}};
  for (const auto& [name, value] : texts) headers.push_back({.name = name, .value = value});
  exchange_->SendHead(200, headers, http::BodyFollows::kYes);
}

void BackChannel::ReportReady() {
  if (std::exchange(ready_owed_, false)) session_->OnBackChannelReady(shared_from_this());
}

void BackChannel::OnBody(std::string_view bytes) { exchange_->ConsumeBody(bytes.size()); }

void BackChannel::OnInputEnd() {
  // Browsers close both directions at once: the client no longer reads.
  exchange_->Abort();
}

void BackChannel::OnDrain() { session_->Drain(); }

void BackChannel::OnWritable() { ReportReady(); }

void BackChannel::OnClosed() {
  exchange_ = nullptr;
  session_->OnBackChannelClosed(shared_from_this());
}

}  // namespace hearth::doors::webchannel
