#pragma once

#include <cstddef>

#include "apps/sandbox/lot.h"
#include "apps/sandbox/photos_canvas.h"

namespace hearth::sandbox {

inline float Between(Lot& lot, float low, float high) {
  return low + (high - low) * static_cast<float>(lot.Share());
}
inline int Count(Lot& lot, int low, int high) {
  return low + static_cast<int>(lot.Below(static_cast<uint64_t>(high - low + 1)));
}
template <typename T, size_t N>
const T& Pick(Lot& lot, const T (&all)[N]) {
  return all[lot.Below(N)];
}

// One per scene; see photos_scenes.h.
void PaintMountains(Canvas& canvas, Lot& lot);
void PaintSea(Canvas& canvas, Lot& lot);
void PaintForest(Canvas& canvas, Lot& lot);
void PaintDunes(Canvas& canvas, Lot& lot);

}  // namespace hearth::sandbox
