// Posts, pictures, likes, and the home feed's endpoint.
#include <gmock/gmock.h>

#include "apps/feed/api/api_support.h"
#include "apps/feed/api/posts_api.h"
#include "apps/feed/media/media_store.h"
#include "apps/feed/testing/feed_test.h"
#include "kit/images/images.h"

namespace hearth::feed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string PostPath(PostId id, const std::string& rest = "") {
  return "/posts/" + ToText(id) + rest;
}

TEST_P(FeedTest, APostHasItsPicturesInOrder) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(Upload(alice, {{"images", "b.jpg", Picture(200)},
                                                  {"caption", "", "Two of them, ünïcode"},
                                                  {"images", "a.jpg", Picture(100)}}),
                                   201);
  EXPECT_EQ(post.at("id"), 1);
  EXPECT_EQ(post.at("user_id"), alice.id);
  EXPECT_EQ(post.at("username"), "alice");
  EXPECT_EQ(post.at("caption"), "Two of them, ünïcode");
  EXPECT_EQ(post.at("created_at"), "2025-11-29T10:00:00Z");
  EXPECT_EQ(post.at("like_count"), 0);
  EXPECT_EQ(post.at("comment_count"), 0);
  EXPECT_EQ(post.at("has_liked"), false);
  ASSERT_EQ(post.at("media").size(), 2u);
  const nlohmann::json& first = post.at("media")[0];
  EXPECT_EQ(first.at("position"), 0);
  EXPECT_EQ(first.at("width"), 4);
  EXPECT_EQ(first.at("height"), 6);
  const kit::Response picture = Send("GET", "/" + first.at("url").get<std::string>());
  EXPECT_EQ(picture.status, 200);
  EXPECT_TRUE(kit::DecodeImage(picture.body, {}).ok());
  EXPECT_NE(first.at("url"), post.at("media")[1].at("url"));
  EXPECT_EQ(Send("GET", "/" + first.at("thumbnail_url").get<std::string>()).status, 200);
  EXPECT_EQ(picture.content_type, "image/webp");
  EXPECT_EQ(Get(PostPath(PostId{1})), post);
  EXPECT_EQ(GetAs(alice, "/me").at("post_count"), 1);
  EXPECT_EQ(Published(), (std::vector<FeedEvent>{{.kind = FeedEvent::Kind::kPostCreated,
                                                  .author_id = alice.id,
                                                  .post = {kStartSeconds, PostId{1}}}}));
}

TEST_P(FeedTest, AnyPartWithAFileNameIsAnImage) {
  const Account alice = NewUser("alice");
  const nlohmann::json post = Body(
      Upload(alice, {{"file0", "a.jpg", Picture(1)}, {"images", "", Picture(2)}, {"x", "", "y"}}),
      201);
  EXPECT_EQ(post.at("media").size(), 2u);
  EXPECT_EQ(post.at("caption"), "");
}

TEST_P(FeedTest, ThereIsNoPictureByOtherNames) {
  for (const char* file : {"nothing.webp", "..%2F..%2Fsecret", "%00"}) {
    EXPECT_EQ(Send("GET", std::string("/media/") + file).status, 404) << file;
  }
}

TEST_P(FeedTest, APostHasOneToTenImages) {
  const Account alice = NewUser("alice");
  ExpectError(Upload(alice, {{"caption", "", "No picture"}}), 400, "no_images");
  ExpectError(Upload(alice, {{"images", "", ""}}), 400, "no_images");
  std::vector<Part> parts(PostsApi::kImagesMax, {"images", "a.jpg", Picture(1)});
  EXPECT_EQ(Body(Upload(alice, parts), 201).at("media").size(), PostsApi::kImagesMax);
  parts.push_back(parts.front());
  ExpectError(Upload(alice, parts), 400, "too_many_images");
}

TEST_P(FeedTest, AnImageHasAtMostFiveMegabytes) {
  const Account alice = NewUser("alice");
  const std::string image(MediaStore::kImageBytesMax, 'x');
  ExpectError(Upload(alice, {{"images", "a.jpg", image}}), 400, "invalid_image");
  ExpectError(Upload(alice, {{"images", "a.jpg", image + "x"}}), 413, "image_too_large");
}

TEST_P(FeedTest, NothingIsKeptOfAPostThatIsRefused) {
  const Account alice = NewUser("alice");
  Body(Upload(alice, {{"images", "a.jpg", Picture(1)}}), 201);
  const size_t stored = StoredFiles();
  const kit::Response refused = Upload(alice, {{"images", "a.jpg", Picture(1)},
                                               {"images", "b.jpg", Picture(2)},
                                               {"images", "c.jpg", "<html>"}});
  ExpectError(refused, 400, "invalid_image");
  EXPECT_NE(refused.body.find("Image 3: "), std::string::npos) << refused.body;
  EXPECT_EQ(StoredFiles(), stored);
  EXPECT_EQ(GetAs(alice, "/me").at("post_count"), 1);
  EXPECT_EQ(Published().size(), 1u);
}

