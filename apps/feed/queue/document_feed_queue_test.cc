#include "apps/feed/queue/document_feed_queue.h"

#include <gtest/gtest.h>

#include <set>

#include "apps/feed/testing/feed_queue_contract.h"
#include "base/check.h"
#include "base/testing/fake_clock.h"
#include "client/embedded/testing/embedded_database.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

class DocumentQueueFixture final : public FeedQueueFixture {
 public:
  FeedQueue& queue() override { return queue_; }
  FeedQueue& other() override { return other_; }
  void PassIdleTime() override { clock_.Advance(FeedQueue::kIdleMax); }
  void PassAlmostIdleTime() override {
    clock_.Advance(FeedQueue::kIdleMax - std::chrono::milliseconds(1));
  }
  void PublishNonsense() override {
    CHECK(collections_.events()
              .Add({{"kind", "lunch"},
                    {"available_at", client::Timestamp::FromMicros(clock_.WallMicros())}})
              .ok());
  }

 private:
  const storage::TemporaryFolder folder_;
  FakeClock clock_{1'764'410'400'000'000};
  const Collections collections_{client::OpenTestDatabase(folder_.path()), "ci"};
  DocumentFeedQueue queue_{clock_, collections_};
  DocumentFeedQueue other_{clock_, collections_};
};

std::unique_ptr<FeedQueueFixture> MakeFixture() { return std::make_unique<DocumentQueueFixture>(); }

// An event whose publisher's clock is behind by more than the allowed skew.
TEST(DocumentFeedQueueTest, AnEventFromThePastIsFoundWithinAMinute) {
  const storage::TemporaryFolder folder;
  FakeClock clock(1'764'410'400'000'000);
  FakeClock slow_clock(clock.WallMicros() - 3'600'000'000);
  const Collections collections(client::OpenTestDatabase(folder.path()), "ci");
  DocumentFeedQueue queue(clock, collections);
  DocumentFeedQueue slow(slow_clock, collections);
  const FeedEvent event{.kind = FeedEvent::Kind::kPostDeleted, .author_id = UserId{7}};
  EXPECT_TRUE(queue.Take(std::chrono::milliseconds(0))->empty());
  ASSERT_TRUE(slow.Publish(event).ok());
  EXPECT_TRUE(queue.Take(std::chrono::milliseconds(0))->empty()) << "it looks ahead only";
  clock.Advance(DocumentFeedQueue::kEverythingEvery);
  const auto deliveries = queue.Take(std::chrono::milliseconds(0));
  ASSERT_EQ(deliveries->size(), 1u);
  EXPECT_EQ(deliveries->front().event, event);
}

// More than one read returns, with the first ones already taken.
TEST(DocumentFeedQueueTest, EventsBehindManyThatAreTakenAreFound) {
  const storage::TemporaryFolder folder;
  FakeClock clock(1'764'410'400'000'000);
  const Collections collections(client::OpenTestDatabase(folder.path()), "ci");
  DocumentFeedQueue queue(clock, collections);
  constexpr int64_t kEvents = 3 * DocumentFeedQueue::kEventsPerRead;
  for (int64_t i = 0; i < kEvents; ++i) {
    ASSERT_TRUE(
        queue.Publish({.kind = FeedEvent::Kind::kPostDeleted, .author_id = UserId{i}}).ok());
    clock.Advance(std::chrono::milliseconds(1));
  }
  std::set<UserId> taken;
  for (size_t batch = 0; batch < kEvents / FeedQueue::kBatchMax; ++batch) {
    const auto deliveries = queue.Take(std::chrono::milliseconds(0));
    ASSERT_TRUE(deliveries.ok()) << deliveries.status().ToString();
    for (const FeedQueue::Delivery& delivery : *deliveries) {
      taken.insert(delivery.event.author_id);
    }
  }
  EXPECT_EQ(taken.size(), static_cast<size_t>(kEvents));
  EXPECT_TRUE(queue.Take(std::chrono::milliseconds(0))->empty());
}

INSTANTIATE_TEST_SUITE_P(Documents, FeedQueueContract, testing::Values(&MakeFixture));

}  // namespace
}  // namespace hearth::feed
