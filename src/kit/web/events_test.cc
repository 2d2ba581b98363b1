#include "kit/web/events.h"

#include <gtest/gtest.h>

#include <thread>

namespace hearth::kit {
namespace {

constexpr size_t kAll = 1 << 30;

TEST(EventChannelTest, EventsHaveNumbers) {
  EventChannel channel;
  channel.Publish("progress", {{"done", 1}});
  channel.Publish("end", "a\nb");
  const EventChannel::Piece piece = channel.ReadAfter(0, kAll);
  EXPECT_EQ(piece.text,
            "id: 1\nevent: progress\ndata: {\"done\":1}\n\n"
            "id: 2\nevent: end\ndata: \"a\\nb\"\n\n");
  EXPECT_EQ(piece.last_id, 2u);
  EXPECT_FALSE(piece.has_gap);
  EXPECT_FALSE(piece.has_ended);
}

TEST(EventChannelTest, GoesOnWhereAClientStopped) {
  EventChannel channel;
  for (int i = 1; i <= 3; ++i) channel.Publish("n", i);
  EXPECT_EQ(channel.ReadAfter(2, kAll).text, "id: 3\nevent: n\ndata: 3\n\n");
  EXPECT_EQ(channel.ReadAfter(3, kAll).text, "");
  // From before a restart of the server.
  EXPECT_EQ(channel.ReadAfter(4, kAll).last_id, 3u);
  EXPECT_EQ(channel.ReadAfter(4, kAll).text.substr(0, 5), "id: 1");
}

TEST(EventChannelTest, APieceEndsBehindTheEventThatFillsIt) {
  EventChannel channel;
  for (int i = 1; i <= 3; ++i) channel.Publish("n", i);
  EXPECT_EQ(channel.ReadAfter(0, 1).last_id, 1u);
  EXPECT_EQ(channel.ReadAfter(0, 0).last_id, 0u);
}

TEST(EventChannelTest, TheOldestAreForgotten) {
  EventChannel channel(2);
  channel.Publish("n", 1);
  channel.Publish("n", 2);
  EXPECT_FALSE(channel.ReadAfter(0, kAll).has_gap);
  channel.Publish("n", 3);
  EXPECT_TRUE(channel.ReadAfter(0, kAll).has_gap);
  EXPECT_FALSE(channel.ReadAfter(1, kAll).has_gap);
  EXPECT_EQ(channel.ReadAfter(0, 1).last_id, 2u);
}

TEST(EventChannelTest, KeepsNoMoreBytesThanItMay) {
  EventChannel channel;
  const std::string large(EventChannel::kPastBytesMax / 2 + 1, 'x');
  channel.Publish("n", large);
  channel.Publish("n", large);
  EXPECT_EQ(channel.ReadAfter(0, 1).last_id, 2u);  // The first is gone.
  channel.Publish("n", std::string(2 * EventChannel::kPastBytesMax, 'x'));
  EXPECT_EQ(channel.ReadAfter(0, 1).last_id, 3u);  // The newest stays, whatever its size.
}

TEST(EventChannelTest, EndsOnceAllIsRead) {
  EventChannel channel;
  channel.Publish("n", 1);
  channel.Close();
  channel.Close();
  channel.Publish("n", 2);
  EXPECT_FALSE(channel.ReadAfter(0, 0).has_ended);
  EXPECT_TRUE(channel.ReadAfter(0, kAll).has_ended);
  EXPECT_EQ(channel.ReadAfter(0, kAll).last_id, 1u);
  EXPECT_TRUE(channel.ReadAfter(1, 0).has_ended);
}

TEST(EventChannelTest, SubscribersHearOfEventsAndOfTheEnd) {
  EventChannel channel;
  int heard = 0;
  // Reading inside the call shows that no lock is held.
  const auto subscription = channel.Subscribe([&] {
    ++heard;
    channel.ReadAfter(0, kAll);
  });
  channel.Publish("n", 1);
  channel.Close();
  EXPECT_EQ(heard, 2);
  channel.Unsubscribe(*subscription);
  EXPECT_EQ(channel.subscriber_count(), 0u);
}

TEST(EventChannelTest, SubscribersAreBounded) {
  EventChannel channel;
  std::optional<uint64_t> last;
  for (size_t i = 0; i < EventChannel::kSubscribersMax; ++i) last = channel.Subscribe([] {});
  EXPECT_TRUE(last);
  EXPECT_FALSE(channel.Subscribe([] {}));
  channel.Unsubscribe(*last);
  EXPECT_TRUE(channel.Subscribe([] {}));
}

TEST(EventChannelTest, ManyThreadsAtOnce) {
  EventChannel channel;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto subscription = channel.Subscribe([] {});
      for (int n = 0; n < 100; ++n) channel.Publish("n", n);
      channel.Unsubscribe(*subscription);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(channel.ReadAfter(399, kAll).last_id, 400u);
}

}  // namespace
}  // namespace hearth::kit
