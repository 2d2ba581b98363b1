// Public profiles and follows.
#include <gmock/gmock.h>

#include "apps/feed/api/users_api.h"
#include "apps/feed/testing/feed_test.h"

namespace hearth::feed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string UserPath(UserId id, const std::string& rest = "") {
  return "/users/" + ToText(id) + rest;
}

TEST_P(FeedTest, AnAccountIsShownToAnybody) {
  const Account alice = NewUser("alice", "Alice of the Hills");
  const nlohmann::json expected = {{"id", alice.id},
                                   {"username", "alice"},
                                   {"display_name", "Alice of the Hills"},
                                   {"bio", ""},
                                   {"post_count", 0},
                                   {"follower_count", 0},
                                   {"following_count", 0},
                                   {"created_at", "2025-11-29T10:00:00Z"},
                                   {"is_following", nullptr}};
  EXPECT_EQ(Get(UserPath(alice.id)), expected);
}

TEST_P(FeedTest, AccountsHaveIdsWithoutGaps) {
  AtOnce(4, [&](int i) {
    NewUser("user" + std::to_string(i));
    return kit::Response();
  });
  ExpectError(Register({{"username", "user3"}, {"password", "12345678"}}), 409, "username_taken");
  EXPECT_EQ(NewUser("last").id, UserId{5});
  EXPECT_EQ(*users_.Count(), 5);
}

TEST_P(FeedTest, AccountsThatThereAreNotAreNotFound) {
  const Account alice = NewUser("alice");
  for (const char* rest : {"", "/followers", "/following"}) {
    ExpectError(Send("GET", UserPath(UserId{4'711}, rest)), 404, "user_not_found");
  }
  ExpectError(Send("GET", "/users/feed?userid=4711"), 404, "user_not_found");
  ExpectError(SendAs(alice, "POST", "/users/4711/follow"), 404, "user_not_found");
  EXPECT_EQ(GetAs(alice, "/me").at("following_count"), 0);
}

TEST_P(FeedTest, UserIdsArePositiveNumbers) {
  const Account alice = NewUser("alice");
  for (const std::string id : {"-1", "0", "+1", "01", "one", "1.0", "9223372036854775808", "%20"}) {
    for (const char* rest : {"", "/followers", "/following"}) {
      ExpectError(Send("GET", "/users/" + id + rest), 400, "invalid_user_id");
    }
    ExpectError(SendAs(alice, "POST", "/users/" + id + "/follow"), 400, "invalid_user_id");
    ExpectError(SendAs(alice, "DELETE", "/users/" + id + "/follow"), 400, "invalid_user_id");
    ExpectError(Send("GET", "/users/feed?userid=" + id), 400, "invalid_user_id");
  }
  ExpectError(Send("GET", "/users/feed"), 400, "invalid_user_id");
}

TEST_P(FeedTest, FollowingCountsOnBothSides) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  EXPECT_EQ(Body(SendAs(alice, "POST", UserPath(bob.id, "/follow")), 201),
            nlohmann::json({{"following", true}}));
  EXPECT_EQ(GetAs(alice, "/me").at("following_count"), 1);
  EXPECT_EQ(GetAs(bob, "/me").at("follower_count"), 1);
  EXPECT_EQ(GetAs(bob, "/me").at("following_count"), 0);
  EXPECT_EQ(GetAs(alice, UserPath(bob.id)).at("is_following"), true);
  EXPECT_EQ(GetAs(bob, UserPath(alice.id)).at("is_following"), false);
  EXPECT_EQ(GetAs(alice, UserPath(alice.id)).at("is_following"), false);
  EXPECT_THAT(follows_.Get(alice.id)->ids, ElementsAre(bob.id));
  EXPECT_EQ(follows_.Get(alice.id)->version, 1);

  EXPECT_EQ(SendAs(alice, "DELETE", UserPath(bob.id, "/follow")).status, 204);
  EXPECT_EQ(GetAs(alice, "/me").at("following_count"), 0);
  EXPECT_EQ(GetAs(bob, "/me").at("follower_count"), 0);
  EXPECT_EQ(GetAs(alice, UserPath(bob.id)).at("is_following"), false);
  EXPECT_THAT(follows_.Get(alice.id)->ids, IsEmpty());
  EXPECT_EQ(follows_.Get(alice.id)->version, 2);
}

TEST_P(FeedTest, FollowsArePublishedWithTheVersionOfTheList) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  SendAs(alice, "POST", UserPath(bob.id, "/follow"));
  SendAs(alice, "POST", UserPath(bob.id, "/follow"));
  SendAs(alice, "DELETE", UserPath(bob.id, "/follow"));
  SendAs(alice, "DELETE", UserPath(bob.id, "/follow"));
  EXPECT_EQ(Published(), (std::vector<FeedEvent>{{.kind = FeedEvent::Kind::kUserFollowed,
                                                  .author_id = bob.id,
                                                  .user_id = alice.id,
                                                  .following_version = 1},
                                                 {.kind = FeedEvent::Kind::kUserUnfollowed,
                                                  .author_id = bob.id,
                                                  .user_id = alice.id,
                                                  .following_version = 2}}));
}

TEST_P(FeedTest, NobodyFollowsThemselvesOrAnybodyTwice) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  ExpectError(SendAs(alice, "POST", UserPath(alice.id, "/follow")), 400, "cannot_follow_self");
  ExpectError(SendAs(alice, "DELETE", UserPath(bob.id, "/follow")), 404, "not_following");
  Body(SendAs(alice, "POST", UserPath(bob.id, "/follow")), 201);
  ExpectError(SendAs(alice, "POST", UserPath(bob.id, "/follow")), 409, "already_following");
  EXPECT_EQ(GetAs(bob, "/me").at("follower_count"), 1);
}

TEST_P(FeedTest, RacingFollowsOfOneCountOnce) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const std::map<int, int> statuses =
      AtOnce(6, [&](int) { return SendAs(alice, "POST", UserPath(bob.id, "/follow")); });
  EXPECT_EQ(statuses, (std::map<int, int>{{201, 1}, {409, 5}}));
  EXPECT_EQ(GetAs(bob, "/me").at("follower_count"), 1);
  EXPECT_EQ(GetAs(alice, "/me").at("following_count"), 1);
}

