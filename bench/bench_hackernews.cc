// The cost of requests to the Hacker News reader: a year's list without any cache, from the cache's
// documents and from memory; a reader who has hidden 117,000 stories; one worker cycle.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apps/hackernews/collections.h"
#include "apps/hackernews/hackernews.h"
#include "apps/hackernews/story.h"
#include "apps/hackernews/testing/fake_hn.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "client/embedded/embedded.h"
#include "client/remote/remote.h"
#include "client/testing/counting_transport.h"
#include "kit/web/application.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::hackernews {
namespace {

constexpr int64_t kYearMs = 365LL * 24 * 3'600'000;
constexpr char kUser[] = "reader";

struct Options {
  int64_t stories = 20'000;
  int64_t hidden = 117'000;
  size_t rounds = 20;
  std::string firestore;  // Empty: in this process.
};

client::Firestore OpenDatabase(const Options& options, const std::string& folder) {
  Result<client::Firestore> database =
      options.firestore.empty()
          ? client::OpenEmbedded({.data_path = folder + "/data"})
          : client::Connect({.address = options.firestore, .project = "bench-hackernews"});
  CHECK(database.ok());
  return *std::move(database);
}

// The reader with everything it needs, and a count of the documents it reads.
class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        counts_(std::make_shared<client::CountingTransport>(
            OpenDatabase(options, folder_.path()).transport())),
        collections_(client::Firestore(counts_), "dev") {}

  // The state after a restart of the process.
  void Restart() {
    app_.reset();
    Result<std::unique_ptr<kit::Application>> app =
        MakeApplication({.database = collections_.database(),
                         .clock = clock_,
                         .random = random_,
                         .metrics = metrics_,
                         .data_path = folder_.path(),
                         .environment = "dev",
                         .settings = {{"worker_secret", "secret"}},
                         .sandbox_url = hn_.url()});
    CHECK(app.ok());
    app_ = *std::move(app);
  }

  void Fill() {
    std::mt19937_64 random(1);
    client::BulkWriter writer = collections_.database().Bulk();
    for (int64_t id = 1; id <= options_.stories; ++id) {
      StoryItem item;
      item.story.id = id;
      item.story.by = "author" + std::to_string(random() % 1'000);
      item.story.title =
          "A story of the usual length about something, number " + std::to_string(id);
      item.story.url =
          "https://site" + std::to_string(random() % 100) + ".example/" + std::to_string(random());
      item.story.score = static_cast<int64_t>(random() % 1'000);
      item.story.time_ms =
          NowMs() - (kYearMs - 60'000) * (options_.stories - id) / options_.stories;
      item.kids.assign(20, id);
      writer.Set(collections_.stories().Doc(PaddedId(id)),
                 ToDocument(item, client::Timestamp::FromMicros((NowMs() - 100'000'000) * 1'000)));
    }
    for (int64_t i = 0; i < options_.hidden; ++i) {
      writer.Set(collections_.hidden(kUser).Doc(std::to_string(i * 3)),
                 {{"addedAt", NowMs() - 86'400'000}});
    }
    CHECK(writer.Flush().ok());
  }

  // `before` runs before each round and is not measured.
  void Measure(const std::string& name, size_t rounds, const std::function<void()>& before,
               const std::function<void()>& work) {
    std::vector<double> milliseconds;
    uint64_t reads = 0;
    for (size_t i = 0; i < rounds; ++i) {
      before();
      counts_->Reset();
      const auto start = std::chrono::steady_clock::now();
      work();
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      milliseconds.push_back(took.count());
      reads = counts_->reads();
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf("| %s | %.2f ms | %.2f ms | %llu |\n", name.c_str(),
                milliseconds[milliseconds.size() / 2], milliseconds.back(),
                static_cast<unsigned long long>(reads));
    std::fflush(stdout);
  }

  kit::Response Send(const std::string& method, const std::string& target,
                     const std::string& body = "", const std::string& cookie = "") {
    http::RequestHead head;
    head.set_method(method);
    head.set_target(target);
    head.AddHeader("x-worker-secret", "secret");
    if (!cookie.empty()) head.AddHeader("cookie", cookie);
    const std::string path(head.path());
    kit::Response response =
        app_->routes().Answer(kit::Request(std::move(head), body, path, "127.0.0.1"));
    CHECK(response.status == 200);
    return response;
  }

  void ForgetLists() {
    for (const char* name : {"Day", "Week", "Month", "Year", "All"}) {
      CHECK(collections_.cache().Doc(name).Delete().ok());
    }
    Restart();
  }

  std::string SignIn() {
    const kit::Response response =
        Send("POST", "/api/v1/login", R"({"acct": "reader", "pw": "secret"})");
    for (const auto& header : response.headers) {
      if (header.first == "set-cookie") return header.second.substr(0, header.second.find(';'));
    }
    CHECK(false);
  }

  void Run();

 private:
  int64_t NowMs() const { return clock_.WallMicros() / 1'000; }

  const Options options_;
  const storage::TemporaryFolder folder_;
  const SystemClock clock_;
  RandomSource random_;
  Metrics metrics_;
  FakeHn hn_;
  std::shared_ptr<client::CountingTransport> counts_;  // Shared with the database's handle.
  Collections collections_;
  std::unique_ptr<kit::Application> app_;
};

void Bench::Run() {
  Restart();
  Fill();
  const auto year = [this] { Send("GET", "/api/v1/stories?timespan=Year"); };
  const auto nothing = [] {};
  std::printf("| request | median | worst | documents read |\n|---|---|---|---|\n");
  Measure(
      "Year, nothing cached", 5, [this] { ForgetLists(); }, year);
  Measure(
      "Year, from the cache's documents", options_.rounds, [this] { Restart(); }, year);
  Measure("Year, from memory", options_.rounds, nothing, year);

  const std::string cookie = SignIn();
  const auto mine = [&] { Send("GET", "/api/v1/stories?timespan=Year", "", cookie); };
  Measure(
      "Year, with many hidden, after a restart", 5, [this] { Restart(); }, mine);
  Measure("Year, with many hidden", options_.rounds, nothing, mine);
  Measure("hiding one more", options_.rounds, nothing,
          [&] { Send("POST", "/api/v1/hidden", R"({"hidden": 1})", cookie); });
  Measure("all hidden ids", options_.rounds, nothing,
          [&] { Send("GET", "/api/v1/hidden", "", cookie); });

  for (int64_t i = 1; i <= 500; ++i) hn_.AddStory(options_.stories + i, NowMs() - i * 1'000, i);
  Measure("worker: 500 new stories and the stale ones", 1, nothing,
          [this] { Send("POST", "/api/v1/worker"); });
  Measure("worker: nothing new", 3, nothing, [this] { Send("POST", "/api/v1/worker"); });
}

}  // namespace
}  // namespace hearth::hackernews

int main(int argc, char** argv) {
  CLI::App app("Measures the Hacker News reader.");
  hearth::hackernews::Options options;
  app.add_option("--stories", options.stories, "Stories of one year")->capture_default_str();
  app.add_option("--hidden", options.hidden, "Stories hidden by one user")->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds of quick requests")->capture_default_str();
  app.add_option("--firestore", options.firestore, "HOST:PORT; default: in this process");
  CLI11_PARSE(app, argc, argv);
  hearth::hackernews::Bench(options).Run();
  return 0;
}
