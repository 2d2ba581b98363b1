#include "apps/sandbox/lot.h"

namespace hearth::sandbox {

// SplitMix64: one multiplication chain per number; every seed is equally good.
uint64_t Lot::Next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

}  // namespace hearth::sandbox
