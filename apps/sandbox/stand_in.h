#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kit/web/routes.h"

namespace hearth::sandbox {

struct StandInContext {
  uint64_t seed;
  const Clock& clock;
};

// One external service, as far as the applications use it.
//
// Threads: its handlers run one at a time, on the sandbox's loop: they must not block.
class StandIn {
 public:
  virtual ~StandIn() = default;

  // The first segment of its paths: "hn".
  virtual std::string name() const = 0;
  // For users: what it replaces and what it accepts. One sentence, plain text.
  virtual std::string summary() const = 0;
  // An example path, below its name; "" for none.
  virtual std::string example_path() const = 0;
  // Paths are below its name: "/v0/item/:file".
  virtual void AddRoutes(kit::Routes& routes) = 0;
};

// All stand-ins.
std::vector<std::unique_ptr<StandIn>> MakeStandIns(const StandInContext& context);

}  // namespace hearth::sandbox
