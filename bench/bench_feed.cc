// The cost of the photo feed: pages from the cache, cold starts, a post by an author with very many
// followers, and a mix of requests over HTTP. Each is measured with the cache in this process and
// in Redis.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/core/feed_core.h"
#include "apps/feed/feed.h"
#include "apps/feed/queue/document_feed_queue.h"
#include "apps/feed/redis/redis_client.h"
#include "apps/feed/redis/redis_feed_cache.h"
#include "apps/feed/redis/redis_feed_queue.h"
#include "apps/feed/testing/redis_server.h"
#include "base/check.h"
#include "client/embedded/embedded.h"
#include "client/remote/remote.h"
#include "client/testing/counting_transport.h"
#include "feed_data.h"
#include "feed_load.h"
#include "feed_measure.h"
#include "feed_report.h"
#include "http/server.h"
#include "kit/web/app_service.h"
#include "storage/testing/temporary_folder.h"

namespace hearth::feed {
namespace {

using std::chrono::steady_clock;

constexpr char kEnvironment[] = "bench";
constexpr char kSecret[] = "a secret that only this benchmark knows";
// Indexes are built in the background after queries had to scan without them.
constexpr std::chrono::seconds kIndexesSettle{4};
constexpr std::chrono::milliseconds kPollEvery{1};
constexpr size_t kColdRounds = 5;
// The caches alternate under load, so that other work on the machine does not affect only one.
constexpr size_t kLoadTurns = 4;

struct Options {
  FeedSize size;
  size_t warm_followers = 20'000;
  size_t cached_posts = 50;  // Per cache.
  size_t rounds = 2'000;
  LoadOptions load;
  std::string firestore;  // Empty: in this process.
};

bool HasRedisServer() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (std::filesystem::exists(folder + "/redis-server")) return true;
  }
  return false;
}

client::Firestore OpenDatabase(const Options& options, const std::string& folder) {
  Result<client::Firestore> database =
      options.firestore.empty()
          ? client::OpenEmbedded({.data_path = folder + "/data"})
          : client::Connect({.address = options.firestore, .project = "bench-feed"});
  CHECK(database.ok());
  return *std::move(database);
}

// The feed without a web server, on one kind of cache, in the state after a process start.
struct Feed {
  Metrics metrics;
  std::unique_ptr<RedisClient> redis;  // Null: in memory.
  std::unique_ptr<FeedCore> core;

  std::vector<Post> Page(UserId user, const std::optional<PostKey>& before = std::nullopt) const {
    Result<PostPage> page = core->ReadHome(user, before);
    CHECK(page.ok());
    return std::move(page->posts);
  }
  FeedCache::Mark Mark() const {
    Result<FeedCache::Mark> mark = EnsureMark(core->cache(), core->posts());
    CHECK(mark.ok());
    return *std::move(mark);
  }
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        counts_(std::make_shared<client::CountingTransport>(
            OpenDatabase(options, folder_.path()).transport())),
        collections_(client::Firestore(counts_), kEnvironment),
        data_(clock_, collections_, options.size) {}

  void Run();

 private:
  std::unique_ptr<Feed> Open(FanOutOptions fan_out = {});
  void Add(const std::string& name, const std::string& unit, std::optional<double> value) {
    report_.Add(kind_, name, unit, value);
  }

  void SettleIndexes();
  void MeasureAlone();
  void MeasurePages();
  void MeasurePagesOf(const Feed& feed, const std::string& who, size_t rounds,
                      const std::function<UserId(size_t)>& reader);
  void MeasureColdStart();
  void MeasureDatabasePage();
  // Reports the median time of `work`, with `before` run first, and the documents and queries of
  // the last round.
  void MeasureReads(const std::string& name, const std::function<void()>& before,
                    const std::function<void()>& work);
  void MeasurePush();
  void MeasurePull();
  void WarmFollowers(const Feed& feed);
  // A post by the popular author: the time until a reader sees it, and until all caches have it.
  void MeasurePost(const Feed& feed, const std::string& how);
  // One turn of requests over HTTP; ReportLoad adds up all turns of one cache.
  void TakeLoad();
  void ReportLoad();
  // The memory that Redis uses; nullopt without Redis.
  std::optional<double> RedisMb();

