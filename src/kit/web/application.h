#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/status.h"
#include "client/firestore.h"
#include "kit/web/routes.h"

namespace hearth::kit {

// What an application is given. Where it runs, in the server's process or in one of its own,
// makes no difference to it.
struct AppContext {
  client::Firestore database;
  const Clock& clock;
  RandomSource& random;
  Metrics& metrics;
  std::string data_path;    // A folder of its own, for what is no document. Made when needed.
  std::string environment;  // "prod", "staging", "ci" or "dev".
  nlohmann::json settings;  // Its part of the configuration; an object.
  std::string sandbox_url;  // Of the stand-ins, "http://127.0.0.1:4711"; empty: the real services.
};

// One line about how it is doing, for the front page.
struct Fact {
  std::string label;  // "stories"
  std::string value;  // "1,204"
};

struct AppInfo {
  std::string name;     // "hackernews": the path and the command line say so.
  std::string title;    // "Hacker News reader"
  std::string summary;  // One sentence.
};

// An application: routes, and work of its own between Start and Stop.
//
// Threads: routes() is read from any; Start and Stop are called once each, in this order.
class Application {
 public:
  virtual ~Application() = default;

  virtual const AppInfo& info() const = 0;
  virtual const Routes& routes() const = 0;
  // May fail for settings that make no sense. What can fail later, such as the services that it
  // calls, does not fail this.
  virtual Status Start() = 0;
  // Ends its own work. Requests under way may still call the routes.
  virtual void Stop() = 0;
  // May read the database; called at most every few seconds.
  virtual std::vector<Fact> Facts() = 0;
};

}  // namespace hearth::kit
