#include "apps/feed/testing/workflow_test.h"

#include <chrono>
#include <thread>
#include <utility>

#include "apps/feed/feed.h"
#include "base/check.h"
#include "kit/images/images.h"

namespace hearth::feed {
namespace {

constexpr char kSecret[] = "a secret that only these tests know";
constexpr int kPagesMax = 200;

kit::SessionSigner MakeSigner(const Clock& clock) {
  Result<kit::SessionSigner> signer = kit::SessionSigner::Make(kSecret, clock);
  CHECK(signer.ok());
  return *std::move(signer);
}

}  // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WorkflowTest);

std::string WorkflowBackendName(const testing::TestParamInfo<WorkflowBackend>& info) {
  return info.param.name;
}

WorkflowTest::WorkflowTest()
    : redis_(GetParam().has_redis ? std::make_unique<RedisServer>() : nullptr),
      database_(GetParam().fresh()),
      collections_(database_, "ci"),
      users_(clock_, collections_),
      posts_(clock_, collections_),
      signer_(MakeSigner(clock_)),
      tokens_(clock_, collections_, signer_) {
  Restart();
}

WorkflowTest::~WorkflowTest() {
  if (app_) app_->Stop();
}

void WorkflowTest::Restart() {
  if (app_) app_->Stop();
  app_.reset();
  nlohmann::json settings = {{"session_secret", kSecret},
                             {"operator_secret", kSecret},
                             {"pushed_followers_max", 5},
                             {"posts_per_hour", 1'000}};
  if (redis_) settings["redis"] = redis_->address().ToString();
  Result<std::unique_ptr<kit::Application>> app = MakeApplication({.database = database_,
                                                                   .clock = clock_,
                                                                   .random = random_,
                                                                   .metrics = metrics_,
                                                                   .data_path = folder_.path(),
                                                                   .environment = "ci",
                                                                   .settings = settings,
                                                                   .sandbox_url = ""});
  CHECK(app.ok());
  app_ = *std::move(app);
  CHECK(app_->Start().ok());
}

WorkflowTest::Account WorkflowTest::NewUser(const std::string& name) {
  const Result<User> user = users_.Create({.username = name});
  EXPECT_TRUE(user.ok()) << user.status().ToString();
  return {.id = user->id, .token = tokens_.SignAccess(user->id)};
}

std::vector<PostId> WorkflowTest::NewPosts(const Account& author, int count) {
  static const std::string picture = *kit::EncodeWebp(
      {.width = 4, .height = 4, .pixels = std::vector<uint8_t>(4 * 4 * 4, 200)}, 80);
  const std::string body =
      "--x\r\nContent-Disposition: form-data; name=\"images\"; filename=\"a.webp\"\r\n\r\n" +
      picture + "\r\n--x--\r\n";
  std::vector<PostId> ids;
  for (int i = 0; i < count; ++i) {
    http::RequestHead head;
    head.set_method("POST");
    head.set_target("/posts");
    head.AddHeader("authorization", "Bearer " + tokens_.SignAccess(author.id));
    head.AddHeader("content-type", "multipart/form-data; boundary=x");
    const kit::Response response =
        app_->routes().Answer(kit::Request(std::move(head), body, "/posts", "127.0.0.1"));
    EXPECT_EQ(response.status, 201) << response.body;
    ids.insert(ids.begin(), nlohmann::json::parse(response.body).at("id").get<PostId>());
  }
  return ids;
}

kit::Response WorkflowTest::Send(const Account& account, const std::string& method,
                                 const std::string& target, const nlohmann::json& json) {
  http::RequestHead head;
  head.set_method(method);
  head.set_target(target);
  // Signed for each request: tokens expire after fifteen minutes, and tests advance by days.
  head.AddHeader("authorization", "Bearer " + tokens_.SignAccess(account.id));
  const std::string path(head.path());
  return app_->routes().Answer(kit::Request(
      std::move(head), json.is_null() ? std::string() : json.dump(), path, "127.0.0.1"));
}

void WorkflowTest::Follow(const Account& user, const Account& author) {
  EXPECT_EQ(Send(user, "POST", "/users/" + ToText(author.id) + "/follow").status, 201);
}

WorkflowTest::Page WorkflowTest::Feed(const Account& user, const std::string& cursor) {
  const kit::Response response =
      Send(user, "GET", cursor.empty() ? "/feed" : "/feed?cursor=" + cursor);
  EXPECT_EQ(response.status, 200) << response.body;
  const nlohmann::json body = nlohmann::json::parse(response.body);
  Page page{.ids = {}, .next_cursor = {}, .has_more = body.at("has_more")};
  for (const nlohmann::json& post : body.at("posts")) page.ids.push_back(post.at("id"));
  if (!body.at("next_cursor").is_null()) page.next_cursor = body.at("next_cursor");
  return page;
}

std::vector<PostId> WorkflowTest::Scroll(const Account& user) {
  std::vector<PostId> ids;
  Page page = Feed(user);
  for (int pages = 0; pages < kPagesMax; ++pages) {
    ids.insert(ids.end(), page.ids.begin(), page.ids.end());
    if (!page.has_more) return ids;
    page = Feed(user, page.next_cursor);
  }
  ADD_FAILURE() << "the feed has no end";
  return ids;
}

void WorkflowTest::Settle() {
  while (true) {
    http::RequestHead head;
    head.set_method("GET");
    head.set_target("/health");
    head.AddHeader("authorization", std::string("Bearer ") + kSecret);
    const kit::Response response =
        app_->routes().Answer(kit::Request(std::move(head), "", "/health", "127.0.0.1"));
    const nlohmann::json health = nlohmann::json::parse(response.body);
    if (health.at("queue").value("waiting", 1) == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

uint64_t WorkflowTest::PagesBy(const std::string& path) {
  return metrics_
      .GetCounter("feed_pages_total", "Pages of home feeds, by how they came about.",
                  {{"path", path}})
      .value();
}

int64_t WorkflowTest::RedisNumber(const std::vector<std::string>& command) {
  const RedisReply reply = redis_->Command(command);
  return reply.text.empty() ? reply.integer : std::stoll(reply.text);
}

}  // namespace hearth::feed