  const Options options_;
  const storage::TemporaryFolder folder_;
  const SystemClock clock_;
  RandomSource random_;
  std::shared_ptr<client::CountingTransport> counts_;  // Shared with the database's handle.
  const Collections collections_;
  FeedData data_;
  FeedReport report_;
  std::unique_ptr<RedisServer> redis_;   // Null if not installed.
  CacheKind kind_ = CacheKind::kMemory;  // The cache being measured.
  LoadReport loads_[2];                  // By cache.
  int64_t turns_ = 0;
};

std::unique_ptr<Feed> Bench::Open(FanOutOptions fan_out) {
  auto feed = std::make_unique<Feed>();
  std::unique_ptr<FeedCache> cache;
  std::unique_ptr<FeedQueue> queue;
  if (kind_ == CacheKind::kRedis) {
    feed->redis = std::make_unique<RedisClient>(clock_, feed->metrics,
                                                std::vector<RedisAddress>{redis_->address()});
    cache = std::make_unique<RedisFeedCache>(*feed->redis, random_);
    queue = std::make_unique<RedisFeedQueue>(*feed->redis);
  } else {
    cache = std::make_unique<MemoryFeedCache>(clock_, random_);
    queue = std::make_unique<DocumentFeedQueue>(clock_, collections_);
  }
  feed->core = std::make_unique<FeedCore>(FeedCore::Parts{.clock = clock_,
                                                          .random = random_,
                                                          .metrics = feed->metrics,
                                                          .collections = collections_,
                                                          .cache = std::move(cache),
                                                          .queue = std::move(queue)},
                                          fan_out);
  return feed;
}

void Bench::Run() {
  Progress("filling the database");
  data_.Fill();
  Progress("waiting for the indexes");
  SettleIndexes();
  std::vector<CacheKind> kinds = {CacheKind::kMemory};
  if (HasRedisServer()) {
    redis_ = std::make_unique<RedisServer>();
    kinds.push_back(CacheKind::kRedis);
  } else {
    Progress("no redis-server in the path: the cache in Redis is left out");
  }
  for (const CacheKind kind : kinds) {
    kind_ = kind;
    Progress(kind == CacheKind::kRedis ? "cache in Redis" : "cache in process");
    MeasureAlone();
  }
  for (size_t turn = 0; turn < kLoadTurns; ++turn) {
    for (const CacheKind kind : kinds) {
      kind_ = kind;
      Progress(std::string("requests over HTTP, cache in ") +
               (kind == CacheKind::kRedis ? "Redis" : "process"));
      TakeLoad();
    }
  }
  for (const CacheKind kind : kinds) {
    kind_ = kind;
    ReportLoad();
  }
  report_.Print();
}

void Bench::SettleIndexes() {
  const steady_clock::time_point end = steady_clock::now() + kIndexesSettle;
  while (steady_clock::now() < end) {
    const std::unique_ptr<Feed> feed = Open();
    feed->Page(data_.FollowerOfThousand());
    CHECK(feed->core->posts().ListAfter(PostId{data_.size().posts - 1}, 1).ok());
    CHECK(feed->core->posts().ListOf(FeedData::kPopular, std::nullopt, 1).ok());
  }
}

void Bench::MeasureAlone() {
  // An author switched to pull stays that way, so undo what the previous cache's run did.
  CHECK(collections_.pulled_authors().Delete().ok());
  Progress("  pages");
  MeasurePages();
  Progress("  cold starts");
  MeasureColdStart();
  MeasureDatabasePage();
  Progress("  a post, pushed");
  MeasurePush();
  Progress("  a post, pulled");
  MeasurePull();
}

