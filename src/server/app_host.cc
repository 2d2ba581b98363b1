#include "server/app_host.h"

#include <optional>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace hearth::server {

// Answers in place of an application that is not running.
class AppHost::Refusal final : public http::Service {
 public:
  explicit Refusal(std::string message) : message_(std::move(message)) {}

  std::shared_ptr<http::ExchangeHandler> Open(http::Exchange& exchange) override {
    http::AnswerPlain(exchange, {.status = 503,
                                 .content_type = "application/json; charset=utf-8",
                                 .body = nlohmann::json{{"error", message_}}.dump() + "\n"});
    return nullptr;
  }

 private:
  const std::string message_;
};

struct AppHost::App {
  kit::AppInfo info;
  std::string prefix;
  Status status;
  std::unique_ptr<kit::Application> application;  // Null if it could not be created.
  std::unique_ptr<http::Service> service;         // After the application: its threads use it.

  Mutex mutex;  // Leaf lock: facts are gathered without it.
  std::vector<kit::Fact> facts GUARDED_BY(mutex);
  std::optional<std::chrono::steady_clock::time_point> gathered GUARDED_BY(mutex);
  bool is_gathering GUARDED_BY(mutex) = false;

  // Current facts, at most a few seconds old; the old ones while another thread gathers new ones.
  std::vector<kit::Fact> Facts(std::chrono::steady_clock::time_point now) EXCLUDES_LOCK(mutex) {
    {
      MutexLock lock(mutex);
      if (is_gathering || (gathered && now - *gathered < kFactsAge)) return facts;
      is_gathering = true;
    }
    std::vector<kit::Fact> fresh = application->Facts();
    MutexLock lock(mutex);
    facts = std::move(fresh);
    gathered = now;
    is_gathering = false;
    return facts;
  }
};

AppHost::AppHost(AppHostOptions options) : options_(std::move(options)) {}

AppHost::~AppHost() { Stop(); }

Result<std::unique_ptr<kit::Application>> AppHost::Make(const AppEntry& entry,
                                                        const std::string& data_path) const {
  ASSIGN_OR_RETURN(client::Firestore database, options_.open_database());
  const auto settings = options_.settings.find(entry.name);
  return entry.make(kit::AppContext{
      .database = std::move(database),
      .clock = options_.clock,
      .random = options_.random,
      .metrics = options_.metrics,
      .data_path = data_path,
      .environment = options_.environment,
      .settings = settings == options_.settings.end() ? nlohmann::json::object() : *settings,
      .sandbox_url = options_.sandbox_url,
      .memory = options_.memory});
}

Status AppHost::Add(const AppEntry& entry, const std::string& prefix,
                    const std::string& data_path) {
  const std::string name(entry.name);
  auto app = std::make_unique<App>();
  app->info = {.name = name, .title = name, .summary = ""};
  app->prefix = prefix;
  Result<std::unique_ptr<kit::Application>> made = Make(entry, data_path);
  app->status = made.status();
  if (made.ok()) {
    app->application = *std::move(made);
    app->info = app->application->info();
    app->status = app->application->Start();
  }
  if (app->status.ok()) {
    app->service = std::make_unique<kit::AppService>(
        kit::AppServiceOptions{.name = name, .prefix = prefix, .memory = options_.memory},
        app->application->routes(), options_.clock, options_.metrics);
    Log(LogLevel::kInfo, "application started", {{"name", name}, {"path", prefix + "/"}});
  } else {
    app->service = std::make_unique<Refusal>(name + " is not running: " + app->status.message());
    Log(LogLevel::kError, "an application failed to start",
        {{"name", name}, {"reason", app->status.message()}});
  }
  const Status status = app->status;
  apps_.push_back(std::move(app));
  return status.ok() ? status : status.While("starting " + name);
}

void AppHost::Mount(http::Router* router) {
  for (const auto& app : apps_) {
    if (!app->prefix.empty()) router->AddExactService(app->prefix, *app->service);
    router->AddService(app->prefix + "/", *app->service);
  }
}

void AppHost::Stop() {
  if (std::exchange(stopped_, true)) return;
  for (const auto& app : apps_) {
    if (app->status.ok()) app->application->Stop();
  }
}

std::vector<AppHost::Report> AppHost::Reports() {
  std::vector<Report> reports;
  for (const auto& app : apps_) {
    reports.push_back({.info = app->info, .path = app->prefix + "/", .status = app->status});
    if (app->status.ok()) reports.back().facts = app->Facts(options_.clock.Monotonic());
  }
  return reports;
}

}  // namespace hearth::server
