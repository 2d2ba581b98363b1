#include "apps/sandbox/hn.h"
#include "apps/sandbox/hn_site.h"
#include "apps/sandbox/photos.h"
#include "apps/sandbox/stand_in.h"

namespace hearth::sandbox {

std::vector<std::unique_ptr<StandIn>> MakeStandIns(const StandInContext& context) {
  std::vector<std::unique_ptr<StandIn>> all;
  all.push_back(std::make_unique<HnStandIn>(context));
  all.push_back(std::make_unique<HnSiteStandIn>(context));
  all.push_back(std::make_unique<PhotosStandIn>(context));
  return all;
}

}  // namespace hearth::sandbox
