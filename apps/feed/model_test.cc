// Random doings on feeds with the cache in this process.
#include "apps/feed/testing/model_test.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "apps/feed/document_feed_queue.h"
#include "apps/feed/memory_feed_cache.h"
#include "client/embedded.h"
#include "storage/temporary_folder.h"

namespace hearth::feed {
namespace {

ModelBackend InProcess() {
  return {.name = "in process",
          .make =
              [](const Clock& clock, RandomSource& random, kit::Metrics& metrics,
                 const Collections& collections) {
                return FeedCore::Parts{
                    .clock = clock,
                    .random = random,
                    .metrics = metrics,
                    .collections = collections,
                    .cache = std::make_unique<MemoryFeedCache>(clock, random),
                    .queue = std::make_unique<DocumentFeedQueue>(clock, collections)};
              },
          .harms = {[](std::mt19937_64& chance, FeedCore& core, const std::vector<int64_t>& users) {
            ASSERT_TRUE(core.cache().Drop(users[chance() % users.size()]).ok());
          }}};
}

class FeedModelTest : public testing::TestWithParam<uint64_t> {};

TEST_P(FeedModelTest, EveryPageIsWhatThePlainOracleSays) {
  const storage::TemporaryFolder folder;
  const Result<client::Firestore> database =
      client::OpenEmbedded({.data_path = folder.path(), .cache_mib = 8});
  ASSERT_TRUE(database.ok()) << database.status().ToString();
  FeedModel model({.seed = GetParam()}, InProcess(), *database);
  model.Run();
  for (const char* path : {"hit", "exhausted", "cold", "nobody"}) {
    EXPECT_GT(model.PagesBy(path), 0u) << path << " was never taken";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FeedModelTest, testing::Range<uint64_t>(1, 6));

}  // namespace
}  // namespace hearth::feed
