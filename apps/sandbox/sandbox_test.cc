#include "apps/sandbox/sandbox.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_budget.h"
#include "base/random.h"
#include "base/testing/fake_clock.h"
#include "http/testing/test_http2_client.h"
#include "http/testing/test_socket.h"
#include "kit/images/images.h"
#include "kit/outbound/outbound.h"

namespace hearth::sandbox {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kNowSeconds = 1'790'000'000;

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override { Start({}); }

  // Replaces the sandbox, if there is one.
  void Start(SandboxOptions options) {
    options.clock = &clock_;
    Result<std::unique_ptr<Sandbox>> started = Sandbox::Start(options);
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    sandbox_ = *std::move(started);
    outbound_.reset();  // It may only use the old one.
  }
  uint16_t port() const {
    const std::string address = sandbox_->host_port();
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  // Below the token, as clients send it.
  std::string PathOf(const std::string& below) const {
    const std::string url = sandbox_->url();
    return url.substr(url.rfind('/')) + below;
  }
  // The head of a request whose body does not follow.
  static std::string HeadOf(const std::string& path, const std::string& more_headers = "") {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n" +
           more_headers + "\r\n";
  }

  kit::OutboundOptions Options() {
    return {.name = "test",
            .attempts_max = 1,
            .breaker_failures = 0,
            .private_hosts_allowed = {sandbox_->host_port()}};
  }
  Result<kit::HttpResponse> Send(const std::string& method, const std::string& path,
                                 const std::string& body = "") {
    return outbound().Send({.method = method, .url = sandbox_->url() + path, .body = body});
  }
  kit::Outbound& outbound() {
    if (!outbound_) outbound_.emplace(Options(), system_clock_, random_, metrics_);
    return *outbound_;
  }
  nlohmann::json Fetch(const std::string& path) {
    Result<nlohmann::json> fetched = outbound().FetchJson(sandbox_->url() + path);
    EXPECT_TRUE(fetched.ok()) << path << ": " << fetched.status().ToString();
    return fetched.ok() ? *fetched : nlohmann::json();
  }
  void AddFault(const std::string& json) {
    const Result<kit::HttpResponse> added = Send("POST", "/control/faults", json);
    ASSERT_TRUE(added.ok());
    EXPECT_EQ(added->status, 201) << added->body;
  }

  FakeClock clock_{kNowSeconds * 1'000'000};
  SystemClock system_clock_;
  RandomSource random_{1};
  Metrics metrics_;
  std::optional<MemoryBudget> memory_;
  std::unique_ptr<Sandbox> sandbox_;
  std::optional<kit::Outbound> outbound_;
};

TEST_F(SandboxTest, NewStoriesCanBeFetchedOneByOne) {
  const nlohmann::json ids = Fetch("/hn/v0/newstories.json");
  ASSERT_EQ(ids.size(), 500u);
  std::vector<std::string> urls;
  for (const nlohmann::json& id : ids) {
    urls.push_back(sandbox_->url() + "/hn/v0/item/" + std::to_string(id.get<int64_t>()) + ".json");
  }
  size_t stories = 0;
  for (const Result<nlohmann::json>& item : outbound().FetchAllJson(urls)) {
    ASSERT_TRUE(item.ok()) << item.status().ToString();
    if (item->is_object() && item->contains("title")) ++stories;
  }
  EXPECT_GT(stories, 450u);
}

TEST_F(SandboxTest, TimeBringsNewStories) {
  const int64_t before = Fetch("/hn/v0/newstories.json")[0];
  const int64_t max_before = Fetch("/hn/v0/maxitem.json");
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_GT(Fetch("/hn/v0/newstories.json")[0], before);
  EXPECT_GT(Fetch("/hn/v0/maxitem.json"), max_before);
  EXPECT_EQ(Fetch("/hn/v0/topstories.json").size(), 500u);
}

TEST_F(SandboxTest, ItemsThatAreNoneAreNull) {
  for (const char* path : {"/hn/v0/item/0.json", "/hn/v0/item/99999999999.json",
                           "/hn/v0/item/abc.json", "/hn/v0/item/12", "/hn/v0/item/-1.json"}) {
    EXPECT_TRUE(Fetch(path).is_null()) << path;
  }
  EXPECT_EQ(Send("GET", "/hn/v0/nothing.json")->status, 404);
  EXPECT_EQ(Send("GET", "/nobody/v0")->status, 404);
  EXPECT_EQ(Send("POST", "/hn/v0/maxitem.json")->status, 405);
}

TEST_F(SandboxTest, SignsInWithTheRightPasswordOnly) {
  const Result<kit::HttpResponse> good = Send("POST", "/hn-site/login", "acct=maple-1_x&pw=hearth");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->status, 302);
  EXPECT_TRUE(good->Header("set-cookie")->starts_with("user=maple-1_x&"));
  for (const char* wrong :
       {"acct=maple&pw=wrong", "acct=maple", "pw=hearth", "", "acct=&pw=hearth",
        "acct=a%20b&pw=hearth", "acct=a%0d%0aset-cookie:x&pw=hearth", "acct=%zz&pw=hearth"}) {
    const Result<kit::HttpResponse> bad = Send("POST", "/hn-site/login", wrong);
    ASSERT_TRUE(bad.ok());
    EXPECT_EQ(bad->status, 200) << wrong;
    EXPECT_NE(bad->body.find("Bad login."), std::string::npos) << wrong;
    EXPECT_EQ(bad->Header("set-cookie"), std::nullopt) << wrong;
  }
  const Result<kit::HttpResponse> form = Send("GET", "/hn-site/login");
  EXPECT_EQ(form->body.find("Bad login."), std::string::npos);
}

