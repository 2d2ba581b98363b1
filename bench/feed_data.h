// The accounts, posts and followers of the feed's benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/feed/ids/post_key.h"
#include "apps/feed/stores/collections.h"
#include "base/clock.h"

namespace hearth::feed {

struct FeedSize {
  int64_t authors = 5'000;
  int64_t posts = 20'000;
  int64_t readers = 300;
  int64_t followed = 100;       // By each reader, not counting the popular author.
  int64_t followers = 100'000;  // Of the popular author, including the readers.
};

// Fills an empty database: a popular author, many others, readers who follow the popular author and
// some others, and two accounts that follow a thousand authors and all authors. The documents are
// those that the stores would write, except for two kinds that the feed does not read: the
// individual edges of whom an account follows, and the accounts of the popular author's other
// followers.
//
// Threads: one at a time.
class FeedData {
 public:
  static constexpr UserId kPopular{1};
  static constexpr int64_t kThousand = 1'000;

  FeedData(const Clock& clock, Collections collections, const FeedSize& size);

  void Fill();

  const FeedSize& size() const { return size_; }
  UserId Author(int64_t i) const { return UserId{ToNumber(kPopular) + 1 + i % size_.authors}; }
  UserId Reader(int64_t i) const {
    return UserId{ToNumber(kPopular) + 1 + size_.authors + i % size_.readers};
  }
  UserId FollowerOfThousand() const { return UserId{ToNumber(Reader(0)) + size_.readers}; }
  UserId FollowerOfAll() const { return Next(FollowerOfThousand()); }
  // Followers of the popular author that are not readers.
  std::vector<UserId> OtherFollowers(size_t count_max) const;
  // Oldest first.
  const std::vector<PostKey>& posts() const { return posts_; }

 private:
  // Whom each account follows: one list per account, ascending.
  struct List {
    UserId user;
    std::vector<UserId> authors;
  };
  std::vector<List> MakeLists() const;
  void FillPosts(client::BulkWriter* writer);
  void FillFollowers(const std::vector<List>& lists, client::BulkWriter* writer);
  void FillAccounts(const std::vector<List>& lists, client::BulkWriter* writer);

  const Clock& clock_;
  const Collections collections_;
  const FeedSize size_;
  std::vector<PostKey> posts_;
};

}  // namespace hearth::feed
