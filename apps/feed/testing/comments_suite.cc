// Comments and replies.
#include <gmock/gmock.h>

#include "apps/feed/api/comments_api.h"
#include "apps/feed/testing/feed_test.h"

namespace hearth::feed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string CommentsPath(PostId post, std::optional<CommentId> comment = std::nullopt) {
  const std::string path = "/posts/" + ToText(post) + "/comments";
  return comment ? path + "/" + ToText(*comment) : path;
}

nlohmann::json ReplyTo(int64_t parent) { return {{"text", "a reply"}, {"parent_id", parent}}; }

TEST_P(FeedTest, CommentsAreListedOldestFirst) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  const nlohmann::json first =
      Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "First!"}}), 201);
  const nlohmann::json expected = {{"id", 1},
                                   {"post_id", post},
                                   {"user_id", alice.id},
                                   {"username", "alice"},
                                   {"text", "First!"},
                                   {"parent_id", nullptr},
                                   {"created_at", "2025-11-29T10:00:00Z"},
                                   {"is_deleted", false}};
  EXPECT_EQ(first, expected);
  const nlohmann::json second =
      Body(SendAs(NewUser("bob"), "POST", CommentsPath(post), ReplyTo(1)), 201);
  EXPECT_EQ(second.at("parent_id"), 1);
  EXPECT_EQ(Get(CommentsPath(post)).at("comments"), nlohmann::json({first, second}));
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 2);
}

TEST_P(FeedTest, CommentsArePagedThroughTies) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  std::vector<CommentId> oldest_first;
  for (size_t i = 0; i < 2 * CommentsApi::kCommentsPerPage + 1; ++i) {
    if (i % 9 == 0) Advance(std::chrono::seconds(1));
    oldest_first.push_back(
        Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}}), 201).at("id"));
  }
  EXPECT_EQ(AllIds<CommentId>(CommentsPath(post), "comments"), oldest_first);
  EXPECT_EQ(Get(CommentsPath(post)).at("comments").size(), CommentsApi::kCommentsPerPage);
}

TEST_P(FeedTest, CommentsHaveOneTo2200Characters) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  std::string longest;
  for (size_t i = 0; i < CommentsApi::kTextCharactersMax; ++i) longest += "é";
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", longest}}), 201);
  for (const nlohmann::json& text :
       {nlohmann::json(longest + "x"), nlohmann::json(""), nlohmann::json(" \n\t"),
        nlohmann::json(5), nlohmann::json()}) {
    ExpectError(SendAs(alice, "POST", CommentsPath(post), {{"text", text}}), 400, "invalid_text");
  }
  ExpectError(Send("POST", CommentsPath(post), {.token = alice.token, .body = "text"}), 400,
              "bad_request");
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 1);
}

TEST_P(FeedTest, RepliesAreOneLevelDeep) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}}), 201);
  Body(SendAs(alice, "POST", CommentsPath(post), ReplyTo(1)), 201);
  ExpectError(SendAs(alice, "POST", CommentsPath(post), ReplyTo(2)), 400, "reply_too_deep");
}

TEST_P(FeedTest, RepliesNeedACommentOfTheSamePost) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  const PostId other = NewPost(alice);
  Body(SendAs(alice, "POST", CommentsPath(other), {{"text", "x"}}), 201);
  ExpectError(SendAs(alice, "POST", CommentsPath(post), ReplyTo(1)), 404, "comment_not_found");
  ExpectError(SendAs(alice, "POST", CommentsPath(post), ReplyTo(4'711)), 404, "comment_not_found");
  ExpectError(SendAs(alice, "POST", CommentsPath(post), ReplyTo(-1)), 400, "invalid_comment_id");
  ExpectError(SendAs(alice, "POST", CommentsPath(PostId{4'711}), ReplyTo(1)), 404,
              "post_not_found");
  EXPECT_THAT(Get(CommentsPath(post)).at("comments"), IsEmpty());
}

TEST_P(FeedTest, ADeletedCommentWithoutRepliesIsNotListed) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}}), 201);
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "y"}}), 201);
  EXPECT_EQ(SendAs(alice, "DELETE", CommentsPath(post, CommentId{1})).status, 204);
  EXPECT_THAT(AllIds<CommentId>(CommentsPath(post), "comments"), ElementsAre(CommentId{2}));
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 1);
  ExpectError(SendAs(alice, "DELETE", CommentsPath(post, CommentId{1})), 404, "comment_not_found");
  ExpectError(SendAs(alice, "POST", CommentsPath(post), ReplyTo(1)), 404, "comment_not_found");
}

