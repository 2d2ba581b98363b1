#include "apps/sandbox/photos_posts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "apps/sandbox/testing/now.h"

namespace hearth::sandbox {
namespace {

constexpr uint64_t kSeed = 1;
constexpr size_t kAll = 10'000;

class PhotosPostsTest : public testing::Test {
 protected:
  const PhotosPosts posts_{kSeed};
};

TEST_F(PhotosPostsTest, PeopleFollowEachOtherAndNotThemselves) {
  const nlohmann::json accounts = posts_.Accounts();
  EXPECT_EQ(accounts.size(), 14u);
  std::set<std::string> names;
  for (const nlohmann::json& account : accounts) names.insert(account["username"]);
  EXPECT_EQ(names.size(), accounts.size());
  for (const nlohmann::json& account : accounts) {
    EXPECT_THAT(account["username"].get<std::string>(), testing::MatchesRegex("[a-z0-9._]{3,30}"));
    EXPECT_NE(account["display_name"], "");
    EXPECT_NE(account["bio"], "");
    std::set<std::string> followed;
    for (const std::string name : account["follows"]) {
      EXPECT_NE(name, account["username"]);
      EXPECT_TRUE(names.contains(name));
      EXPECT_TRUE(followed.insert(name).second);
    }
    EXPECT_GE(followed.size(), 5u);
  }
}

TEST_F(PhotosPostsTest, ThreeDaysOfPostsInOrder) {
  for (int64_t now = kNow; now < kNow + 24 * 3'600; now += 5 * 3'600) {
    const nlohmann::json posts = posts_.Posts(0, kAll, now);
    EXPECT_GT(posts.size(), 40u);
    EXPECT_LT(posts.size(), 90u);
    int64_t number = 0;
    int64_t time = now - PhotosPosts::kListedSecondsMax - 1;
    for (const nlohmann::json& post : posts) {
      EXPECT_GT(post["number"], number);
      EXPECT_GT(post["time"], time);
      number = post["number"];
      time = post["time"];
      EXPECT_LE(time, now);
    }
    EXPECT_LT(posts[0]["time"], now - 24 * 3'600);
  }
}

TEST_F(PhotosPostsTest, ANewPostComesInEverySlotAndDenotesTheSameForEver) {
  const nlohmann::json before = posts_.Posts(0, kAll, kNow);
  const int64_t newest = before.back()["number"];
  const nlohmann::json after = posts_.Posts(newest, kAll, kNow + 40 * 60);
  EXPECT_EQ(after.size(), 10u);
  std::map<int64_t, nlohmann::json> known;
  for (const nlohmann::json& post : before) known[post["number"]] = post;
  for (const nlohmann::json& post : posts_.Posts(0, kAll, kNow + 40 * 60)) {
    const auto found = known.find(post["number"]);
    if (found == known.end()) continue;
    EXPECT_EQ(found->second, post);
  }
  EXPECT_EQ(PhotosPosts(kSeed).Posts(0, kAll, kNow), before);
  EXPECT_NE(PhotosPosts(kSeed + 1).Posts(0, kAll, kNow), before);
}

TEST_F(PhotosPostsTest, PagesGoOnWhereTheLastOneEnded) {
  const nlohmann::json all = posts_.Posts(0, kAll, kNow);
  nlohmann::json pages = nlohmann::json::array();
  int64_t after = 0;
  while (true) {
    const nlohmann::json page = posts_.Posts(after, 7, kNow);
    EXPECT_LE(page.size(), 7u);
    if (page.empty()) break;
    for (const nlohmann::json& post : page) pages.push_back(post);
    after = page.back()["number"];
  }
  EXPECT_EQ(pages, all);
  EXPECT_TRUE(posts_.Posts(INT64_MAX, 7, kNow).empty());
  EXPECT_TRUE(posts_.Posts(0, 0, kNow).empty());
}

TEST_F(PhotosPostsTest, SomePostsAreSeriesAndOthersAreTalkedAbout) {
  size_t series = 0;
  size_t comments = 0;
  size_t likes = 0;
  std::set<std::string> authors;
  size_t posts = 0;
  for (int64_t now = kNow; now < kNow + 40 * 24 * 3'600; now += PhotosPosts::kListedSecondsMax) {
    for (const nlohmann::json& post : posts_.Posts(0, kAll, now)) {
      ++posts;
      authors.insert(post["username"]);
      EXPECT_GE(post["pictures"].size(), 1u);
      EXPECT_LE(post["pictures"].size(), PhotosPosts::kPicturesMax);
      if (post["pictures"].size() > 1) ++series;
      likes += post["likes"].size();
      comments += post["comments"].size();
      for (const nlohmann::json& name : post["likes"]) EXPECT_NE(name, post["username"]);
      for (const nlohmann::json& comment : post["comments"]) {
        EXPECT_NE(comment["username"], post["username"]);
        EXPECT_NE(comment["text"], "");
      }
    }
  }
  EXPECT_EQ(authors.size(), 14u);
  EXPECT_GT(series, posts / 10);
  EXPECT_LT(series, posts / 5);
  EXPECT_GT(likes, 4 * posts);
  EXPECT_GT(comments, posts);
}

TEST_F(PhotosPostsTest, EveryPictureOfAPostIsThereAndNoOther) {
  const nlohmann::json posts = posts_.Posts(0, kAll, kNow);
  for (const nlohmann::json& post : posts) {
    if (post["pictures"].size() == 1) continue;
    const int64_t number = post["number"];
    const std::optional<kit::Image> first = posts_.Picture(number, 0, kNow);
    const std::optional<kit::Image> second = posts_.Picture(number, 1, kNow);
    ASSERT_TRUE(first && second);
    EXPECT_NE(first->pixels, second->pixels);
    EXPECT_EQ(posts_.Picture(number, 0, kNow)->pixels, first->pixels);
    EXPECT_FALSE(posts_.Picture(number, post["pictures"].size(), kNow));
    break;
  }
  EXPECT_FALSE(posts_.Picture(kNow / PhotosPosts::kSlotSeconds + 1, 0, kNow));
  EXPECT_FALSE(posts_.Picture(-1, 0, kNow));
}

TEST(PaintSceneTest, EverySceneFillsOneOfTheUsualSizes) {
  for (int scene = 0; scene < kScenes; ++scene) {
    const kit::Image image = PaintScene(static_cast<Scene>(scene), 7);
    EXPECT_THAT(
        (std::pair(image.width, image.height)),
        testing::AnyOf(std::pair(1080, 1080), std::pair(1080, 1350), std::pair(1350, 1080)));
    ASSERT_EQ(image.pixels.size(),
              4 * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    EXPECT_GT(std::set(image.pixels.begin(), image.pixels.end()).size(), 50u);
  }
}

}  // namespace
}  // namespace hearth::sandbox
