#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory_budget.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status.h"
#include "client/firestore.h"
#include "kit/web/routes.h"

namespace hearth::kit {

// The environment of an application. It is the same in the server's process and in a process of its
// own.
struct AppContext {
  client::Firestore database;
  const Clock& clock;
  RandomSource& random;
  Metrics& metrics;
  std::string data_path;    // Its own folder, for data other than documents. Created on demand.
  std::string environment;  // "prod", "staging", "ci" or "dev".
  nlohmann::json settings;  // Its section of the configuration; an object.
  std::string sandbox_url;  // Of the stand-ins, "http://127.0.0.1:4711"; empty: the real services.
  MemoryBudget* memory = nullptr;  // For large allocations, such as pictures. Null: no limit.
};

// One line of status for the front page, where strangers see it: nothing that the database
// contains.
struct Fact {
  std::string label;  // "Redis"
  std::string value;  // "cannot be reached"
};

struct AppInfo {
  std::string name;     // "hackernews": used in the path and on the command line.
  std::string title;    // "Hacker News reader"
  std::string summary;  // One sentence.
};

// An application: routes, and background work between Start and Stop.
//
// Threads: routes() may be called from any thread; Start and Stop are called once each, in this
// order.
class Application {
 public:
  virtual ~Application() = default;

  virtual const AppInfo& info() const = 0;
  virtual const Routes& routes() const = 0;
  // Fails for invalid settings. Failures that may come and go, such as those of called services,
  // must not fail this.
  virtual Status Start() = 0;
  // Stops the background work. Requests in progress may still call the routes.
  virtual void Stop() = 0;
  // May read the database; called at most every few seconds.
  virtual std::vector<Fact> Facts() = 0;
};

}  // namespace hearth::kit