TEST_F(SandboxTest, StoriesHavePagesAndArticles) {
  const nlohmann::json ids = Fetch("/hn/v0/newstories.json");
  size_t articles = 0;
  for (size_t i = 0; i < 60; ++i) {
    const std::string id = std::to_string(ids[i].get<int64_t>());
    const nlohmann::json item = Fetch("/hn/v0/item/" + id + ".json");
    const Result<kit::HttpResponse> page = Send("GET", "/hn-site/item?id=" + id);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->status, 200) << id;
    EXPECT_EQ(page->Header("content-type"), "text/html; charset=utf-8");
    EXPECT_NE(page->body.find("made up"), std::string::npos);
    if (!item.is_object() || !item.contains("title")) continue;
    EXPECT_NE(page->body.find(item["title"].get<std::string>()), std::string::npos) << page->body;
    if (!item.contains("url")) continue;
    ++articles;
    const Result<kit::HttpResponse> article = Send("GET", "/hn-site/article?id=" + id);
    ASSERT_TRUE(article.ok());
    EXPECT_EQ(article->status, 200) << id;
    EXPECT_NE(article->body.find("<h1>" + item["title"].get<std::string>()), std::string::npos);
    EXPECT_NE(article->body.find("href=\"item?id=" + id), std::string::npos);
  }
  EXPECT_GT(articles, 30u);
  EXPECT_EQ(Send("GET", "/hn-site/style.css")->Header("content-type"), "text/css; charset=utf-8");
}

TEST_F(SandboxTest, PagesOfStoriesThatAreNone) {
  for (const char* query : {"", "?id=", "?id=x", "?id=0", "?id=-1", "?id=99999999999",
                            "?id=99999999999999999999", "?id=1%20", "?ID=1"}) {
    for (const char* page : {"/hn-site/item", "/hn-site/article"}) {
      const Result<kit::HttpResponse> answer = Send("GET", std::string(page) + query);
      ASSERT_TRUE(answer.ok());
      EXPECT_EQ(answer->status, 404) << page << query;
      EXPECT_NE(answer->body.find("No such story"), std::string::npos) << page << query;
    }
  }
}

