#include "process/feed_crowd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "http/testing/test_socket.h"
#include "kit/images/images.h"
#include "support/server_process.h"

namespace hearth::process {
namespace {

constexpr size_t kPostsPerPage = 10;
constexpr size_t kPagesMax = 500;
constexpr std::chrono::milliseconds kPauseWithoutPosts{20};

// Different for each number up to 2^24.
std::string Picture(int number) {
  kit::Image image = {.width = 8, .height = 8};
  for (int pixel = 0; pixel < image.width * image.height; ++pixel) {
    // One bit of the number per pixel, black or white, so that compression cannot blur it.
    const uint8_t shade = pixel < 24 && ((number >> pixel) & 1) != 0 ? 255 : 0;
    image.pixels.insert(image.pixels.end(), {shade, shade, shade, 255});
  }
  const Result<std::string> encoded = kit::EncodeWebp(image, 100);
  CHECK(encoded.ok());
  return *encoded;
}

// The value in a lower-case header block; empty if missing.
std::string HeaderOf(const std::string& head, const std::string& name) {
  const size_t start = head.find("\r\n" + name + ": ");
  if (start == std::string::npos) return "";
  const size_t value = start + name.size() + 4;
  return head.substr(value, head.find("\r\n", value) - value);
}

std::string IdText(int64_t id) { return std::to_string(id); }

}  // namespace

FeedDoor::Answer FeedDoor::Exchange(const std::string& head, const std::string& body) const {
  http::TestSocket socket(port_);
  if (!socket.connected()) return {};
  socket.Send(head + "Host: localhost\r\nConnection: close\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string text = socket.ReadToEnd();
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  const std::string answer_head = text.substr(0, end + 2);
  Answer answer = {.status = std::stoi(answer_head.substr(answer_head.find(' ') + 1)),
                   .content_type = HeaderOf(answer_head, "content-type"),
                   .body = text.substr(end + 4)};
  const std::string length = HeaderOf(answer_head, "content-length");
  if (!length.empty() && std::stoul(length) != answer.body.size()) return {};
  return answer;
}

FeedDoor::Answer FeedDoor::Send(const std::string& method, const std::string& target,
                                const std::string& token, const nlohmann::json& json) const {
  std::string head = method + " " + prefix_ + target + " HTTP/1.1\r\n";
  if (!token.empty()) head += "Authorization: Bearer " + token + "\r\n";
  return Exchange(head, json.is_null() ? "" : json.dump());
}

FeedDoor::Answer FeedDoor::Upload(const std::string& token, const std::string& caption,
                                  const std::string& picture) const {
  const std::string part = "--border\r\nContent-Disposition: form-data; name=";
  return Exchange("POST " + prefix_ + "/posts HTTP/1.1\r\nAuthorization: Bearer " + token +
                      "\r\nContent-Type: multipart/form-data; boundary=border\r\n",
                  part + "\"caption\"\r\n\r\n" + caption + "\r\n" + part +
                      "\"images\"; filename=\"a.webp\"\r\n\r\n" + picture + "\r\n--border--\r\n");
}

FeedCrowd::Account FeedCrowd::NewAccount(const FeedDoor& door, const std::string& name) {
  const FeedDoor::Answer answer =
      door.Send("POST", "/auth/register", "", {{"username", name}, {"password", "long enough"}});
  EXPECT_EQ(answer.status, 201) << answer.body;
  if (answer.status != 201) return {};
  const nlohmann::json body = answer.Json();
  return {.id = body.at("user").at("id"), .token = body.at("access_token")};
}

void FeedCrowd::Register(const FeedDoor& door) {
  authors_ = {NewAccount(door, "first.author"), NewAccount(door, "second.author")};
  reader_ = NewAccount(door, "reader");
  wavering_ = NewAccount(door, "wavering");
  for (const Account& author : authors_) {
    EXPECT_EQ(door.Send("POST", "/users/" + IdText(author.id) + "/follow", reader_.token).status,
              201);
  }
}

void FeedCrowd::Start(const FeedDoor& door) {
  {
    MutexLock lock(mutex_);
    stopped_ = false;
  }
  for (size_t author = 0; author < kAuthors; ++author) {
    threads_.emplace_back([this, door, author] { PostUntilStopped(door, author); });
  }
  threads_.emplace_back([this, door] { LikeUntilStopped(door); });
  threads_.emplace_back([this, door] { FollowUntilStopped(door); });
}

void FeedCrowd::WaitForAcknowledged(int count) {
  const auto end = std::chrono::steady_clock::now() + support::kPatience;
  MutexLock lock(mutex_);
  std::map<Request, int> before = acknowledged_;
  const auto is_enough = [&](std::map<Request, int>& now) {
    int all = 0;
    for (const auto& [request, acknowledged] : now) all += acknowledged - before[request];
    return all >= count && now[Request::kPost] > before[Request::kPost] &&
           now[Request::kFollow] > before[Request::kFollow];
  };
  while (!is_enough(acknowledged_)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end)
        << "posts acknowledged: " << acknowledged_[Request::kPost] - before[Request::kPost]
        << ", follows: " << acknowledged_[Request::kFollow] - before[Request::kFollow];
    changed_.WaitFor(mutex_, support::kPatience);
  }
}

void FeedCrowd::Stop() {
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool FeedCrowd::is_stopped() {
  MutexLock lock(mutex_);
  return stopped_;
}

void FeedCrowd::Acknowledge(Request request) {
  ++acknowledged_[request];
  changed_.NotifyAll();
}

void FeedCrowd::PostUntilStopped(const FeedDoor& door, size_t author) {
  while (!is_stopped()) {
    int number = 0;
    {
      MutexLock lock(mutex_);
      number = ++captions_;
    }
    const std::string caption = "number " + std::to_string(number);
    const FeedDoor::Answer answer = door.Upload(authors_[author].token, caption, Picture(number));
    MutexLock lock(mutex_);
    if (answer.status == 201) {
      const int64_t id = answer.Json().at("id");
      posted_[id] = caption;
      to_like_.push_back(id);
      Acknowledge(Request::kPost);
      continue;
    }
    unanswered_.insert(caption);
    if (answer.status == 0) return;
    EXPECT_EQ(answer.status, 503) << answer.body;
  }
}

std::optional<int64_t> FeedCrowd::NextToLike() {
  MutexLock lock(mutex_);
  if (to_like_.empty()) changed_.WaitFor(mutex_, kPauseWithoutPosts);
  if (to_like_.empty()) return std::nullopt;
  const int64_t post = to_like_.back();
  to_like_.pop_back();
  return post;
}

void FeedCrowd::LikeUntilStopped(const FeedDoor& door) {
  while (!is_stopped()) {
    const std::optional<int64_t> post = NextToLike();
    if (!post) continue;
    const FeedDoor::Answer answer =
        door.Send("POST", "/posts/" + IdText(*post) + "/like", reader_.token);
    MutexLock lock(mutex_);
    if (answer.status == 201) {
      ++likes_[*post].acknowledged;
      Acknowledge(Request::kLike);
      continue;
    }
    ++likes_[*post].unanswered;
    if (answer.status == 0) return;
    // 409: a retry by the application, after an attempt that succeeded but was not answered.
    EXPECT_TRUE(answer.status == 503 || answer.status == 409) << answer.status << answer.body;
  }
}

void FeedCrowd::FollowUntilStopped(const FeedDoor& door) {
  for (size_t turn = 0; !is_stopped(); ++turn) {
    const size_t author = turn % kAuthors;
    std::optional<bool> follows;
    {
      MutexLock lock(mutex_);
      follows = follows_[author];
    }
    const bool is_wanted = !follows.value_or(false);
    const FeedDoor::Answer answer =
        door.Send(is_wanted ? "POST" : "DELETE",
                  "/users/" + IdText(authors_[author].id) + "/follow", wavering_.token);
    MutexLock lock(mutex_);
    if (answer.status == (is_wanted ? 201 : 204)) {
      follows_[author] = is_wanted;
      Acknowledge(Request::kFollow);
      continue;
    }
    // Refused because it is already so, which is only possible after an unanswered request.
    const bool is_so = answer.status == (is_wanted ? 409 : 404);
    follows_[author] = is_so ? std::optional<bool>(is_wanted) : std::nullopt;
    if (answer.status == 0) return;
    EXPECT_TRUE(is_so || answer.status == 503) << answer.status << answer.body;
  }
}

std::vector<FeedCrowd::Shown> FeedCrowd::Scroll(const FeedDoor& door, const Account& account) {
  std::vector<Shown> posts;
  std::string target = "/feed";
  for (size_t pages = 0; pages < kPagesMax; ++pages) {
    const FeedDoor::Answer answer = door.Send("GET", target, account.token);
    EXPECT_EQ(answer.status, 200) << answer.body;
    if (answer.status != 200) return posts;
    const nlohmann::json page = answer.Json();
    for (const nlohmann::json& post : page.at("posts")) {
      posts.push_back({.id = post.at("id"),
                       .user_id = post.at("user_id"),
                       .caption = post.at("caption"),
                       .created_at = post.at("created_at"),
                       .like_count = post.at("like_count"),
                       .media = post.at("media")});
    }
    if (!page.at("has_more").get<bool>()) return posts;
    EXPECT_EQ(page.at("posts").size(), kPostsPerPage);
    target = "/feed?cursor=" + page.at("next_cursor").get<std::string>();
  }
  ADD_FAILURE() << "the feed has no end";
  return posts;
}

void FeedCrowd::Check(const FeedDoor& door) {
  const std::vector<Shown> posts = Scroll(door, reader_);
  CheckPosts(posts);
  CheckPictures(door, posts);
  CheckFollows(door, posts);
  CheckCounts(door, posts);
}

void FeedCrowd::CheckPosts(const std::vector<Shown>& posts) {
  MutexLock lock(mutex_);
  std::set<std::string> captions;
  size_t acknowledged = 0;
  for (size_t i = 0; i < posts.size(); ++i) {
    const Shown& post = posts[i];
    EXPECT_TRUE(captions.insert(post.caption).second) << post.caption << " is there twice";
    if (i > 0) {
      EXPECT_LT(post.id, posts[i - 1].id);
      EXPECT_LE(post.created_at, posts[i - 1].created_at);
    }
    const auto posted = posted_.find(post.id);
    if (posted != posted_.end()) {
      EXPECT_EQ(post.caption, posted->second);
      ++acknowledged;
    } else {
      EXPECT_TRUE(unanswered_.contains(post.caption)) << post.caption;
    }
    const Likes likes = likes_[post.id];
    EXPECT_GE(post.like_count, likes.acknowledged) << post.caption;
    EXPECT_LE(post.like_count, likes.acknowledged + likes.unanswered) << post.caption;
  }
  EXPECT_EQ(acknowledged, posted_.size()) << "posts are missing";
}

void FeedCrowd::CheckPictures(const FeedDoor& door, const std::vector<Shown>& posts) {
  for (const Shown& post : posts) {
    EXPECT_EQ(post.media.size(), 1u) << post.caption;
    for (const nlohmann::json& media : post.media) {
      for (const char* size : {"url", "thumbnail_url"}) {
        const FeedDoor::Answer picture = door.Send("GET", "/" + media.at(size).get<std::string>());
        EXPECT_EQ(picture.status, 200) << post.caption;
        EXPECT_EQ(picture.content_type, "image/webp") << post.caption;
        EXPECT_TRUE(kit::DecodeImage(picture.body, {}).ok()) << post.caption;
      }
    }
  }
}

void FeedCrowd::CheckFollows(const FeedDoor& door, const std::vector<Shown>& posts) {
  std::set<int64_t> followed;
  for (size_t i = 0; i < kAuthors; ++i) {
    const std::string target = "/users/" + IdText(authors_[i].id);
    const nlohmann::json author = door.Send("GET", target, wavering_.token).Json();
    const bool is_following = author.at("is_following");
    if (is_following) followed.insert(authors_[i].id);
    EXPECT_EQ(author.at("follower_count"), is_following ? 2 : 1);
    const nlohmann::json followers = door.Send("GET", target + "/followers").Json();
    EXPECT_EQ(followers.at("users").size(), is_following ? 2u : 1u);
    MutexLock lock(mutex_);
    EXPECT_EQ(is_following, follows_[i].value_or(is_following));
    follows_[i] = is_following;
  }
  std::vector<int64_t> wanted;
  for (const Shown& post : posts) {
    if (followed.contains(post.user_id)) wanted.push_back(post.id);
  }
  std::vector<int64_t> shown;
  for (const Shown& post : Scroll(door, wavering_)) shown.push_back(post.id);
  EXPECT_EQ(shown, wanted);
}

void FeedCrowd::CheckCounts(const FeedDoor& door, const std::vector<Shown>& posts) {
  for (const Account& author : authors_) {
    const nlohmann::json user = door.Send("GET", "/users/" + IdText(author.id)).Json();
    const auto count = std::ranges::count(posts, author.id, &Shown::user_id);
    EXPECT_EQ(user.at("post_count"), count);
  }
}

}  // namespace hearth::process
