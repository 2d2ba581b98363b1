#include "apps/feed/testing/feed_test.h"

#include <filesystem>
#include <thread>
#include <utility>

#include "apps/feed/cache/memory_feed_cache.h"
#include "base/check.h"
#include "base/mutex.h"
#include "kit/images/images.h"

namespace hearth::feed {
namespace {

constexpr char kBoundary[] = "the-boundary";
constexpr size_t kPagesMax = 50;

kit::SessionSigner MakeSigner(const Clock& clock) {
  Result<kit::SessionSigner> signer = kit::SessionSigner::Make(kSecret, clock);
  CHECK(signer.ok());
  return *std::move(signer);
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FeedTest);

FeedTest::FeedTest()
    : transport_(std::make_shared<FailingTransport>(GetParam().fresh().transport())),
      collections_(client::Firestore(transport_), "ci"),
      users_(clock_, collections_),
      follows_(clock_, collections_),
      posts_(clock_, collections_),
      signer_(MakeSigner(clock_)),
      tokens_(clock_, collections_, signer_),
      media_(clock_, folder_.path() + "/media"),
      removal_(clock_, collections_, media_),
      core_(MakeParts(), FanOutOptions()),
      api_({.clock = clock_,
            .core = core_,
            .tokens = tokens_,
            .signer = signer_,
            .media = media_,
            .removal = removal_,
            .limits = kLimits,
            .memory = &memory_,
            .operator_secret = kSecret}) {
  api_.AddTo(&routes_);
}

FeedCore::Parts FeedTest::MakeParts() {
  auto queue = std::make_unique<RecordingFeedQueue>();
  queue_ = queue.get();
  return {.clock = clock_,
          .random = random_,
          .metrics = metrics_,
          .collections = collections_,
          .cache = std::make_unique<MemoryFeedCache>(clock_, random_),
          .queue = std::move(queue)};
}

std::string FeedTest::Picture(uint8_t shade) {
  const kit::Image image = {
      .width = 4, .height = 6, .pixels = std::vector<uint8_t>(4 * 6 * 4, shade)};
  const Result<std::string> encoded = kit::EncodeWebp(image, 90);
  CHECK(encoded.ok());
  return *encoded;
}

size_t FeedTest::StoredFiles() const {
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.is_regular_file()) ++files;
  }
  return files;
}

FeedTest::Account FeedTest::NewUser(const std::string& username, const std::string& display_name) {
  User user;
  user.username = username;
  user.display_name = display_name.empty() ? username : display_name;
  const Result<User> created = users_.Create(std::move(user));
  EXPECT_TRUE(created.ok()) << created.status().ToString();
  if (!created.ok()) return {.id = {}, .token = ""};
  return {.id = created->id, .token = tokens_.SignAccess(created->id)};
}

std::string FeedTest::NewFamily(const Account& account) {
  const Result<std::string> token = tokens_.StartFamily(account.id);
  EXPECT_TRUE(token.ok()) << token.status().ToString();
  return token.ok() ? *token : "";
}

PostId FeedTest::NewPost(const Account& author, const std::string& caption) {
  const Result<User> user = users_.Get(author.id);
  EXPECT_TRUE(user.ok()) << user.status().ToString();
  const Result<Post> post = posts_.Create(
      author.id, user.ok() ? user->username : "", caption,
      {{.file = "a.webp", .thumbnail = "a-small.webp", .width = 1'080, .height = 1'350}});
  EXPECT_TRUE(post.ok()) << post.status().ToString();
  return post.ok() ? post->key.id : PostId{};
}

kit::Response FeedTest::Send(const std::string& method, const std::string& target,
                             const Options& options) const {
  http::RequestHead head;
  head.set_method(method);
  head.set_target(target);
  if (!options.token.empty()) head.AddHeader("authorization", "Bearer " + options.token);
  if (!options.cookie.empty()) head.AddHeader("cookie", options.cookie);
  if (!options.if_none_match.empty()) head.AddHeader("if-none-match", options.if_none_match);
  if (!options.content_type.empty()) head.AddHeader("content-type", options.content_type);
  const std::string path(head.path());
  return routes_.Answer(kit::Request(std::move(head),
                                     options.json.is_null() ? options.body : options.json.dump(),
                                     path, options.peer));
}

kit::Response FeedTest::Upload(const Account& account, const std::vector<Part>& parts) const {
  std::string body;
  for (const Part& part : parts) {
    body += std::string("--") + kBoundary + "\r\nContent-Disposition: form-data; name=\"" +
            part.name + "\"";
    if (!part.file_name.empty()) {
      body += "; filename=\"" + part.file_name + "\"\r\nContent-Type: image/jpeg";
    }
    body += "\r\n\r\n" + part.content + "\r\n";
  }
  body += std::string("--") + kBoundary + "--\r\n";
  return Send("POST", "/posts",
              {.token = account.token,
               .body = body,
               .content_type = std::string("multipart/form-data; boundary=") + kBoundary});
}

nlohmann::json FeedTest::Body(const kit::Response& response, int status) {
  EXPECT_EQ(response.status, status) << response.body;
  return nlohmann::json::parse(response.body, nullptr, false);
}

void FeedTest::ExpectError(const kit::Response& response, int status, const std::string& code) {
  const nlohmann::json body = Body(response, status);
  ASSERT_TRUE(body.is_object() && body.contains("error")) << response.body;
  EXPECT_EQ(body.size(), 1u) << response.body;
  EXPECT_EQ(body.at("error").at("code"), code) << response.body;
  const std::string message = body.at("error").at("message");
  EXPECT_TRUE(message.ends_with('.')) << message;
}

std::vector<nlohmann::json> FeedTest::AllItems(const std::string& target, const char* name,
                                               const std::string& token) const {
  std::vector<nlohmann::json> items;
  std::string cursor;
  for (size_t pages = 0; pages < kPagesMax; ++pages) {
    const std::string sign = target.find('?') == std::string::npos ? "?" : "&";
    const std::string suffix = cursor.empty() ? "" : sign + "cursor=" + cursor;
    const nlohmann::json page = Body(Send("GET", target + suffix, {.token = token}));
    for (const nlohmann::json& item : page.at(name)) items.push_back(item);
    EXPECT_EQ(page.at("has_more").get<bool>(), !page.at("next_cursor").is_null());
    if (page.at("next_cursor").is_null()) return items;
    cursor = page.at("next_cursor");
  }
  ADD_FAILURE() << target << " has no end";
  return items;
}

std::map<int, int> FeedTest::AtOnce(int threads, const std::function<kit::Response(int)>& act) {
  Mutex mutex;
  std::map<int, int> statuses;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      const int status = act(i).status;
      MutexLock lock(mutex);
      ++statuses[status];
    });
  }
  for (std::thread& thread : running) thread.join();
  return statuses;
}

}  // namespace hearth::feed
