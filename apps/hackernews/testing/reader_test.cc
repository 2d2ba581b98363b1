#include "apps/hackernews/testing/reader_test.h"

#include <utility>

#include "apps/hackernews/api.h"
#include "base/check.h"

namespace hearth::hackernews {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ReaderTest);

ReaderTest::ReaderTest()
    : counts_(std::make_shared<client::CountingTransport>(GetParam().fresh().transport())),
      database_(counts_),
      collections_(database_, "ci") {
  Restart();
}

void ReaderTest::Restart() {
  app_.reset();
  Result<std::unique_ptr<kit::Application>> app =
      MakeApplication({.database = database_,
                       .clock = clock_,
                       .random = random_,
                       .metrics = metrics_,
                       .data_path = folder_.path(),
                       .environment = "ci",
                       // The clock does not advance while a request waits.
                       .settings = {{"worker_secret", "open sesame"}, {"retry_pause_ms", 0}},
                       .sandbox_url = hn_.url()});
  CHECK(app.ok());
  app_ = *std::move(app);
}

kit::Response ReaderTest::Send(const std::string& method, const std::string& target,
                               const std::string& body, const std::string& cookie,
                               const std::string& peer) {
  http::RequestHead head;
  head.set_method(method);
  head.set_target(target);
  if (!cookie.empty()) head.AddHeader("cookie", cookie);
  const std::string path(head.path());
  return app_->routes().Answer(kit::Request(std::move(head), body, path, peer));
}

kit::Response ReaderTest::SendWithSecret(const std::string& secret, const std::string& method,
                                         const std::string& path) {
  http::RequestHead head;
  head.set_method(method);
  head.set_target(path);
  if (!secret.empty()) head.AddHeader(Api::kWorkerSecretHeader, secret);
  return app_->routes().Answer(kit::Request(std::move(head), "", path, "127.0.0.1"));
}

nlohmann::json ReaderTest::Get(const std::string& target, const std::string& cookie) {
  const kit::Response response = Send("GET", target, "", cookie);
  EXPECT_EQ(response.status, 200) << target << ": " << response.body;
  return nlohmann::json::parse(response.body);
}

std::vector<int64_t> ReaderTest::ListedIds(const std::string& query, const std::string& cookie) {
  std::vector<int64_t> ids;
  for (const nlohmann::json& story : Get("/api/v1/stories?" + query, cookie)) {
    ids.push_back(story.at("id"));
  }
  return ids;
}

std::string ReaderTest::SignIn(const std::string& account) {
  const nlohmann::json body = {{"acct", account}, {"pw", "secret"}};
  const kit::Response response = Send("POST", "/api/v1/login", body.dump());
  EXPECT_EQ(response.status, 200) << response.body;
  for (const auto& [name, value] : response.headers) {
    if (name == "set-cookie") return value.substr(0, value.find(';'));
  }
  ADD_FAILURE() << "no cookie was set";
  return "";
}

nlohmann::json ReaderTest::Sync() {
  const kit::Response response = SendWithSecret("open sesame");
  EXPECT_EQ(response.status, 200) << response.body;
  return nlohmann::json::parse(response.body);
}

void ReaderTest::PutStory(int64_t id, int64_t time_ms, int64_t score, int64_t updated_ms) {
  const StoryItem item = {.story = {.id = id,
                                    .by = "author",
                                    .descendants = 1,
                                    .score = score,
                                    .time_ms = time_ms,
                                    .title = "Story " + std::to_string(id),
                                    .url = "https://site.example/"},
                          .kids = {}};
  const auto written =
      collections_.stories()
          .Doc(PaddedId(id))
          .Set(ToDocument(item, client::Timestamp::FromMicros(updated_ms * 1'000)));
  ASSERT_TRUE(written.ok()) << written.status().ToString();
}

void ReaderTest::PutStories(const std::vector<Story>& stories) {
  client::BulkWriter writer = database_.Bulk();
  for (const Story& story : stories) {
    writer.Set(
        collections_.stories().Doc(PaddedId(story.id)),
        ToDocument({.story = story, .kids = {}}, client::Timestamp::FromMicros(NowMs() * 1'000)));
  }
  const Status written = writer.Flush();
  ASSERT_TRUE(written.ok()) << written.ToString();
}

client::Map ReaderTest::Document(const client::DocumentReference& document) {
  const Result<client::DocumentSnapshot> snapshot = document.Get();
  EXPECT_TRUE(snapshot.ok()) << snapshot.status().ToString();
  if (!snapshot.ok()) return {};
  EXPECT_TRUE(snapshot->exists()) << document.path();
  return snapshot->Data();
}

}  // namespace hearth::hackernews
