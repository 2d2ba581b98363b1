// Creations happen once although the answer to their commit is lost and the commit is retried.
#include <gtest/gtest.h>

#include <memory>

#include "apps/feed/stores/comment_store.h"
#include "apps/feed/stores/post_store.h"
#include "apps/feed/stores/user_store.h"
#include "base/testing/fake_clock.h"
#include "client/embedded/testing/embedded_database.h"
#include "client/testing/unanswered_transport.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

class UnansweredTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<User> user = users_.Create({.username = "author"});
    ASSERT_TRUE(user.ok()) << user.status().ToString();
    author_ = *user;
  }

  const storage::TemporaryFolder folder_;
  FakeClock clock_{1'764'410'400'000'000};
  // Shared with the database's handle.
  const std::shared_ptr<client::UnansweredTransport> transport_ =
      std::make_shared<client::UnansweredTransport>(
          client::OpenTestDatabase(folder_.path()).transport());
  const Collections collections_{client::Firestore(transport_), "ci"};
  UserStore users_{clock_, collections_};
  PostStore posts_{clock_, collections_};
  CommentStore comments_{clock_, collections_, posts_};
  User author_;
};

TEST_F(UnansweredTest, APostIsMadeOnce) {
  transport_->LoseAnswers(1);
  const Result<Post> post = posts_.Create(author_.id, author_.username, "first", {});
  ASSERT_TRUE(post.ok()) << post.status().ToString();
  EXPECT_EQ(post->key.id, PostId{1});
  EXPECT_EQ(posts_.Newest()->id, PostId{1});
  EXPECT_EQ(posts_.ListOf(author_.id, std::nullopt, 10)->posts.size(), 1u);
  EXPECT_EQ(users_.Get(author_.id)->post_count, 1);
  EXPECT_EQ(posts_.Create(author_.id, author_.username, "first", {})->key.id, PostId{2})
      << "the same again is another post";
}

TEST(MayHaveBeenCreatedTest, UnlessTheDatabaseRefusedIt) {
  for (const Code code :
       {Code::kUnavailable, Code::kDeadlineExceeded, Code::kUnknown, Code::kInternal,
        Code::kCancelled, Code::kAborted, Code::kResourceExhausted, Code::kUnauthenticated}) {
    EXPECT_TRUE(MayHaveBeenCreated(Status(code, "")));
  }
  for (const Code code : {Code::kNotFound, Code::kInvalidArgument, Code::kFailedPrecondition,
                          Code::kPermissionDenied, Code::kAlreadyExists, Code::kDataLoss}) {
    EXPECT_FALSE(MayHaveBeenCreated(Status(code, "")));
  }
}

TEST_F(UnansweredTest, ACommentIsMadeOnce) {
  const Result<Post> post = posts_.Create(author_.id, author_.username, "", {});
  ASSERT_TRUE(post.ok()) << post.status().ToString();
  const CommentStore::Draft draft = {
      .post_id = post->key.id, .user_id = author_.id, .username = "author", .text = "well"};
  transport_->LoseAnswers(1);
  const Result<Comment> comment = comments_.Create(draft);
  ASSERT_TRUE(comment.ok()) << comment.status().ToString();
  CommentStore::Draft reply = draft;
  reply.parent_id = comment->id;
  transport_->LoseAnswers(1);
  ASSERT_TRUE(comments_.Create(reply).ok());
  const Result<CommentStore::Page> page = comments_.List(post->key.id, std::nullopt, 10);
  ASSERT_EQ(page->comments.size(), 2u);
  EXPECT_EQ(page->comments[0].reply_count, 1);
  EXPECT_EQ(posts_.Get(post->key.id)->comment_count, 2);
}

}  // namespace
}  // namespace hearth::feed