TEST_P(FeedTest, ManyFollowOneAtOnceAndAllAreCounted) {
  constexpr int kFollowers = 12;
  const Account star = NewUser("star");
  std::vector<Account> fans;
  for (int i = 0; i < kFollowers; ++i) fans.push_back(NewUser("fan" + std::to_string(i)));
  const auto follow = [&](int i) {
    return SendAs(fans[static_cast<size_t>(i)], "POST", UserPath(star.id, "/follow"));
  };
  EXPECT_EQ(AtOnce(kFollowers, follow), (std::map<int, int>{{201, kFollowers}}));
  EXPECT_EQ(GetAs(star, "/me").at("follower_count"), kFollowers);
  const auto unfollow = [&](int i) {
    return SendAs(fans[static_cast<size_t>(i)], "DELETE", UserPath(star.id, "/follow"));
  };
  EXPECT_EQ(AtOnce(kFollowers / 2, unfollow), (std::map<int, int>{{204, kFollowers / 2}}));
  EXPECT_EQ(GetAs(star, "/me").at("follower_count"), kFollowers / 2);
  EXPECT_EQ(AllIds<UserId>(UserPath(star.id, "/followers"), "users").size(),
            static_cast<size_t>(kFollowers / 2));
}

TEST_P(FeedTest, OneFollowsManyAtOnceAndAllAreListed) {
  constexpr int kFollowed = 4;
  const Account alice = NewUser("alice");
  std::vector<Account> others;
  for (int i = 0; i < kFollowed; ++i) others.push_back(NewUser("user" + std::to_string(i)));
  const auto follow = [&](int i) {
    return SendAs(alice, "POST", UserPath(others[static_cast<size_t>(i)].id, "/follow"));
  };
  EXPECT_EQ(AtOnce(kFollowed, follow), (std::map<int, int>{{201, kFollowed}}));
  const Following following = *follows_.Get(alice.id);
  EXPECT_EQ(following.ids.size(), static_cast<size_t>(kFollowed));
  EXPECT_TRUE(std::ranges::is_sorted(following.ids));
  EXPECT_EQ(following.version, kFollowed);
  EXPECT_EQ(GetAs(alice, "/me").at("following_count"), kFollowed);
}