TEST_P(FeedTest, ADeletedCommentIsListedWithoutItsTextWhileItHasReplies) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}}), 201);
  Body(SendAs(alice, "POST", CommentsPath(post), ReplyTo(1)), 201);
  Body(SendAs(alice, "POST", CommentsPath(post), ReplyTo(1)), 201);
  EXPECT_EQ(SendAs(alice, "DELETE", CommentsPath(post, CommentId{1})).status, 204);
  const nlohmann::json parent = Get(CommentsPath(post)).at("comments")[0];
  EXPECT_EQ(parent.at("id"), 1);
  EXPECT_EQ(parent.at("is_deleted"), true);
  EXPECT_EQ(parent.at("text"), "");
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 2);

  EXPECT_EQ(SendAs(alice, "DELETE", CommentsPath(post, CommentId{2})).status, 204);
  EXPECT_THAT(AllIds<CommentId>(CommentsPath(post), "comments"),
              ElementsAre(CommentId{1}, CommentId{3}));
  EXPECT_EQ(SendAs(alice, "DELETE", CommentsPath(post, CommentId{3})).status, 204);
  EXPECT_THAT(AllIds<CommentId>(CommentsPath(post), "comments"), IsEmpty());
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 0);
}

TEST_P(FeedTest, CommentsAreDeletedByTheirAuthorOrThePostsOwner) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const Account carol = NewUser("carol");
  const PostId post = NewPost(alice);
  Body(SendAs(bob, "POST", CommentsPath(post), {{"text", "x"}}), 201);
  Body(SendAs(bob, "POST", CommentsPath(post), {{"text", "y"}}), 201);
  ExpectError(SendAs(carol, "DELETE", CommentsPath(post, CommentId{1})), 403, "not_owner");
  EXPECT_EQ(SendAs(bob, "DELETE", CommentsPath(post, CommentId{1})).status, 204);
  EXPECT_EQ(SendAs(alice, "DELETE", CommentsPath(post, CommentId{2})).status, 204);
}

TEST_P(FeedTest, CommentIdsArePositiveNumbers) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  for (const char* id : {"-1", "0", "one"}) {
    ExpectError(SendAs(alice, "DELETE", CommentsPath(post) + "/" + id), 400, "invalid_comment_id");
  }
  ExpectError(SendAs(alice, "DELETE", CommentsPath(PostId{4'711}, CommentId{1})), 404,
              "post_not_found");
}

TEST_P(FeedTest, RacingDeletionsOfACommentCountOnce) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  Body(SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}}), 201);
  EXPECT_EQ(
      AtOnce(4, [&](int) { return SendAs(alice, "DELETE", CommentsPath(post, CommentId{1})); }),
      (std::map<int, int>{{204, 1}, {404, 3}}));
  EXPECT_EQ(Get("/posts/" + ToText(post)).at("comment_count"), 0);
}

TEST_P(FeedTest, CommentsAtOnceHaveIdsOfTheirOwn) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  const auto comment = [&](int) {
    return SendAs(alice, "POST", CommentsPath(post), {{"text", "x"}});
  };
  EXPECT_EQ(AtOnce(4, comment), (std::map<int, int>{{201, 4}}));
  EXPECT_THAT(AllIds<CommentId>(CommentsPath(post), "comments"),
              ElementsAre(CommentId{1}, CommentId{2}, CommentId{3}, CommentId{4}));
}

TEST_P(FeedTest, CommentingIsLimitedByUser) {
  const Account alice = NewUser("alice");
  const std::string path = "/posts/" + ToText(NewPost(alice)) + "/comments";
  ExpectError(SendAs(alice, "POST", path, {{"text", "x"}, {"parent_id", 99}}), 404,
              "comment_not_found");  // Does not count.
  for (size_t i = 0; i < kLimits.comments_per_hour; ++i) {
    Body(SendAs(alice, "POST", path, {{"text", "x"}}), 201);
  }
  const kit::Response limited = SendAs(alice, "POST", path, {{"text", "x"}});
  ExpectError(limited, 429, "too_many_requests");
  EXPECT_NE(limited.body.find("try again in 60 minutes"), std::string::npos) << limited.body;
  Body(SendAs(NewUser("bob"), "POST", path, {{"text", "x"}}), 201);
}

}  // namespace
}  // namespace hearth::feed
