// The pictures of deleted posts.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>

#include "apps/feed/media/media_store.h"
#include "apps/feed/media/picture_removal.h"
#include "apps/feed/testing/feed_test.h"

namespace hearth::feed {
namespace {

const std::atomic<bool> kNotStopping = false;

std::string UrlOf(const nlohmann::json& post, size_t position = 0) {
  return "/" + post.at("media").at(position).at("url").get<std::string>();
}
std::string PathOf(const nlohmann::json& post) {
  return "/posts/" + std::to_string(post.at("id").get<int64_t>());
}
PostId IdOf(const nlohmann::json& post) { return post.at("id").get<PostId>(); }

TEST_P(FeedTest, TheDeletedPostsPicturesAreGone) {
  const Account alice = NewUser("alice");
  const nlohmann::json post =
      Body(Upload(alice, {{"images", "a.jpg", Picture(1)}, {"images", "b.jpg", Picture(2)}}), 201);
  const kit::Response picture = Send("GET", UrlOf(post));
  ASSERT_EQ(picture.status, 200);
  EXPECT_EQ(StoredFiles(), 2u);
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(post)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(post, 0)).status, 404);
  EXPECT_EQ(Send("GET", UrlOf(post, 1)).status, 404);
  EXPECT_EQ(StoredFiles(), 0u);
  EXPECT_EQ(collections_.removals().Get()->size(), 0u);
}

TEST_P(FeedTest, CachesAskWhetherAPictureStillExists) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  const kit::Response picture = Send("GET", UrlOf(post));
  std::string etag;
  for (const auto& [name, value] : picture.headers) {
    if (name == "etag") etag = value;
    if (name == "cache-control") {
      EXPECT_EQ(value, "private, no-cache");
    }
  }
  ASSERT_FALSE(etag.empty());
  const kit::Response known = Send("GET", UrlOf(post), {.if_none_match = etag});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(post)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(post), {.if_none_match = etag}).status, 404);
}

TEST_P(FeedTest, APictureStaysAsLongAsAnotherPostHasIt) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const nlohmann::json first = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  const nlohmann::json second =
      Body(Upload(bob, {{"images", "x.jpg", Picture(7)}, {"images", "b.jpg", Picture(1)}}), 201);
  ASSERT_EQ(UrlOf(first), UrlOf(second, 1));
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(first)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(first)).status, 200);
  EXPECT_EQ(SendAs(bob, "DELETE", PathOf(second)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(first)).status, 404);
  EXPECT_EQ(StoredFiles(), 0u);
}

TEST_P(FeedTest, AnInterruptedRemovalIsCompletedLater) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  // As if the process had died after the commit.
  ASSERT_TRUE(posts_.Delete(IdOf(post), alice.id).ok());
  EXPECT_EQ(StoredFiles(), 1u);
  transport_->FailReads(Status(Code::kUnavailable, "nobody there"));
  EXPECT_FALSE(removal_.Run(kNotStopping).ok());
  EXPECT_EQ(StoredFiles(), 1u);
  transport_->FailReads(Status());
  EXPECT_TRUE(removal_.Run(kNotStopping).ok());
  EXPECT_EQ(StoredFiles(), 0u);
  EXPECT_EQ(collections_.removals().Get()->size(), 0u);
}

TEST_P(FeedTest, ADatabaseThatFailsLosesNoPicture) {
  const Account alice = NewUser("alice");
  const nlohmann::json first = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  const nlohmann::json second = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  ASSERT_TRUE(posts_.Delete(IdOf(first), alice.id).ok());
  ASSERT_TRUE(removal_.Run(kNotStopping).ok());
  transport_->FailReads(Status(Code::kUnavailable, "nobody there"));
  EXPECT_EQ(removal_.Finish(IdOf(second)).code(), Code::kUnavailable);
  EXPECT_EQ(StoredFiles(), 1u);
  transport_->FailReads(Status());
  EXPECT_EQ(Send("GET", UrlOf(second)).status, 200);
}

