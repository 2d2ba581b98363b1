#include "apps/hackernews/hackernews.h"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/hackernews/api.h"
#include "apps/hackernews/hidden_stories.h"
#include "apps/hackernews/hn_source.h"
#include "apps/hackernews/story_lists.h"
#include "apps/hackernews/story_store.h"
#include "apps/hackernews/worker.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/status_macros.h"
#include "hackernews_assets.h"
#include "kit/jobs/scheduler.h"
#include "kit/outbound/outbound_url.h"
#include "kit/web/json_fields.h"

namespace hearth::hackernews {
namespace {

constexpr char kWorkerJob[] = "sync";
constexpr char kEveryHalfHour[] = "*/30 * * * *";

// The sandbox accepts any name with this password (apps/sandbox/README.md).
constexpr char kDemoAccount[] = "demo";
constexpr char kDemoPassword[] = "hearth";

struct Settings {
  HnSourceOptions source;
  SiteLinks links;
  std::string worker_schedule = kEveryHalfHour;
  std::string worker_secret;
  std::optional<std::string> session_secret;
  size_t failed_sign_ins_per_address = kit::SignInLimits::kAddressFailuresMaxDefault;
};

// The sandbox's Hacker News.
HnSourceOptions SandboxOptions(const std::string& url) {
  return {.api_url = url + "/hn",
          .site_url = url + "/hn-site",
          .private_hosts_allowed = {kit::HostPortOf(url)}};
}

// `sandbox_url` is empty without a sandbox. Settings may name another API or another site.
SiteLinks LinksOf(const HnSourceOptions& source, const std::string& sandbox_url) {
  const bool is_made_up = !sandbox_url.empty() &&
                          source.api_url == SandboxOptions(sandbox_url).api_url &&
                          source.site_url == SandboxOptions(sandbox_url).site_url;
  if (!is_made_up) return {.item_url = source.site_url + "/item?id="};
  return {.item_url = "sandbox/item?id=",
          .article_url = "sandbox/article?id=",
          .is_made_up = true,
          .demo_account = kDemoAccount,
          .demo_password = kDemoPassword};
}

Result<Settings> ReadSettings(const kit::AppContext& context) {
  Settings settings;
  if (!context.sandbox_url.empty()) settings.source = SandboxOptions(context.sandbox_url);
  kit::JsonFields fields(context.settings);
  if (auto url = fields.OptionalText("api_url", {})) settings.source.api_url = *std::move(url);
  if (auto url = fields.OptionalText("site_url", {})) settings.source.site_url = *std::move(url);
  if (auto pause = fields.OptionalInteger("retry_pause_ms", {.min = 0, .max = 60'000})) {
    settings.source.retry_pause = std::chrono::milliseconds(*pause);
  }
  if (auto cron = fields.OptionalText("worker_schedule", {})) {
    settings.worker_schedule = *std::move(cron);
  }
  settings.worker_secret = fields.OptionalText("worker_secret", {}).value_or("");
  settings.session_secret = fields.OptionalText("session_secret", {.characters_min = 32});
  if (auto count = fields.OptionalInteger("failed_sign_ins_per_address", {.min = 1})) {
    settings.failed_sign_ins_per_address = static_cast<size_t>(*count);
  }
  fields.RefuseOthers();
  RETURN_IF_ERROR(fields.status());
  settings.links = LinksOf(settings.source, context.sandbox_url);
  return settings;
}

// "2026-11-15T11:41:43Z", or null for 0.
nlohmann::json IsoTextOrNull(int64_t micros) {
  if (micros == 0) return nullptr;
  return client::Timestamp::FromMicros(micros / 1'000'000 * 1'000'000).ToString();
}

class Hackernews final : public kit::Application {
 public:
  Hackernews(kit::AppContext context, Settings settings, kit::Schedule schedule,
             kit::SessionSigner sessions)
      : context_(std::move(context)),
        collections_(context_.database, context_.environment),
        source_(settings.source, context_.clock, context_.random, context_.metrics),
        store_(collections_),
        lists_(context_.clock, store_, collections_),
        hidden_(context_.clock, collections_),
        worker_(context_.clock, source_, store_, lists_),
        sessions_(std::move(sessions)),
        is_made_up_(settings.links.is_made_up),
        api_({.clock = context_.clock,
              .collections = collections_,
              .source = source_,
              .lists = lists_,
              .hidden = hidden_,
              .sessions = sessions_,
              .links = settings.links,
              .worker_secret = settings.worker_secret,
              .failed_sign_ins_per_address = settings.failed_sign_ins_per_address,
              .run_worker = [this] { return RunWorkerNow(); },
              .status = [this] { return StatusJson(); },
              .operator_status = [this] { return OperatorStatusJson(); }}),
        scheduler_(context_.clock) {
    api_.AddTo(&routes_);
    routes_.AddAssets(HackernewsAssets());
    scheduler_.Add(kWorkerJob, std::move(schedule), [this](const std::atomic<bool>& stopping) {
      const Result<SyncReport> report = worker_.Run(stopping);
      Note(report);
      return report.status();
    });
  }
  ~Hackernews() override { Stop(); }

  const kit::AppInfo& info() const override { return info_; }
  const kit::Routes& routes() const override { return routes_; }

  Status Start() override {
    scheduler_.Start();
    // An empty reader should not wait for the next scheduled run.
    first_run_ = std::thread(
        [this] { IgnoreError(scheduler_.RunNow(kWorkerJob), "recorded in the job's status"); });
    return Status();
  }

  void Stop() override {
    source_.Stop();
    scheduler_.Stop();
    if (first_run_.joinable()) first_run_.join();
  }

  std::vector<kit::Fact> Facts() override {
    std::vector<kit::Fact> facts;
    if (is_made_up_) facts.push_back({"source", "sandbox"});
    if (!source_.health().is_ok) facts.push_back({"Hacker News", "cannot be reached"});
    return facts;
  }

 private:
  Result<nlohmann::json> RunWorkerNow() {
    RETURN_IF_ERROR(scheduler_.RunNow(kWorkerJob));
    MutexLock lock(mutex_);
    return nlohmann::json{{"newStories", last_report_.new_stories},
                          {"refreshedStories", last_report_.refreshed_stories},
                          {"goneStories", last_report_.gone_stories},
                          {"failedFetches", last_report_.failed_fetches}};
  }

  void Note(const Result<SyncReport>& report) {
    if (!report.ok()) {
      Log(LogLevel::kWarning, "hackernews: sync failed", {{"reason", report.status().ToString()}});
      return;
    }
    Log(LogLevel::kInfo, "hackernews: synced",
        {{"new", std::to_string(report->new_stories)},
         {"refreshed", std::to_string(report->refreshed_stories)}});
    MutexLock lock(mutex_);
    last_report_ = *report;
  }

  nlohmann::json StatusJson() {
    const kit::Scheduler::JobStatus job = scheduler_.Statuses().front();
    const HnSource::Health health = source_.health();
    const Result<std::optional<int64_t>> latest = store_.LatestId();
    nlohmann::json status;
    status["worker"] = {{"lastRun", IsoTextOrNull(job.last_end_micros)},
                        {"running", job.is_running},
                        {"failed", !job.last_result.ok()}};
    status["hasStories"] = nullptr;
    if (latest.ok()) status["hasStories"] = latest->has_value();
    status["source"] = {{"ok", health.is_ok},
                        {"since", IsoTextOrNull(health.since_ms.value_or(0) * 1'000)}};
    return status;
  }

  nlohmann::json OperatorStatusJson() {
    nlohmann::json status = StatusJson();
    const Status last = scheduler_.Statuses().front().last_result;
    const Result<int64_t> count = store_.Count();
    status["worker"]["lastError"] = nullptr;
    if (!last.ok()) status["worker"]["lastError"] = last.ToString();
    status["stories"] = nullptr;
    if (count.ok()) status["stories"] = *count;
    return status;
  }

  const kit::AppInfo info_ = {
      .name = "hackernews",
      .title = "Hacker News reader",
      .summary =
          "The best stories of a day, a week, a month, a year or ever; what you hide stays "
          "hidden."};
  const kit::AppContext context_;
  const Collections collections_;
  HnSource source_;
  StoryStore store_;
  StoryLists lists_;
  HiddenStories hidden_;
  Worker worker_;
  const kit::SessionSigner sessions_;
  const bool is_made_up_;  // The stories are made up.
  Api api_;
  kit::Routes routes_;
  Mutex mutex_;  // Leaf lock.
  SyncReport last_report_ GUARDED_BY(mutex_);
  kit::Scheduler scheduler_;
  std::thread first_run_;
};

}  // namespace

Result<std::unique_ptr<kit::Application>> MakeApplication(kit::AppContext context) {
  ASSIGN_OR_RETURN(Settings settings, ReadSettings(context));
  ASSIGN_OR_RETURN(kit::Schedule schedule, kit::Schedule::Parse(settings.worker_schedule, "UTC"));
  if (!settings.session_secret) {
    ASSIGN_OR_RETURN(settings.session_secret,
                     kit::LoadOrMakeSecret(context.data_path + "/session.key"));
  }
  ASSIGN_OR_RETURN(kit::SessionSigner sessions,
                   kit::SessionSigner::Make(*settings.session_secret, context.clock));
  return std::unique_ptr<kit::Application>(std::make_unique<Hackernews>(
      std::move(context), std::move(settings), std::move(schedule), std::move(sessions)));
}

}  // namespace hearth::hackernews
