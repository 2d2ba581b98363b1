#include "feed_data.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "apps/feed/stores/documents.h"
#include "apps/feed/stores/follow_store.h"
#include "apps/feed/stores/post.h"
#include "apps/feed/stores/user_store.h"
#include "base/check.h"

namespace hearth::feed {
namespace {

constexpr int64_t kMonthSeconds = 30LL * 24 * 3'600;
// Posts created by the benchmark are newer than all of these, even if clocks differ.
constexpr int64_t kNewestAgeSeconds = 3'600;
// One in this many posts is by the popular author.
constexpr int64_t kPopularPostEvery = 200;

std::string NameOf(UserId user) { return "person" + ToText(user); }

}  // namespace

FeedData::FeedData(const Clock& clock, Collections collections, const FeedSize& size)
    : clock_(clock), collections_(std::move(collections)), size_(size) {
  CHECK(size_.authors >= kThousand && size_.authors >= size_.followed);
  CHECK(size_.followers >= size_.readers);
}

void FeedData::Fill() {
  client::BulkWriter writer = collections_.database().Bulk();
  const std::vector<List> lists = MakeLists();
  FillPosts(&writer);
  FillAccounts(lists, &writer);
  FillFollowers(lists, &writer);
  CHECK(writer.Flush().ok());
}

std::vector<UserId> FeedData::OtherFollowers(size_t count_max) const {
  const auto all = static_cast<size_t>(size_.followers - size_.readers);
  std::vector<UserId> users(std::min(all, count_max));
  std::ranges::generate(users, [next = FollowerOfAll()]() mutable { return next = Next(next); });
  return users;
}

std::vector<FeedData::List> FeedData::MakeLists() const {
  std::mt19937_64 random(1);
  std::vector<UserId> authors(static_cast<size_t>(size_.authors));
  std::ranges::generate(authors, [this, i = int64_t{0}]() mutable { return Author(i++); });
  const auto some_of_them = [&](int64_t count) {
    std::vector<UserId> some;
    std::ranges::sample(authors, std::back_inserter(some), count, random);
    return some;
  };
  std::vector<List> lists;
  for (int64_t i = 0; i < size_.readers; ++i) {
    lists.push_back({.user = Reader(i), .authors = some_of_them(size_.followed)});
    lists.back().authors.insert(lists.back().authors.begin(), kPopular);
  }
  lists.push_back({.user = FollowerOfThousand(), .authors = some_of_them(kThousand)});
  lists.push_back({.user = FollowerOfAll(), .authors = authors});
  return lists;
}

void FeedData::FillPosts(client::BulkWriter* writer) {
  std::mt19937_64 random(2);
  const int64_t newest = NowSeconds(clock_) - kNewestAgeSeconds;
  for (int64_t id = 1; id <= size_.posts; ++id) {
    const UserId author =
        id % kPopularPostEvery == 0 ? kPopular : Author(static_cast<int64_t>(random() >> 1));
    Post post = {
        .key = {.created_seconds = newest - kMonthSeconds * (size_.posts - id) / size_.posts,
                .id = PostId{id}},
        .user_id = author,
        .username = NameOf(author),
        .caption = "What I saw on the way home, number " + std::to_string(id),
        .media = {}};
    const std::string file = std::to_string(random()) + std::to_string(random());
    post.media.push_back({.file = file + ".webp",
                          .thumbnail = file + "-small.webp",
                          .width = 1'080,
                          .height = 1'350});
    writer->Set(collections_.post(PostId{id}), ToDocument(post));
    posts_.push_back(post.key);
  }
  writer->Set(collections_.counter("posts"),
              {{"last_id", ToNumber(posts_.back().id)},
               {"last_created_at", ToTimestamp(posts_.back().created_seconds)}});
}

void FeedData::FillAccounts(const std::vector<List>& lists, client::BulkWriter* writer) {
  std::map<UserId, User> users;
  for (UserId id = kPopular; id <= FollowerOfAll(); id = Next(id)) {
    users[id] = {.id = id,
                 .username = NameOf(id),
                 .display_name = "Person " + ToText(id),
                 .is_new_user = false,
                 .created_seconds = NowSeconds(clock_) - kMonthSeconds};
  }
  for (const List& list : lists) {
    users[list.user].following_count = static_cast<int64_t>(list.authors.size());
    for (const UserId author : list.authors) ++users[author].follower_count;
  }
  users[kPopular].follower_count = size_.followers;
  for (const auto& [id, user] : users) {
    writer->Set(collections_.user(id), ToDocument(user));
    writer->Set(collections_.username(user.username), {{"user_id", ToNumber(id)}});
  }
  writer->Set(collections_.counter("users"),
              {{"last_id", ToNumber(FollowerOfAll()) + size_.followers}});
}

void FeedData::FillFollowers(const std::vector<List>& lists, client::BulkWriter* writer) {
  const client::Timestamp followed_at = ToTimestamp(NowSeconds(clock_) - kMonthSeconds);
  const auto follow = [&](UserId user, UserId author) {
    writer->Set(collections_.followers(author).Doc(ToText(user)),
                {{"user_id", ToNumber(user)}, {"followed_at", followed_at}});
  };
  for (const List& list : lists) {
    for (const UserId author : list.authors) follow(list.user, author);
    writer->Set(collections_.following_list(list.user),
                ToDocument(Following{.version = static_cast<int64_t>(list.authors.size()),
                                     .ids = list.authors}));
  }
  for (const UserId user : OtherFollowers(static_cast<size_t>(size_.followers))) {
    follow(user, kPopular);
  }
}

}  // namespace hearth::feed