TEST_F(SandboxTest, PeoplePostPicturesThatCanBeFetched) {
  EXPECT_EQ(Fetch("/photos/accounts.json").size(), 14u);
  const nlohmann::json posts = Fetch("/photos/posts.json?limit=3");
  ASSERT_EQ(posts.size(), 3u);
  const std::string path = "/photos/" + posts[0]["pictures"][0].get<std::string>();
  const Result<kit::HttpResponse> picture = Send("GET", path);
  ASSERT_TRUE(picture.ok());
  EXPECT_EQ(picture->status, 200);
  EXPECT_EQ(picture->Header("content-type"), "image/webp");
  const Result<kit::Image> image = kit::DecodeImage(picture->body, {});
  ASSERT_TRUE(image.ok()) << image.status().ToString();
  EXPECT_GE(image->width, 1080);
  EXPECT_EQ(Send("GET", path)->body, picture->body);

  const int64_t last = posts[2]["number"];
  EXPECT_GT(Fetch("/photos/posts.json?limit=1&after=" + std::to_string(last))[0]["number"], last);
  EXPECT_EQ(Fetch("/photos/posts.json").size(), 20u);
  EXPECT_GT(Fetch("/photos/posts.json?limit=9999").size(), 20u);
}

TEST_F(SandboxTest, PicturesThatAreNoneAreNotFound) {
  for (const char* file : {"0", "0-0.webp.png", "x-0.webp", "1-.webp", "-1-0.webp", "1-99.webp",
                           "99999999999-0.webp", "99999999999999999999-0.webp", "..%2F1-0.webp"}) {
    EXPECT_EQ(Send("GET", std::string("/photos/pictures/") + file)->status, 404) << file;
  }
  EXPECT_EQ(Send("GET", "/photos/posts.json?after=x")->status, 400);
  EXPECT_EQ(Send("GET", "/photos/posts.json?limit=-1")->status, 400);
}

TEST_F(SandboxTest, TheIndexPageNamesTheServicesAndThePassword) {
  const Result<kit::HttpResponse> page = Send("GET", "/");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->status, 200);
  for (const char* text : {"/hn/v0/newstories.json", "hn-site", "\"hearth\"", "/control"}) {
    EXPECT_NE(page->body.find(text), std::string::npos) << text;
  }
}

TEST_F(SandboxTest, ControlCountsRequestsAndListsFaults) {
  Fetch("/hn/v0/maxitem.json");
  Fetch("/hn/v0/maxitem.json");
  AddFault(R"({"service": "hn-site", "fault": "error", "times": 2, "path": "/login"})");
  const nlohmann::json control = Fetch("/control");
  EXPECT_EQ(control["services"]["hn"]["requests"], 2);
  EXPECT_EQ(control["services"]["hn-site"]["requests"], 0);
  EXPECT_EQ(control["faults"], nlohmann::json::parse(R"([
      {"service": "hn-site", "fault": "error", "times": 2, "path": "/login"}])"));
  EXPECT_EQ(Send("POST", "/control/faults", R"({"service": "hn"})")->status, 400);
}

TEST_F(SandboxTest, ErrorsRateLimitsGarbageAndWrongTypes) {
  AddFault(R"({"service": "hn", "fault": "error", "times": 1})");
  AddFault(R"({"service": "hn", "fault": "rate_limit", "times": 1})");
  AddFault(R"({"service": "hn", "fault": "garbage", "times": 1})");
  AddFault(R"({"service": "hn", "fault": "wrong_type", "times": 1})");
  EXPECT_EQ(Send("GET", "/hn/v0/maxitem.json")->status, 500);
  const Result<kit::HttpResponse> limited = Send("GET", "/hn/v0/maxitem.json");
  EXPECT_EQ(limited->status, 429);
  EXPECT_EQ(limited->Header("retry-after"), "1");
  EXPECT_EQ(outbound().FetchJson(sandbox_->url() + "/hn/v0/maxitem.json").status().code(),
            Code::kDataLoss);
  EXPECT_TRUE(Send("GET", "/hn/v0/maxitem.json")->Header("content-type")->starts_with("text/html"));
  EXPECT_TRUE(Fetch("/hn/v0/maxitem.json").is_number());
}

