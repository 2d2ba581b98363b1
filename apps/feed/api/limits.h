#pragma once

#include <cstddef>

#include "kit/jobs/sign_in_limits.h"

namespace hearth::feed {

// How much one client may do. "Per address" is per address group (kit/web/lane.h).
struct LimitOptions {
  size_t registrations_per_hour = 30;  // Per address.
  size_t posts_per_hour = 60;          // Per user; attempts count too.
  size_t comments_per_hour = 300;      // Per user.
  // Per address, in each kit::SignInLimits::kWindow. All users behind a proxy have one address.
  size_t failed_sign_ins_per_address = kit::SignInLimits::kAddressFailuresMaxDefault;
};

}  // namespace hearth::feed