TEST_P(FeedTest, AllImagesThatAreWrongAreNamed) {
  const Account alice = NewUser("alice");
  const auto positions = [&](const std::string& wrong, int status) {
    const nlohmann::json error = Body(Upload(alice, {{"images", "a.jpg", wrong},
                                                     {"images", "b.jpg", Picture(1)},
                                                     {"images", "c.jpg", wrong}}),
                                      status)
                                     .at("error");
    std::vector<size_t> found;
    for (const nlohmann::json& image : error.at("images")) {
      EXPECT_FALSE(image.at("message").get<std::string>().empty());
      found.push_back(image.at("position"));
    }
    const std::string message = error.at("message");
    EXPECT_TRUE(message.starts_with("Image 1: ")) << message;
    EXPECT_NE(message.find("; image 3: "), std::string::npos) << message;
    return found;
  };
  EXPECT_EQ(positions("<html>", 400), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(positions(std::string(MediaStore::kImageBytesMax + 1, 'x'), 413),
            (std::vector<size_t>{0, 2}));
}

TEST_P(FeedTest, CaptionsHaveAtMost2200Characters) {
  const Account alice = NewUser("alice");
  std::string longest;
  for (size_t i = 0; i < PostsApi::kCaptionCharactersMax; ++i) longest += "é";
  const Part image = {"images", "a.jpg", Picture(1)};
  const PostId id = Body(Upload(alice, {image, {"caption", "", longest}}), 201).at("id");
  ExpectError(Upload(alice, {image, {"caption", "", longest + "x"}}), 400, "caption_too_long");
  ExpectError(Upload(alice, {image, {"caption", "", "\xFF"}}), 400, "invalid_caption");
  // Line breaks as browsers send them.
  std::string lines;
  for (size_t i = 0; i < PostsApi::kCaptionCharactersMax; ++i) lines += "\r\n";
  EXPECT_EQ(Body(Upload(alice, {image, {"caption", "", lines}}), 201).at("caption"),
            std::string(PostsApi::kCaptionCharactersMax, '\n'));
  EXPECT_EQ(Body(Upload(alice, {image, {"caption", "", "a\rb\r\n\r"}}), 201).at("caption"),
            "a\rb\n\r");
  EXPECT_EQ(SendAs(alice, "PATCH", PostPath(id), {{"caption", longest}}).status, 200);
  ExpectError(SendAs(alice, "PATCH", PostPath(id), {{"caption", longest + "x"}}), 400,
              "caption_too_long");
}

TEST_P(FeedTest, PostingIsLimitedByUser) {
  const Account alice = NewUser("alice");
  const std::vector<Part> parts = {{"images", "a.jpg", Picture(1)}};
  for (size_t i = 1; i < kLimits.posts_per_hour; ++i) Body(Upload(alice, parts), 201);
  ExpectError(Upload(alice, {{"caption", "", "not even a picture"}}), 400, "no_images");
  Body(Upload(alice, {{"images", "a.jpg", "no picture"}}), 400);  // Counts: it had to be decoded.
  const kit::Response limited = Upload(alice, parts);
  ExpectError(limited, 429, "too_many_requests");
  EXPECT_THAT(limited.headers, testing::Contains(testing::Pair("retry-after", "3600")));
  Body(Upload(NewUser("bob"), parts), 201);
  clock_.Advance(PostsApi::kPostsWindow);
  const Account later = {.id = alice.id, .token = tokens_.SignAccess(alice.id)};
  Body(Upload(later, parts), 201);
}

TEST_P(FeedTest, APostIsAForm) {
  const Account alice = NewUser("alice");
  ExpectError(SendAs(alice, "POST", "/posts", {{"caption", "x"}}), 415, "unsupported_media");
  ExpectError(Send("POST", "/posts",
                   {.token = alice.token, .body = "x", .content_type = "multipart/form-data"}),
              400, "bad_request");
}

TEST_P(FeedTest, PostsAtOnceHaveIdsWithoutGapsInTheOrderOfTheirTimes) {
  constexpr int kPosts = 4;
  const Account alice = NewUser("alice");
  AtOnce(kPosts, [&](int) {
    Advance(std::chrono::seconds(1));
    NewPost(alice);
    return kit::Response();
  });
  const std::vector<Post> posts = *posts_.ListAfter(PostId{}, 100);
  ASSERT_EQ(posts.size(), static_cast<size_t>(kPosts));
  for (size_t i = 0; i < posts.size(); ++i) {
    EXPECT_EQ(posts[i].key.id, PostId{static_cast<int64_t>(i) + 1});
    if (i > 0) {
      EXPECT_GE(posts[i].key.created_seconds, posts[i - 1].key.created_seconds);
    }
  }
  EXPECT_EQ(*posts_.Newest(), posts.back().key);
  EXPECT_EQ(GetAs(alice, "/me").at("post_count"), kPosts);
}

TEST_P(FeedTest, TimesOfPostsNeverGoBack) {
  const Account alice = NewUser("alice");
  EXPECT_EQ(*posts_.Newest(), PostKey());
  const Post first = *posts_.Create(alice.id, "alice", "", {}, kStartSeconds - 1'000);
  EXPECT_EQ(first.key.created_seconds, kStartSeconds - 1'000);
  EXPECT_EQ(posts_.Create(alice.id, "alice", "", {})->key.created_seconds, kStartSeconds);
  clock_.SetWall((kStartSeconds - 500) * 1'000'000);
  EXPECT_EQ(posts_.Create(alice.id, "alice", "", {})->key.created_seconds, kStartSeconds);
}

TEST_P(FeedTest, OnlyItsOwnerEditsOrDeletesAPost) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const PostId id = NewPost(alice, "mine");
  ExpectError(SendAs(bob, "PATCH", PostPath(id), {{"caption", "x"}}), 403, "not_owner");
  ExpectError(SendAs(bob, "DELETE", PostPath(id)), 403, "not_owner");
  EXPECT_EQ(Get(PostPath(id)).at("caption"), "mine");
  EXPECT_EQ(Body(SendAs(alice, "PATCH", PostPath(id), {{"caption", "new"}})).at("caption"), "new");
  EXPECT_EQ(Get(PostPath(id)).at("caption"), "new");
  ExpectError(SendAs(alice, "PATCH", PostPath(id), {{"text", "x"}}), 400, "bad_request");
  EXPECT_THAT(Published(), IsEmpty());
}

TEST_P(FeedTest, ADeletedPostIsGoneEverywhere) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const PostId first = NewPost(alice);
  const PostId second = NewPost(alice);
  EXPECT_EQ(SendAs(alice, "DELETE", PostPath(first)).status, 204);
  ExpectError(Send("GET", PostPath(first)), 404, "post_not_found");
  ExpectError(SendAs(alice, "DELETE", PostPath(first)), 404, "post_not_found");
  ExpectError(SendAs(alice, "PATCH", PostPath(first), {{"caption", "x"}}), 404, "post_not_found");
  ExpectError(SendAs(bob, "POST", PostPath(first, "/like")), 404, "post_not_found");
  ExpectError(SendAs(bob, "DELETE", PostPath(first, "/like")), 404, "post_not_found");
  ExpectError(Send("GET", PostPath(first, "/comments")), 404, "post_not_found");
  ExpectError(SendAs(bob, "POST", PostPath(first, "/comments"), {{"text", "x"}}), 404,
              "post_not_found");
  EXPECT_THAT(AllIds<PostId>("/users/feed?userid=" + ToText(alice.id), "posts"),
              ElementsAre(second));
  EXPECT_EQ(GetAs(alice, "/me").at("post_count"), 1);
  EXPECT_EQ(posts_.GetAll({second, first, PostId{4'711}})->size(), 1u);
  const std::vector<Post> all = *posts_.ListAfter(PostId{}, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].is_deleted);
  EXPECT_EQ(Published(), (std::vector<FeedEvent>{{.kind = FeedEvent::Kind::kPostDeleted,
                                                  .author_id = alice.id,
                                                  .post = {kStartSeconds, first}}}));
}

TEST_P(FeedTest, RacingDeletionsCountOnce) {
  const Account alice = NewUser("alice");
  const PostId id = NewPost(alice);
  EXPECT_EQ(AtOnce(4, [&](int) { return SendAs(alice, "DELETE", PostPath(id)); }),
            (std::map<int, int>{{204, 1}, {404, 3}}));
  EXPECT_EQ(GetAs(alice, "/me").at("post_count"), 0);
}

TEST_P(FeedTest, PostIdsArePositiveNumbers) {
  const Account alice = NewUser("alice");
  for (const std::string id : {"-1", "0", "01", "one", "9223372036854775808"}) {
    ExpectError(Send("GET", "/posts/" + id), 400, "invalid_post_id");
    ExpectError(SendAs(alice, "PATCH", "/posts/" + id, {{"caption", ""}}), 400, "invalid_post_id");
    ExpectError(SendAs(alice, "DELETE", "/posts/" + id), 400, "invalid_post_id");
    ExpectError(SendAs(alice, "POST", "/posts/" + id + "/like"), 400, "invalid_post_id");
    ExpectError(SendAs(alice, "DELETE", "/posts/" + id + "/like"), 400, "invalid_post_id");
    ExpectError(Send("GET", "/posts/" + id + "/comments"), 400, "invalid_post_id");
  }
  ExpectError(Send("GET", "/posts/9223372036854775807"), 404, "post_not_found");
}

TEST_P(FeedTest, LikesCountAndAreTheViewers) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const PostId id = NewPost(alice);
  ExpectError(SendAs(bob, "DELETE", PostPath(id, "/like")), 404, "not_liked");
  EXPECT_EQ(Body(SendAs(bob, "POST", PostPath(id, "/like")), 201),
            nlohmann::json({{"liked", true}, {"like_count", 1}}));
  ExpectError(SendAs(bob, "POST", PostPath(id, "/like")), 409, "already_liked");
  EXPECT_EQ(GetAs(bob, PostPath(id)).at("has_liked"), true);
  EXPECT_EQ(GetAs(alice, PostPath(id)).at("has_liked"), false);
  EXPECT_EQ(Get(PostPath(id)).at("has_liked"), false);
  EXPECT_EQ(Get(PostPath(id)).at("like_count"), 1);
  EXPECT_EQ(SendAs(bob, "DELETE", PostPath(id, "/like")).status, 204);
  EXPECT_EQ(Get(PostPath(id)).at("like_count"), 0);
  EXPECT_EQ(GetAs(bob, PostPath(id)).at("has_liked"), false);
}

TEST_P(FeedTest, RacingLikesOfOneUserCountOnce) {
  const Account alice = NewUser("alice");
  const PostId id = NewPost(alice);
  EXPECT_EQ(AtOnce(6, [&](int) { return SendAs(alice, "POST", PostPath(id, "/like")); }),
            (std::map<int, int>{{201, 1}, {409, 5}}));
  EXPECT_EQ(Get(PostPath(id)).at("like_count"), 1);
  EXPECT_EQ(AtOnce(6, [&](int) { return SendAs(alice, "DELETE", PostPath(id, "/like")); }),
            (std::map<int, int>{{204, 1}, {404, 5}}));
  EXPECT_EQ(Get(PostPath(id)).at("like_count"), 0);
}

TEST_P(FeedTest, LikesAndCommentsOfManyAtOnceAreAllCounted) {
  constexpr int kUsers = 4;
  std::vector<Account> accounts;
  for (int i = 0; i < kUsers; ++i) accounts.push_back(NewUser("user" + std::to_string(i)));
  const PostId id = NewPost(accounts[0]);
  const auto act = [&](int i) {
    const Account& account = accounts[static_cast<size_t>(i % kUsers)];
    return i < kUsers ? SendAs(account, "POST", PostPath(id, "/like"))
                      : SendAs(account, "POST", PostPath(id, "/comments"), {{"text", "nice"}});
  };
  EXPECT_EQ(AtOnce(2 * kUsers, act), (std::map<int, int>{{201, 2 * kUsers}}));
  EXPECT_EQ(Get(PostPath(id)).at("like_count"), kUsers);
  EXPECT_EQ(Get(PostPath(id)).at("comment_count"), kUsers);
}

TEST_P(FeedTest, ThumbnailsArePagedNewestFirstThroughTies) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  std::vector<PostId> newest_first;
  for (size_t i = 0; i < 2 * kPostsPerPage + 3; ++i) {
    if (i % 9 == 0) Advance(std::chrono::seconds(1));
    newest_first.insert(newest_first.begin(), NewPost(alice));
    NewPost(bob);
  }
  const std::string target = "/users/feed?userid=" + ToText(alice.id);
  EXPECT_EQ(AllIds<PostId>(target, "posts"), newest_first);
  const nlohmann::json page = Get(target);
  EXPECT_EQ(page.at("posts").size(), kPostsPerPage);
  const nlohmann::json expected = {{"id", newest_first[0]}, {"thumbnail_url", "media/a-small.webp"},
                                   {"media_count", 1},      {"like_count", 0},
                                   {"comment_count", 0},    {"created_at", "2025-11-29T10:00:03Z"}};
  EXPECT_EQ(page.at("posts")[0], expected);
  // The cursor's post may be deleted.
  ASSERT_TRUE(posts_.Delete(newest_first[kPostsPerPage - 1], alice.id).ok());
  const std::string cursor = page.at("next_cursor");
  EXPECT_EQ(Get(target + "&cursor=" + cursor).at("posts")[0].at("id"), newest_first[kPostsPerPage]);
}

TEST_P(FeedTest, AFullPageThatIsTheLastSaysSo) {
  const Account alice = NewUser("alice");
  for (size_t i = 0; i < kPostsPerPage; ++i) NewPost(alice);
  const nlohmann::json page = Get("/users/feed?userid=" + ToText(alice.id));
  EXPECT_EQ(page.at("posts").size(), kPostsPerPage);
  EXPECT_EQ(page.at("has_more"), false);
  EXPECT_EQ(page.at("next_cursor"), nullptr);
}

TEST_P(FeedTest, TheHomeFeedSaysWhatTheViewerLikesAndWhereItGoesOn) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  Body(SendAs(bob, "POST", "/users/" + ToText(alice.id) + "/follow"), 201);
  for (size_t i = 0; i <= kPostsPerPage; ++i) NewPost(alice, "post");
  Body(SendAs(bob, "POST", PostPath(PostId{11}, "/like")), 201);
  const nlohmann::json page = GetAs(bob, "/feed");
  ASSERT_EQ(page.at("posts").size(), kPostsPerPage);
  EXPECT_EQ(page.at("posts")[0].at("id"), 11);
  EXPECT_EQ(page.at("posts")[0].at("has_liked"), true);
  EXPECT_EQ(page.at("posts")[1].at("has_liked"), false);
  EXPECT_EQ(page.at("posts")[1].at("caption"), "post");
  EXPECT_EQ(page.at("next_cursor"), "2:" + std::to_string(kStartSeconds));
  EXPECT_EQ(page.at("has_more"), true);
  EXPECT_EQ(AllIds<PostId>("/feed", "posts", bob.token).size(), kPostsPerPage + 1);
}

TEST_P(FeedTest, WhoeverFollowsNobodyHasAnEmptyFeed) {
  const nlohmann::json expected = {
      {"posts", nlohmann::json::array()}, {"next_cursor", nullptr}, {"has_more", false}};
  EXPECT_EQ(GetAs(NewUser("alice"), "/feed"), expected);
}

TEST_P(FeedTest, FailuresAreToldApartAndKeptToOurselves) {
  const Account alice = NewUser("alice");
  transport_->FailReads(Status(Code::kUnavailable, "10.0.0.7 refuses"));
  const kit::Response unavailable = SendAs(alice, "GET", "/feed");
  ExpectError(unavailable, 503, "unavailable");
  EXPECT_EQ(unavailable.body.find("10.0.0.7"), std::string::npos);
  transport_->FailReads(Status(Code::kDataLoss, "no post"));
  ExpectError(SendAs(alice, "GET", "/feed"), 500, "internal");
}

TEST_P(FeedTest, UnknownEndpointsAndMethodsAreErrorsLikeOthers) {
  ExpectError(Send("GET", "/nothing/here"), 404, "not_found");
  ExpectError(Send("PUT", "/posts/1"), 405, "method_not_allowed");
}

TEST_P(FeedTest, HealthIsBadWhenTheDatabaseIs) {
  const auto health = [this](int status) {
    return Body(Send("GET", "/health", {.token = kSecret}), status);
  };
  const nlohmann::json well = {{"status", "ok"},
                               {"database", {{"ok", true}}},
                               {"cache", {{"ok", true}, {"kind", "memory"}}},
                               {"queue", {{"ok", true}, {"waiting", 0}, {"dead", 0}}},
                               {"fan_out", {{"newest_post", 0}}}};
  EXPECT_EQ(health(200), well);
  transport_->FailReads(Status(Code::kUnavailable, "nobody there"));
  nlohmann::json unwell = well;
  unwell["status"] = "unavailable";
  unwell["database"]["ok"] = false;
  unwell["fan_out"] = nlohmann::json::object();
  EXPECT_EQ(health(503), unwell);
}

TEST_P(FeedTest, StrangersSeeOnlyWhetherItIsHealthy) {
  NewPost(NewUser("alice"));
  const nlohmann::json ok = {{"status", "ok"}};
  for (const std::string& token :
       {std::string(), std::string("wrong"), kSecret + std::string("x"), NewUser("bob").token}) {
    EXPECT_EQ(Body(Send("GET", "/health", {.token = token})), ok) << token;
  }
  EXPECT_EQ(Body(Send("GET", "/health", {.token = kSecret})).at("fan_out").at("newest_post"), 1);
}

}  // namespace
}  // namespace hearth::feed