TEST_P(FeedTest, NobodyFollowsMoreThanTheLimit) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  client::Array ids;
  for (size_t i = 0; i < FollowStore::kFollowingMax; ++i) ids.emplace_back(1'000 + i);
  ASSERT_TRUE(
      collections_.following_list(alice.id).Set({{"version", 1}, {"ids", std::move(ids)}}).ok());
  ExpectError(SendAs(alice, "POST", UserPath(bob.id, "/follow")), 400, "following_limit");
}

TEST_P(FeedTest, FollowersArePagedNewestFirstThroughTies) {
  const Account star = NewUser("star");
  std::vector<UserId> newest_first;
  for (size_t i = 0; i < 2 * UsersApi::kUsersPerPage + 1; ++i) {
    const Account fan = NewUser("fan" + std::to_string(i));
    if (i % 7 == 0) Advance(std::chrono::seconds(1));
    ASSERT_TRUE(follows_.Follow(fan.id, star.id).ok());
    newest_first.insert(newest_first.begin(), fan.id);
  }
  EXPECT_EQ(AllIds<UserId>(UserPath(star.id, "/followers"), "users"), newest_first);
  EXPECT_EQ(Get(UserPath(star.id, "/followers")).at("users").size(), UsersApi::kUsersPerPage);
}

TEST_P(FeedTest, ListsSayWhomTheViewerFollows) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const Account carol = NewUser("carol");
  ASSERT_TRUE(follows_.Follow(alice.id, bob.id).ok());
  ASSERT_TRUE(follows_.Follow(alice.id, carol.id).ok());
  ASSERT_TRUE(follows_.Follow(bob.id, carol.id).ok());
  const nlohmann::json seen = GetAs(bob, UserPath(alice.id, "/following")).at("users");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].at("username"), "carol");
  EXPECT_EQ(seen[0].at("is_following"), true);
  EXPECT_EQ(seen[1].at("username"), "bob");
  EXPECT_EQ(seen[1].at("is_following"), false);
  const nlohmann::json unseen = Get(UserPath(carol.id, "/followers")).at("users");
  EXPECT_EQ(unseen[0].at("is_following"), nullptr);
}

TEST_P(FeedTest, BrokenCursorsAreRefusedEverywhere) {
  const Account alice = NewUser("alice");
  const PostId post = NewPost(alice);
  const std::string id = ToText(alice.id);
  const std::vector<std::string> targets = {
      "/feed?cursor=", "/users/feed?userid=" + id + "&cursor=",
      "/users/" + id + "/followers?cursor=", "/users/" + id + "/following?cursor=",
      "/posts/" + ToText(post) + "/comments?cursor="};
  for (const std::string& target : targets) {
    for (const char* cursor :
         {"1", "a:b", "1:2:3", "-1:5", "1:-5", "%201:5", "1:99999999999999999999",
          "1:9223372036854775807", "99999999999999999999:1", ":", "1:"}) {
      ExpectError(SendAs(alice, "GET", target + cursor), 400, "invalid_cursor");
    }
    EXPECT_EQ(SendAs(alice, "GET", target + "9223372036854775807:253402300799").status, 200);
  }
}

