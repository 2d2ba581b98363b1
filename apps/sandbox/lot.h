#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::sandbox {

// Pseudo-random numbers that depend only on the seed. The same on every machine.
class Lot {
 public:
  explicit Lot(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool OneIn(uint64_t chances) { return Below(chances) == 0; }
  // Above 0, at most 1.
  double Share() { return static_cast<double>((Next() >> 11) + 1) / 9007199254740992.0; }

 private:
  uint64_t state_;
};

using Words = std::span<const std::string_view>;
inline std::string_view Pick(Lot& lot, Words words) { return words[lot.Below(words.size())]; }

}  // namespace hearth::sandbox
