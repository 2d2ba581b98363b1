#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace hearth::model {

// A time in microseconds since the Unix epoch, Firestore's resolution. Also the version of a
// commit. Immutable.
class Timestamp {
 public:
  constexpr Timestamp() = default;  // The epoch.
  static constexpr Timestamp FromMicros(int64_t micros) { return Timestamp(micros); }
  // Rounds down to microseconds. InvalidArgument outside 0001-01-01 … 9999-12-31, or if `nanos` is
  // not within 0 … 999,999,999.
  static Result<Timestamp> FromParts(int64_t seconds, int64_t nanos);

  constexpr int64_t micros() const { return micros_; }
  int64_t seconds() const;  // Rounded down, so that nanos() is never negative.
  int32_t nanos() const;
  // RFC 3339 with as many fraction digits (0, 3 or 6) as needed: "2026-11-15T11:41:43.5…Z".
  std::string ToString() const;

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  explicit constexpr Timestamp(int64_t micros) : micros_(micros) {}

  int64_t micros_ = 0;
};

}  // namespace hearth::model