TEST_P(FeedTest, SearchFindsBeginningsOfBothNamesWhateverTheCase) {
  const Account one = NewUser("tide.and.stone", "North Shore");
  const Account two = NewUser("northern", "Lights");
  NewUser("south", "Beach of the North");
  const nlohmann::json found = Get("/users/search?q=NORTH").at("users");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at("id"), two.id);
  EXPECT_EQ(found[1].at("id"), one.id);
  EXPECT_EQ(Get("/users/search?q=north+shore").at("users").size(), 1u);
  EXPECT_THAT(Get("/users/search?q=nobody").at("users"), IsEmpty());
}

TEST_P(FeedTest, SearchWithoutTextFindsThoseWithMostFollowers) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const Account carol = NewUser("carol");
  ASSERT_TRUE(follows_.Follow(alice.id, carol.id).ok());
  ASSERT_TRUE(follows_.Follow(bob.id, carol.id).ok());
  ASSERT_TRUE(follows_.Follow(carol.id, bob.id).ok());
  const nlohmann::json found = GetAs(alice, "/users/search").at("users");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].at("username"), "carol");
  EXPECT_EQ(found[0].at("is_following"), true);
  EXPECT_EQ(found[1].at("username"), "bob");
  EXPECT_EQ(found[1].at("is_following"), false);
}

TEST_P(FeedTest, SearchFindsAtMostTwenty) {
  for (size_t i = 0; i <= UsersApi::kFoundUsersMax; ++i) NewUser("user" + std::to_string(i));
  EXPECT_EQ(Get("/users/search?q=user").at("users").size(), UsersApi::kFoundUsersMax);
  EXPECT_EQ(Get("/users/search?q=").at("users").size(), UsersApi::kFoundUsersMax);
}

TEST_P(FeedTest, SearchesThatAreNoTextAreRefused) {
  ExpectError(Send("GET", "/users/search?q=" + std::string(101, 'x')), 400, "invalid_query");
  ExpectError(Send("GET", "/users/search?q=%FF"), 400, "invalid_query");
}

TEST_P(FeedTest, EachFollowerIsHandedOutOnce) {
  const Account star = NewUser("star");
  std::vector<UserId> fans;
  for (int i = 0; i < 5; ++i) {
    fans.push_back(NewUser("fan" + std::to_string(i)).id);
    ASSERT_TRUE(follows_.Follow(fans.back(), star.id).ok());
  }
  std::vector<UserId> seen;
  ASSERT_TRUE(follows_
                  .ForEachFollower(star.id,
                                   [&](const std::vector<UserId>& some) {
                                     seen.insert(seen.end(), some.begin(), some.end());
                                     return Status();
                                   })
                  .ok());
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(fans));
  const Status stopped = follows_.ForEachFollower(
      star.id, [](const std::vector<UserId>&) { return Status(Code::kCancelled, "enough"); });
  EXPECT_EQ(stopped.code(), Code::kCancelled);
}

TEST_P(FeedTest, PulledAuthorsStayAndAreToldApart) {
  const Account alice = NewUser("alice");
  const Account bob = NewUser("bob");
  const Account carol = NewUser("carol");
  ASSERT_TRUE(follows_.Follow(alice.id, bob.id).ok());
  ASSERT_TRUE(follows_.Follow(alice.id, carol.id).ok());
  ASSERT_TRUE(follows_.AddPulledAuthor(carol.id).ok());
  ASSERT_TRUE(follows_.AddPulledAuthor(alice.id).ok());
  ASSERT_TRUE(follows_.AddPulledAuthor(carol.id).ok());
  EXPECT_THAT(*follows_.PulledAuthors(), ElementsAre(alice.id, carol.id));
  const FollowStore::Sources sources = *follows_.GetSources(alice.id);
  EXPECT_THAT(sources.following.ids, ElementsAre(bob.id, carol.id));
  EXPECT_THAT(sources.pulled, ElementsAre(carol.id));
}

}  // namespace
}  // namespace hearth::feed
