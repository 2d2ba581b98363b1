#pragma once

#include <cstdint>

#include "kit/images/images.h"

namespace hearth::sandbox {

// The subject of a picture.
enum class Scene : uint8_t { kMountains, kSea, kCity, kFlowers, kPoster, kForest, kDunes };
inline constexpr int kScenes = 7;

// The same for the same seed, on every machine with the same arithmetic. Square, upright or wide.
kit::Image PaintScene(Scene scene, uint64_t seed);

}  // namespace hearth::sandbox
