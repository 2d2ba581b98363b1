#include "kit/quota.h"

namespace hearth::kit {

QuotaWindows::QuotaWindows(const Clock& clock, size_t limit, std::chrono::milliseconds window,
                           size_t keys_max)
    : clock_(clock), limit_(limit), window_(window), keys_max_(keys_max) {}

}  // namespace hearth::kit
