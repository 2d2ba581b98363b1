#pragma once

#include "model/record.h"

namespace hearth::engine {

using model::Record;

}  // namespace hearth::engine