void Bench::MeasurePages() {
  const std::unique_ptr<Feed> feed = Open();
  for (int64_t i = 0; i < options_.size.readers; ++i) feed->Page(data_.Reader(i));
  feed->Page(data_.FollowerOfAll());
  MeasurePagesOf(*feed, "warm page, following " + std::to_string(options_.size.followed),
                 options_.rounds,
                 [this](size_t i) { return data_.Reader(static_cast<int64_t>(i)); });
  MeasurePagesOf(*feed, "warm page, following " + std::to_string(options_.size.authors),
                 options_.rounds / 4, [this](size_t) { return data_.FollowerOfAll(); });
}

void Bench::MeasurePagesOf(const Feed& feed, const std::string& who, size_t rounds,
                           const std::function<UserId(size_t)>& reader) {
  std::vector<double> firsts;
  std::vector<double> seconds;
  uint64_t first_reads = 0;
  uint64_t second_reads = 0;
  for (size_t i = 0; i < rounds; ++i) {
    const UserId user = reader(i);
    std::vector<Post> posts;
    counts_->Reset();
    firsts.push_back(MillisecondsOf([&] { posts = feed.Page(user); }));
    first_reads += counts_->reads();
    CHECK(posts.size() == HomeFeed::kPageSize);
    counts_->Reset();
    seconds.push_back(MillisecondsOf([&] { feed.Page(user, posts.back().key); }));
    second_reads += counts_->reads();
  }
  const auto mean = [&](uint64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(rounds);
  };
  Add(who + ": p50", "ms", PercentileOf(firsts, 0.5));
  Add(who + ": p99", "ms", PercentileOf(firsts, 0.99));
  Add(who + ": documents read", "", mean(first_reads));
  Add(who + ", second page: p50", "ms", PercentileOf(seconds, 0.5));
  Add(who + ", second page: p99", "ms", PercentileOf(seconds, 0.99));
  Add(who + ", second page: documents read", "", mean(second_reads));
}

void Bench::MeasureReads(const std::string& name, const std::function<void()>& before,
                         const std::function<void()>& work) {
  std::vector<double> milliseconds;
  for (size_t i = 0; i < kColdRounds; ++i) {
    before();
    counts_->Reset();
    milliseconds.push_back(MillisecondsOf(work));
  }
  Add(name + ": median", "ms", PercentileOf(milliseconds, 0.5));
  Add(name + ": documents read", "", static_cast<double>(counts_->reads()));
  Add(name + ": queries", "", static_cast<double>(counts_->queries()));
}

void Bench::MeasureColdStart() {
  const UserId user = data_.FollowerOfThousand();
  std::unique_ptr<Feed> feed;
  const auto drop = [&] { CHECK(feed->core->cache().Drop(user).ok()); };
  const auto read = [&] { feed->Page(user); };
  const std::string name = "cold start, 500 posts of 1000 followed";
  MeasureReads(
      name + ", after a restart",
      [&] {
        feed = Open();
        drop();
      },
      read);
  MeasureReads(name + ", order known", drop, read);
}

void Bench::MeasureDatabasePage() {
  const Result<Following> following = FollowStore(clock_, collections_).Get(data_.FollowerOfAll());
  CHECK(following.ok());
  std::unique_ptr<Feed> feed = Open();
  const auto find = [&] {
    CHECK(feed->core->followed_posts()
              .Find(following->ids, std::nullopt, HomeFeed::kPageSize + 1)
              .ok());
  };
  const std::string name =
      "page of " + std::to_string(following->ids.size()) + " followed from the database";
  MeasureReads(
      name + ", after a restart", [&] { feed = Open(); }, find);
  MeasureReads(
      name + ", order known", [] {}, find);
}