TEST_F(SandboxTest, ABrokenConnectionIsUnavailable) {
  AddFault(R"({"service": "hn", "fault": "refuse", "times": 2})");  // One may be retried.
  EXPECT_EQ(Send("GET", "/hn/v0/maxitem.json").status().code(), Code::kUnavailable);
}

TEST_F(SandboxTest, NoAnswerAndASlowAnswerTakeTooLong) {
  AddFault(R"({"service": "hn", "fault": "timeout", "times": 1})");
  AddFault(R"({"service": "hn", "fault": "slow", "times": 1, "pause_ms": 60000})");
  kit::OutboundOptions options = Options();
  options.timeout = milliseconds(100);
  kit::Outbound impatient(options, system_clock_, random_, metrics_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(impatient.FetchJson(sandbox_->url() + "/hn/v0/newstories.json").status().code(),
              Code::kDeadlineExceeded);
  }
}

TEST_F(SandboxTest, ASlowAnswerIsTheRightOne) {
  const nlohmann::json ids = Fetch("/hn/v0/newstories.json");
  AddFault(R"({"service": "hn", "fault": "slow", "times": 1, "pause_ms": 1})");
  EXPECT_EQ(Fetch("/hn/v0/newstories.json"), ids);
}

TEST_F(SandboxTest, ClearedFaultsAreGone) {
  AddFault(R"({"service": "hn", "fault": "error"})");
  EXPECT_EQ(Send("GET", "/hn/v0/maxitem.json")->status, 500);
  EXPECT_EQ(Send("GET", "/hn-site/login")->status, 200);
  EXPECT_EQ(Send("DELETE", "/control/faults")->status, 200);
  EXPECT_EQ(Send("GET", "/hn/v0/maxitem.json")->status, 200);
}

TEST_F(SandboxTest, ABodyBeyondTheLimitIsRefused) {
  EXPECT_EQ(Send("POST", "/hn-site/login", std::string(1024 * 1024, 'x'))->status, 200);
  EXPECT_EQ(Send("POST", "/hn-site/login", std::string(1024 * 1024 + 1, 'x'))->status, 413);
}

TEST_F(SandboxTest, EndsWhileSomebodyStillWaits) {
  AddFault(R"({"service": "hn", "fault": "timeout"})");
  std::thread waiting([this] {
    EXPECT_EQ(Send("GET", "/hn/v0/maxitem.json").status().code(), Code::kUnavailable);
  });
  SystemClock clock;
  kit::Outbound other(Options(), clock, random_, metrics_);
  while (true) {
    Result<nlohmann::json> control = other.FetchJson(sandbox_->url() + "/control");
    ASSERT_TRUE(control.ok());
    if ((*control)["services"]["hn"]["requests"] == 1) break;
  }
  sandbox_.reset();
  waiting.join();
}

TEST(SandboxStartTest, AnAddressThatIsNoneFails) {
  SystemClock clock;
  EXPECT_EQ(Sandbox::Start({.host = "no address", .clock = &clock}).status().code(),
            Code::kInvalidArgument);
}

TEST_F(SandboxTest, StrangersFindNothing) {
  const std::string host = "http://" + sandbox_->host_port();
  EXPECT_NE(sandbox_->url(), host + "/");
  for (const char* path :
       {"/", "/control", "/hn/v0/newstories.json", "/0123456789abcdef/control"}) {
    const Result<kit::HttpResponse> answer = outbound().Send({.url = host + path});
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->status, 404) << path;
  }
  const Result<kit::HttpResponse> fault =
      outbound().Send({.method = "POST",
                       .url = host + "/control/faults",
                       .body = R"({"service": "hn", "fault": "error"})"});
  EXPECT_EQ(fault->status, 404);
  EXPECT_TRUE(Fetch("/control").at("faults").empty());
}

