#include "apps/feed/document_feed_queue.h"

#include <gtest/gtest.h>

#include "apps/feed/testing/feed_queue_contract.h"
#include "base/check.h"
#include "base/fake_clock.h"
#include "client/embedded.h"
#include "storage/temporary_folder.h"

namespace hearth::feed {
namespace {

client::Firestore Open(const std::string& path) {
  Result<client::Firestore> database = client::OpenEmbedded({.data_path = path, .cache_mib = 8});
  CHECK(database.ok());
  return *std::move(database);
}

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
  const Collections collections_{Open(folder_.path()), "ci"};
  DocumentFeedQueue queue_{clock_, collections_};
  DocumentFeedQueue other_{clock_, collections_};
};

std::unique_ptr<FeedQueueFixture> MakeFixture() { return std::make_unique<DocumentQueueFixture>(); }

INSTANTIATE_TEST_SUITE_P(Documents, FeedQueueContract, testing::Values(&MakeFixture));

}  // namespace
}  // namespace hearth::feed