TEST_P(FeedTest, APictureThatIsBeingUploadedAgainStays) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  {
    MediaStore::Upload upload(media_, "bob");
    const Result<Media> media = upload.Add(Picture(1));
    ASSERT_TRUE(media.ok());
    EXPECT_EQ(SendAs(alice, "DELETE", PathOf(post)).status, 204);
    EXPECT_EQ(Send("GET", UrlOf(post)).status, 200);
    ASSERT_TRUE(posts_.Create(alice.id, "alice", "", {*media}).ok());
    upload.Keep();
  }
  EXPECT_EQ(collections_.removals().Get()->size(), 1u);
  EXPECT_TRUE(removal_.Run(kNotStopping).ok());
  EXPECT_EQ(Send("GET", UrlOf(post)).status, 200);
  EXPECT_EQ(collections_.removals().Get()->size(), 0u);
}

TEST_P(FeedTest, ADeletedPostsPictureStaysOnlyWhileAnotherPostIsInDoubt) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  {
    MediaStore::Upload in_doubt(media_, "bob");  // Its commit had no answer.
    ASSERT_TRUE(in_doubt.Add(Picture(1)).ok());
    ASSERT_TRUE(in_doubt.Add(Picture(9)).ok());
    in_doubt.KeepInDoubt();
  }
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(post)).status, 204);
  EXPECT_TRUE(removal_.Run(kNotStopping).ok());
  EXPECT_EQ(Send("GET", UrlOf(post)).status, 200);
  EXPECT_EQ(StoredFiles(), 2u);
  Advance(MediaStore::kDoubtMax);
  EXPECT_TRUE(removal_.Run(kNotStopping).ok());
  EXPECT_EQ(Send("GET", UrlOf(post)).status, 404);
  EXPECT_EQ(StoredFiles(), 0u);
  EXPECT_EQ(collections_.removals().Get()->size(), 0u);
}

TEST_P(FeedTest, APostInDoubtThatExistsKeepsItsPictures) {
  const Account alice = NewUser("alice");
  Media media;
  {
    MediaStore::Upload in_doubt(media_, "alice");
    media = *in_doubt.Add(Picture(1));
    ASSERT_TRUE(posts_.Create(alice.id, "alice", "", {media}).ok());
    in_doubt.KeepInDoubt();
  }
  Advance(MediaStore::kDoubtMax);
  EXPECT_TRUE(removal_.Run(kNotStopping).ok());
  EXPECT_TRUE(media_.Has(media.file));
}

TEST_P(FeedTest, APostThatTheDatabaseRefusesLeavesNothingBehind) {
  const Account alice = NewUser("alice");
  transport_->FailCommits(Status(Code::kFailedPrecondition, "no"));
  EXPECT_EQ(Upload(alice, {{"images", "a.jpg", Picture(1)}}).status, 500);
  EXPECT_EQ(StoredFiles(), 0u);
}

TEST_P(FeedTest, PostsOfAnEarlierVersionKeepTheirPictures) {
  const Account alice = NewUser("alice");
  const nlohmann::json first = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  const nlohmann::json second = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  for (const nlohmann::json& post : {first, second}) {
    ASSERT_TRUE(
        collections_.post(IdOf(post)).Update({{kFilesField, client::FieldValue::Delete()}}).ok());
  }
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(first)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(second)).status, 200);
  EXPECT_EQ(SendAs(alice, "DELETE", PathOf(second)).status, 204);
  EXPECT_EQ(Send("GET", UrlOf(second)).status, 404);
}

TEST_P(FeedTest, FilesThatNoPostNeedsAreSwept) {
  namespace fs = std::filesystem;
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  for (const uint8_t shade : {uint8_t{50}, uint8_t{150}}) {  // Uploads whose post failed.
    MediaStore::Upload upload(media_, "alice");
    ASSERT_TRUE(upload.Add(Picture(shade)).ok());
    upload.Keep();
  }
  const auto sweep = [&] {
    for (size_t folder = 0; folder < MediaStore::kFolders; ++folder) {
      EXPECT_TRUE(removal_.Sweep(folder, kNotStopping).ok());
    }
  };
  sweep();
  EXPECT_EQ(StoredFiles(), 3u);  // A post might be about to use them.
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    fs::last_write_time(entry, entry.last_write_time() - 2 * PictureRemoval::kUnusedAge);
  }
  MediaStore::Upload again(media_, "bob");
  ASSERT_TRUE(again.Add(Picture(50)).ok());
  sweep();
  EXPECT_EQ(StoredFiles(), 2u);
  EXPECT_EQ(Send("GET", UrlOf(post)).status, 200);
}

}  // namespace
}  // namespace hearth::feed
