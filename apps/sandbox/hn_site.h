#pragma once

#include <optional>
#include <string>

#include "apps/sandbox/hn_items.h"
#include "apps/sandbox/stand_in.h"

namespace hearth::sandbox {

// The Hacker News site: sign-in, item pages and the articles of stories. Threads: as for StandIn.
class HnSiteStandIn final : public StandIn {
 public:
  explicit HnSiteStandIn(const StandInContext& context)
      : seed_(context.seed), items_(context.seed), clock_(context.clock) {}

  std::string name() const override { return "hn-site"; }
  std::string summary() const override {
    return "The Hacker News site: items with their comments, the articles that stories link to, "
           "and "
           "sign-in for any account of letters, digits, '-' and '_' with the password \"hearth\".";
  }
  std::string example_path() const override { return "/login"; }
  void AddRoutes(kit::Routes& routes) override;

 private:
  kit::Response SignIn(const kit::Request& request) const;
  kit::Response ItemPage(const kit::Request& request) const;
  kit::Response ArticlePage(const kit::Request& request) const;
  std::optional<HnStoryPage> Find(const kit::Request& request) const;
  int64_t Now() const { return clock_.WallMicros() / 1'000'000; }

  const uint64_t seed_;
  const HnItems items_;
  const Clock& clock_;
};

}  // namespace hearth::sandbox