void Bench::MeasurePush() {
  const std::unique_ptr<Feed> feed =
      Open({.pushed_followers_max = std::numeric_limits<int64_t>::max()});
  ResetPeak();
  const double before = RedisMb().value_or(MemoryMb("VmRSS:"));
  WarmFollowers(*feed);
  const double after = RedisMb().value_or(MemoryMb("VmRSS:"));
  Add("memory of " + std::to_string(options_.warm_followers) + " warm caches of " +
          std::to_string(options_.cached_posts) + " posts",
      "MB", after - before);
  MeasurePost(*feed, "post pushed to " + std::to_string(options_.size.followers) + " followers");
}

void Bench::MeasurePull() {
  const std::unique_ptr<Feed> feed = Open({.pushed_followers_max = options_.size.followers - 1});
  MeasurePost(*feed, "post pulled by " + std::to_string(options_.size.followers) + " followers");
  feed->Page(data_.Reader(0));
  std::vector<double> milliseconds;
  for (size_t i = 0; i < options_.rounds / 4; ++i) {
    counts_->Reset();
    milliseconds.push_back(MillisecondsOf([&] { feed->Page(data_.Reader(0)); }));
  }
  Add("warm page with one author pulled: p50", "ms", PercentileOf(milliseconds, 0.5));
  Add("warm page with one author pulled: documents read", "",
      static_cast<double>(counts_->reads()));
}

void Bench::WarmFollowers(const Feed& feed) {
  const FeedCache::Mark mark = feed.Mark();
  const size_t count = std::min(options_.cached_posts, data_.posts().size());
  const std::vector<PostKey> newest(data_.posts().rbegin(),
                                    data_.posts().rbegin() + static_cast<ptrdiff_t>(count));
  FeedCache& cache = feed.core->cache();
  for (const UserId user : data_.OtherFollowers(options_.warm_followers)) {
    const Result<std::string> ticket = cache.BeginWarming(mark.epoch, user);
    CHECK(ticket.ok());
    CHECK(cache.FinishWarming(user, *ticket, 1, newest).ok());
  }
}

void Bench::MeasurePost(const Feed& feed, const std::string& how) {
  const Result<User> author = feed.core->users().Get(FeedData::kPopular);
  CHECK(author.ok());
  const UserId reader = data_.Reader(0);
  feed.Page(reader);
  feed.core->fan_out().Start();
  ResetPeak();
  const double resident = MemoryMb("VmRSS:");
  const std::optional<double> redis_before = RedisMb();
  counts_->Reset();

  const steady_clock::time_point start = steady_clock::now();
  const auto since_start = [&] {
    return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
  };
  const Result<Post> post = feed.core->CreatePost(*author, "Look at this", {});
  CHECK(post.ok());
  const double created = since_start();
  while (feed.Page(reader).front().key != post->key) std::this_thread::sleep_for(kPollEvery);
  const double seen = since_start();
  while (feed.Mark().newest < post->key) std::this_thread::sleep_for(kPollEvery);
  const double pushed = since_start();

  Add(how + ": created", "ms", created);
  Add(how + ": seen by a reader", "ms", seen);
  Add(how + ": fan-out finished", "ms", pushed);
  Add(how + ": documents read", "", static_cast<double>(counts_->reads()));
  Add(how + ": peak memory growth of this process", "MB", MemoryMb("VmHWM:") - resident);
  std::optional<double> redis_growth;
  if (redis_before) redis_growth = *RedisMb() - *redis_before;
  Add(how + ": memory growth of Redis", "MB", redis_growth);
  feed.core->fan_out().Stop();
}

std::optional<double> Bench::RedisMb() {
  if (kind_ != CacheKind::kRedis) return std::nullopt;
  const std::string info = redis_->Command({"INFO", "memory"}).text;
  constexpr std::string_view kField = "used_memory:";
  const size_t place = info.find(kField);
  CHECK(place != std::string::npos);
  return std::stod(info.substr(place + kField.size())) / 1'000'000;
}

