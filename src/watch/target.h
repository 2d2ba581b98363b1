#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "model/names.h"
#include "watch/live_query.h"

namespace hearth::watch {

// Single documents, existing or not, without duplicates.
using DocumentSet = std::vector<model::DocumentPath>;

// What a client listens to.
using Target = std::variant<std::unique_ptr<const LiveQuery>, DocumentSet>;

}  // namespace hearth::watch
