#include "apps/feed/feed.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/feed/api/api.h"
#include "apps/feed/cache/memory_feed_cache.h"
#include "apps/feed/core/feed_core.h"
#include "apps/feed/demo.h"
#include "apps/feed/media/media_store.h"
#include "apps/feed/media/picture_removal.h"
#include "apps/feed/queue/document_feed_queue.h"
#include "apps/feed/redis/redis_address.h"
#include "apps/feed/redis/redis_client.h"
#include "apps/feed/redis/redis_feed_cache.h"
#include "apps/feed/redis/redis_feed_queue.h"
#include "apps/feed/stores/tokens.h"
#include "base/status_macros.h"
#include "feed_assets.h"
#include "kit/jobs/scheduler.h"
#include "kit/outbound/outbound.h"
#include "kit/outbound/outbound_url.h"
#include "kit/web/json_fields.h"
#include "kit/web/session.h"

namespace hearth::feed {
namespace {

constexpr char kDemoJob[] = "demo";
constexpr char kPicturesJob[] = "pictures";
constexpr char kEveryMinute[] = "* * * * *";

struct Settings {
  std::vector<RedisAddress> redis;  // Empty: no Redis.
  FanOutOptions fan_out;
  LimitOptions limits;
  bool has_demo = false;
  std::optional<std::string> session_secret;
  std::string operator_secret;
};

Result<Settings> ReadSettings(const kit::AppContext& context) {
  Settings settings;
  settings.has_demo = !context.sandbox_url.empty();
  kit::JsonFields fields(context.settings);
  if (const auto redis = fields.OptionalText("redis", {})) {
    Result<std::vector<RedisAddress>> addresses = ParseRedisAddresses(*redis);
    if (!addresses.ok()) return addresses.status().While("reading the setting redis");
    settings.redis = *std::move(addresses);
  }
  if (const auto count = fields.OptionalInteger("pushed_followers_max", {.min = 0})) {
    settings.fan_out.pushed_followers_max = *count;
  }
  if (const auto count = fields.OptionalInteger("fan_out_threads", {.min = 1, .max = 64})) {
    settings.fan_out.threads = static_cast<size_t>(*count);
  }
  if (const auto seconds = fields.OptionalInteger("repair_seconds", {.min = 1, .max = 86'400})) {
    settings.fan_out.repair_period = std::chrono::seconds(*seconds);
  }
  const std::pair<const char*, size_t*> limits[] = {
      {"registrations_per_hour", &settings.limits.registrations_per_hour},
      {"failed_sign_ins_per_address", &settings.limits.failed_sign_ins_per_address},
      {"posts_per_hour", &settings.limits.posts_per_hour},
      {"comments_per_hour", &settings.limits.comments_per_hour}};
  for (const auto& [name, limit] : limits) {
    if (const auto count = fields.OptionalInteger(name, {.min = 1})) {
      *limit = static_cast<size_t>(*count);
    }
  }
  if (context.settings.contains("demo")) settings.has_demo = fields.Boolean("demo");
  settings.session_secret = fields.OptionalText("session_secret", {.characters_min = 32});
  settings.operator_secret =
      fields.OptionalText("operator_secret", {.characters_min = 16}).value_or("");
  fields.RefuseOthers();
  RETURN_IF_ERROR(fields.status());
  if (settings.has_demo && context.sandbox_url.empty()) {
    return InvalidArgument("demo needs the sandbox, which is not running");
  }
  return settings;
}

kit::OutboundOptions PhotosOptions(const std::string& sandbox_url) {
  kit::OutboundOptions options;
  options.name = "photos";
  options.concurrent_max = 2;
  if (!sandbox_url.empty()) {
    options.private_hosts_allowed = {kit::HostPortOf(sandbox_url)};
  }
  return options;
}

// Redis and its users.
struct Backends {
  std::unique_ptr<RedisClient> redis;  // Null without Redis.
  std::unique_ptr<FeedCache> cache;
  std::unique_ptr<FeedQueue> queue;
};

Backends MakeBackends(const kit::AppContext& context, const Collections& collections,
                      const Settings& settings) {
  Backends backends;
  if (settings.redis.empty()) {
    backends.cache = std::make_unique<MemoryFeedCache>(context.clock, context.random);
    backends.queue = std::make_unique<DocumentFeedQueue>(context.clock, collections);
    return backends;
  }
  backends.redis = std::make_unique<RedisClient>(context.clock, context.metrics, settings.redis);
  backends.cache = std::make_unique<RedisFeedCache>(*backends.redis, context.random);
  backends.queue = std::make_unique<RedisFeedQueue>(*backends.redis);
  return backends;
}

class Feed final : public kit::Application {
 public:
  Feed(kit::AppContext context, const Settings& settings, kit::Schedule every_minute,
       kit::SessionSigner signer)
      : context_(std::move(context)),
        collections_(context_.database, context_.environment),
        backends_(MakeBackends(context_, collections_, settings)),
        core_({.clock = context_.clock,
               .random = context_.random,
               .metrics = context_.metrics,
               .collections = collections_,
               .cache = std::move(backends_.cache),
               .queue = std::move(backends_.queue)},
              settings.fan_out),
        media_(context_.clock, context_.data_path + "/media", {.memory = context_.memory}),
        removal_(context_.clock, collections_, media_),
        signer_(std::move(signer)),
        tokens_(context_.clock, collections_, signer_),
        api_({.clock = context_.clock,
              .core = core_,
              .tokens = tokens_,
              .signer = signer_,
              .media = media_,
              .removal = removal_,
              .limits = settings.limits,
              .memory = context_.memory,
              .operator_secret = settings.operator_secret}),
        photos_(PhotosOptions(context_.sandbox_url), context_.clock, context_.random,
                context_.metrics),
        demo_(context_.sandbox_url + "/photos", collections_, core_, media_, photos_),
        scheduler_(context_.clock),
        has_demo_(settings.has_demo) {
    api_.AddTo(&routes_);
    routes_.AddAssets(FeedAssets());
    scheduler_.Add(kPicturesJob, every_minute,
                   [this](const std::atomic<bool>& stopping) { return removal_.Run(stopping); });
    if (!has_demo_) return;
    scheduler_.Add(kDemoJob, std::move(every_minute),
                   [this](const std::atomic<bool>& stopping) { return demo_.Run(stopping); });
  }
  ~Feed() override { Stop(); }

  const kit::AppInfo& info() const override { return info_; }
  const kit::Routes& routes() const override { return routes_; }

  Status Start() override {
    core_.fan_out().Start();
    scheduler_.Start();
    if (has_demo_) {
      first_run_ = std::thread(
          [this] { IgnoreError(scheduler_.RunNow(kDemoJob), "logged by the scheduler"); });
    }
    return Status();
  }

  void Stop() override {
    photos_.Stop();
    scheduler_.Stop();
    if (first_run_.joinable()) first_run_.join();
    core_.fan_out().Stop();
  }

  std::vector<kit::Fact> Facts() override {
    std::vector<kit::Fact> facts;
    if (!core_.cache().ReadMark().ok()) facts.push_back({"Redis", "cannot be reached"});
    return facts;
  }

 private:
  const kit::AppInfo info_ = {
      .name = "feed",
      .title = "Photo feed",
      .summary = "Pictures by the people you follow, newest first, none lost and none twice."};
  const kit::AppContext context_;
  const Collections collections_;
  Backends backends_;
  FeedCore core_;
  MediaStore media_;
  PictureRemoval removal_;
  const kit::SessionSigner signer_;
  Tokens tokens_;
  Api api_;
  kit::Outbound photos_;
  Demo demo_;
  kit::Routes routes_;
  kit::Scheduler scheduler_;
  const bool has_demo_;
  std::thread first_run_;
};

}  // namespace

Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context) {
  ASSIGN_OR_RETURN(Settings settings, ReadSettings(context));
  ASSIGN_OR_RETURN(kit::Schedule every_minute, kit::Schedule::Parse(kEveryMinute, "UTC"));
  if (!settings.session_secret) {
    ASSIGN_OR_RETURN(settings.session_secret,
                     kit::LoadOrMakeSecret(context.data_path + "/session.key"));
  }
  ASSIGN_OR_RETURN(kit::SessionSigner signer,
                   kit::SessionSigner::Make(*settings.session_secret, context.clock));
  return std::unique_ptr<kit::Application>(std::make_unique<Feed>(
      std::move(context), settings, std::move(every_minute), std::move(signer)));
}

}  // namespace hearth::feed
