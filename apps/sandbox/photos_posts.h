#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "apps/sandbox/photos_people.h"
#include "kit/images/images.h"

namespace hearth::sandbox {

// Generated posts, follows and comments of a few people, without storage: a post follows from the
// seed and its number.
//
// Time is divided into slots of four minutes, each with one post. Its number is the slot's, so
// numbers grow with time. The list reaches back three days, thinned with age: each post has a fixed
// time for which it is listed: all for 45 minutes, half of them for an hour and a half, and so on.
// That makes about 60.
//
// Immutable. All times are seconds since the epoch.
class PhotosPosts {
 public:
  static constexpr int64_t kSlotSeconds = 240;
  static constexpr int64_t kListedSecondsMin = 45 * 60;
  static constexpr int64_t kListedSecondsMax = 3 * 24 * 3'600;
  static constexpr size_t kPicturesMax = 4;

  explicit PhotosPosts(uint64_t seed) : seed_(seed) {}

  nlohmann::json Accounts() const;
  // The currently listed posts with numbers above `after`, lowest first, at most `limit`.
  nlohmann::json Posts(int64_t after, size_t limit, int64_t now) const;
  // nullopt if no current post has it.
  std::optional<kit::Image> Picture(int64_t number, size_t index, int64_t now) const;

 private:
  struct Post {
    const Person* author;
    Scene scene;
    size_t pictures;
  };

  // Reproducible random numbers. `purpose` separates independent draws.
  Lot Draw(int64_t number, uint64_t purpose) const;
  int64_t TimeOf(int64_t number) const;
  bool IsListed(int64_t number, int64_t now) const;
  Post PostOf(int64_t number) const;
  nlohmann::json PostJson(int64_t number) const;

  const uint64_t seed_;
};

}  // namespace hearth::sandbox
