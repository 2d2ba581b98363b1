#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "model/names.h"
#include "watch/live_query.h"

namespace hearth::watch {

// Single documents, whether they exist or not, without repeats.
using DocumentSet = std::vector<model::DocumentPath>;

// What somebody listens to.
using Target = std::variant<std::unique_ptr<const LiveQuery>, DocumentSet>;

}  // namespace hearth::watch
