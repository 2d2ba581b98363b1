#pragma once

#include <string>

#include "apps/sandbox/hn_items.h"
#include "apps/sandbox/stand_in.h"

namespace hearth::sandbox {

// The Hacker News API. Threads: as for StandIn.
class HnStandIn final : public StandIn {
 public:
  explicit HnStandIn(const StandInContext& context) : items_(context.seed), clock_(context.clock) {}

  std::string name() const override { return "hn"; }
  std::string summary() const override {
    return "The Hacker News API: a new story every four minutes, scores that grow.";
  }
  std::string example_path() const override { return "/v0/newstories.json"; }
  void AddRoutes(kit::Routes& routes) override;

 private:
  int64_t Now() const { return clock_.WallMicros() / 1'000'000; }

  const HnItems items_;
  const Clock& clock_;
};

}  // namespace hearth::sandbox
