#pragma once

#include <string>

#include "apps/sandbox/stand_in.h"

namespace hearth::sandbox {

// Sign-in as at the Hacker News site. Threads: as StandIn says.
class HnSiteStandIn final : public StandIn {
 public:
  explicit HnSiteStandIn(const StandInContext& context) : seed_(context.seed) {}

  std::string name() const override { return "hn-site"; }
  std::string summary() const override {
    return "Sign-in at the Hacker News site: any account of letters, digits, '-' and '_' with the "
           "password \"hearth\".";
  }
  std::string example_path() const override { return "/login"; }
  void AddRoutes(kit::Routes& routes) override;

 private:
  kit::Response SignIn(const kit::Request& request) const;

  const uint64_t seed_;
};

}  // namespace hearth::sandbox