TEST_F(SandboxTest, WebPagesAreRefusedEvenIfTheyKnowTheToken) {
  const std::pair<std::string, std::string> foreign[] = {{"origin", "http://127.0.0.1:8080"},
                                                         {"origin", "null"},
                                                         {"sec-fetch-site", "cross-site"},
                                                         {"sec-fetch-site", "same-site"}};
  for (const auto& header : foreign) {
    const Result<kit::HttpResponse> answer = outbound().Send(
        {.method = "DELETE", .url = sandbox_->url() + "/control/faults", .headers = {header}});
    ASSERT_TRUE(answer.ok()) << answer.status().ToString();
    EXPECT_EQ(answer->status, 403) << header.first << " " << header.second;
  }
  // Opened by the user.
  EXPECT_EQ(outbound()
                .Send({.url = sandbox_->url() + "/", .headers = {{"sec-fetch-site", "none"}}})
                ->status,
            200);
}

TEST_F(SandboxTest, StrangersAreRefusedBeforeTheyHaveSentABody) {
  http::TestSocket stranger(port());
  stranger.Send(HeadOf("/0123456789abcdef/hn-site/login"));
  EXPECT_TRUE(stranger.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 404 "));
  http::TestSocket page(port());
  page.Send(HeadOf(PathOf("/hn-site/login"), "Origin: http://127.0.0.1:8080\r\n"));
  EXPECT_TRUE(page.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 403 "));
}

TEST_F(SandboxTest, ABodyIsRefusedWithoutMemory) {
  memory_.emplace(512 * 1024);
  Start({.memory = &*memory_});
  EXPECT_EQ(Send("POST", "/hn-site/login", std::string(600 * 1024, 'x'))->status, 503);
  EXPECT_EQ(Send("POST", "/hn-site/login", "acct=maple&pw=hearth")->status, 302);
}

TEST_F(SandboxTest, ASlowAnswerIsRefusedWithoutMemory) {
  constexpr size_t kFreeBytes = 32 * 1024;
  memory_.emplace(16 * 1024 * 1024);
  Start({.memory = &*memory_});
  const nlohmann::json posts = Fetch("/photos/posts.json?limit=1");
  const std::string picture = "/photos/" + posts[0]["pictures"][0].get<std::string>();
  ASSERT_GT(Send("GET", picture)->body.size(), 2 * kFreeBytes);
  AddFault(R"({"service": "photos", "fault": "slow", "pause_ms": 1})");
  EXPECT_EQ(Send("GET", picture)->status, 200);
  memory_->Take(memory_->bytes_max() - memory_->used_bytes() - kFreeBytes);
  EXPECT_EQ(Send("GET", picture)->status, 503);
}

TEST_F(SandboxTest, UnfinishedBodiesAreClaimedUntilTheirClientsLeave) {
  constexpr size_t kBodyBytes = 500'000;
  memory_.emplace(64 * 1024 * 1024);
  Start({.memory = &*memory_});
  {
    http::TestHttp2Client client(port());
    const auto upload = [&] {
      const int32_t stream = client.Open("POST", PathOf("/control/faults"), {});
      client.SendBody(stream, std::string(kBodyBytes, 'x'));
      while (client.unsent_bytes(stream) > 0 && client.RoundTrip()) {
      }
      return stream;
    };
    std::vector<int32_t> unfinished;
    for (int i = 0; i < 4; ++i) unfinished.push_back(upload());
    ASSERT_TRUE(client.RoundTrip());
    EXPECT_GE(memory_->used_bytes(), 4 * kBodyBytes);
    const int32_t answered = upload();
    client.EndBody(answered);
    ASSERT_TRUE(client.UntilClosed(answered));
    EXPECT_EQ(client.answer(answered).http_status(), 400);
    ASSERT_TRUE(client.RoundTrip());
    EXPECT_LT(memory_->used_bytes(), 5 * kBodyBytes);
    for (const int32_t stream : unfinished) client.Reset(stream);
    ASSERT_TRUE(client.RoundTrip());
    EXPECT_LT(memory_->used_bytes(), kBodyBytes);
  }
  sandbox_.reset();
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(SandboxTest, ABusyConnectionKeepsItsPlaceAndAnIdleOneDoesNot) {
  Start({.connections_max = 2});
  http::TestHttp2Client busy(port());
  http::TestHttp2Client other(port());
  const int32_t stream = busy.Open("POST", PathOf("/control/faults"), {});
  const int32_t other_stream = other.Open("POST", PathOf("/control/faults"), {});
  ASSERT_TRUE(busy.RoundTrip());
  ASSERT_TRUE(other.RoundTrip());
  http::TestSocket refused(port());
  refused.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  ASSERT_EQ(refused.ReadSome(), "");
  other.Reset(other_stream);
  ASSERT_TRUE(other.RoundTrip());
  ASSERT_TRUE(Fetch("/hn/v0/maxitem.json").is_number());
  EXPECT_TRUE(other.UntilConnectionEnds());
  busy.EndBody(stream);
  ASSERT_TRUE(busy.UntilClosed(stream));
  EXPECT_EQ(busy.answer(stream).http_status(), 400);
}

// They have taken all places, and only just now.
TEST_F(SandboxTest, IdleConnectionsOfStrangersKeepNobodyWaiting) {
  std::vector<std::unique_ptr<http::TestSocket>> crowd;
  for (size_t i = 0; i < kConnectionsMax; ++i) {
    crowd.push_back(std::make_unique<http::TestSocket>(port()));
    ASSERT_TRUE(crowd.back()->connected());
  }
  const nlohmann::json ids = Fetch("/hn/v0/newstories.json");
  std::vector<std::string> urls;
  for (size_t i = 0; i < 100; ++i) {
    urls.push_back(sandbox_->url() + "/hn/v0/item/" + std::to_string(ids[i].get<int64_t>()) +
                   ".json");
  }
  for (const Result<nlohmann::json>& item : outbound().FetchAllJson(urls)) {
    EXPECT_TRUE(item.ok()) << item.status().ToString();
  }
}

TEST_F(SandboxTest, ATargetWithoutAPathDoesNoHarm) {
  for (const char* target : {"?x", "*", "http://localhost", "http://localhost?x", "//", "/"}) {
    http::TestSocket socket(port());
    socket.Send("GET " + std::string(target) +
                " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    const std::string answer = socket.ReadToEnd();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << target << ": " << answer;
  }
  Fetch("/hn/v0/maxitem.json");  // It still serves.
}

TEST_F(SandboxTest, TheTokenIsRandomOrGiven) {
  Result<std::unique_ptr<Sandbox>> other = Sandbox::Start({.clock = &clock_});
  ASSERT_TRUE(other.ok());
  const auto token = [](const Sandbox& sandbox) {
    return sandbox.url().substr(sandbox.url().rfind('/') + 1);
  };
  EXPECT_EQ(token(*sandbox_).size(), 32u);
  EXPECT_NE(token(*sandbox_), token(**other));
  other = Sandbox::Start({.clock = &clock_, .token = "0123456789abcdefXY"});
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(token(**other), "0123456789abcdefXY");
  for (const char* bad : {"short", "0123456789abcdef/"}) {
    EXPECT_EQ(Sandbox::Start({.clock = &clock_, .token = bad}).status().code(),
              Code::kInvalidArgument);
  }
}

TEST_F(SandboxTest, OtherMachinesCannotReachIt) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "example.com"}) {
    const Status refused = Sandbox::Start({.host = host, .clock = &clock_}).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << host;
    EXPECT_NE(refused.message().find("loopback"), std::string::npos);
  }
  EXPECT_TRUE(Sandbox::Start({.host = "127.0.0.2", .clock = &clock_}).ok());
}

}  // namespace
}  // namespace hearth::sandbox
