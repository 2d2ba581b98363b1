#pragma once

#include <string>

#include "engine/engine.h"

namespace hearth::doors::control {

// What the engine does, in Prometheus' text format. May wait for the disk.
std::string MetricsText(const engine::Engine& engine);

}  // namespace hearth::doors::control
