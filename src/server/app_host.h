#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/status.h"
#include "client/firestore.h"
#include "http/router.h"
#include "kit/web/app_service.h"
#include "kit/web/application.h"
#include "server/apps.h"

namespace hearth::server {

// Shared by the applications of a process.
struct AppHostOptions {
  // Called for each application: without applications no database is opened for them.
  std::function<Result<client::Firestore>()> open_database;
  const Clock& clock;
  RandomSource& random;
  Metrics& metrics;
  std::string environment;
  nlohmann::json settings;  // By application's name.
  std::string sandbox_url;
  // For request bodies and for what the applications allocate. Null: no limit.
  MemoryBudget* memory = nullptr;
};

// Runs applications. One that fails is reported and does not affect the others.
//
// Threads: Reports from any thread, the rest from one. Ownership: owns the applications; borrows
// what the options refer to. Destroy it after the server on which the applications are mounted is
// drained.
class AppHost {
 public:
  static constexpr std::chrono::seconds kFactsAge{5};

  explicit AppHost(AppHostOptions options);
  ~AppHost();  // As Stop.

  // Creates and starts an application. An error is returned, and also reported.
  // `prefix`: "/apps/hackernews" or ""; `data_path`: its own folder.
  Status Add(const AppEntry& entry, const std::string& prefix, const std::string& data_path);
  // Mounts all added applications; those that failed answer 503.
  void Mount(http::Router* router);
  // Stops all applications. Requests in progress may still be answered.
  void Stop();

  struct Report {
    kit::AppInfo info;
    std::string path;  // With a trailing slash.
    Status status;     // Why it is not running, or OK.
    std::vector<kit::Fact> facts = {};
  };
  // In the order of Add. May wait for the database; facts are at most about kFactsAge old.
  std::vector<Report> Reports();

 private:
  class Refusal;
  struct App;

  Result<std::unique_ptr<kit::Application>> Make(const AppEntry& entry,
                                                 const std::string& data_path) const;

  const AppHostOptions options_;
  std::vector<std::unique_ptr<App>> apps_;
  bool stopped_ = false;
};

}  // namespace hearth::server