void Bench::TakeLoad() {
  // The other cache's turn created posts that Redis does not know.
  if (kind_ == CacheKind::kRedis) redis_->Flush();
  Metrics metrics;
  nlohmann::json settings = {{"session_secret", kSecret}};
  if (kind_ == CacheKind::kRedis) settings["redis"] = redis_->address().ToString();
  const Result<std::unique_ptr<kit::Application>> app =
      MakeApplication({.database = collections_.database(),
                       .clock = clock_,
                       .random = random_,
                       .metrics = metrics,
                       .data_path = folder_.path(),
                       .environment = kEnvironment,
                       .settings = settings,
                       .sandbox_url = ""});
  CHECK(app.ok() && (*app)->Start().ok());
  kit::AppService service({.name = "feed"}, (*app)->routes(), clock_, metrics);
  http::Server server({.listen = {{.host = "127.0.0.1", .port = 0}}}, service);
  CHECK(server.Start().ok());

  LoadOptions load = options_.load;
  load.duration /= kLoadTurns;
  load.url = "http://127.0.0.1:" + std::to_string(server.addresses().front().port);
  const Result<kit::SessionSigner> signer = kit::SessionSigner::Make(kSecret, clock_);
  CHECK(signer.ok());
  const Tokens tokens(clock_, collections_, *signer);
  WarmReaders(load, data_, tokens);
  loads_[static_cast<size_t>(kind_)].Merge(SendMixedLoad(load, data_, tokens, turns_++));
  server.Drain(std::chrono::seconds(10));
  (*app)->Stop();
}

void Bench::ReportLoad() {
  const LoadReport& report = loads_[static_cast<size_t>(kind_)];
  size_t answered = 0;
  const char* kinds[kRequestKinds] = {"pages", "likes", "comments", "posts"};
  for (size_t kind = 0; kind < kRequestKinds; ++kind) answered += report.milliseconds[kind].size();
  Add("requests over HTTP, " + std::to_string(std::lround(options_.load.requests_per_second)) +
          "/s requested: achieved",
      "/s", static_cast<double>(answered) / report.seconds);
  Add("requests over HTTP: errors", "", static_cast<double>(report.errors));
  for (size_t kind = 0; kind < kRequestKinds; ++kind) {
    if (report.milliseconds[kind].empty()) continue;
    const std::string name = std::string("requests over HTTP, ") + kinds[kind];
    Add(name + ": p50", "ms", PercentileOf(report.milliseconds[kind], 0.5));
    Add(name + ": p99", "ms", PercentileOf(report.milliseconds[kind], 0.99));
  }
}

}  // namespace
}  // namespace hearth::feed

int main(int argc, char** argv) {
  CLI::App app("Measures the photo feed.");
  hearth::feed::Options options;
  double seconds = std::chrono::duration<double>(options.load.duration).count();
  app.add_option("--authors", options.size.authors, "Authors that one account follows")
      ->check(CLI::Range(1'000, 10'000))
      ->capture_default_str();
  app.add_option("--posts", options.size.posts, "Posts of one month")
      ->check(CLI::Range(1'000, 10'000'000))
      ->capture_default_str();
  app.add_option("--followers", options.size.followers, "Followers of the popular author")
      ->check(CLI::Range(1'000, 10'000'000))
      ->capture_default_str();
  app.add_option("--warm", options.warm_followers, "With a warm cache")->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds of quick requests")
      ->check(CLI::Range(100, 1'000'000))
      ->capture_default_str();
  app.add_option("--rate", options.load.requests_per_second, "HTTP requests per second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seconds", seconds, "Duration of the HTTP load")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--firestore", options.firestore, "HOST:PORT; default: in this process");
  CLI11_PARSE(app, argc, argv);
  options.load.duration = std::chrono::milliseconds(std::lround(seconds * 1'000));
  hearth::feed::Bench(options).Run();
  return 0;
}
