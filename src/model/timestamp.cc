#include "model/timestamp.h"

#include <cstdio>
#include <ctime>

namespace hearth::model {
namespace {

constexpr int64_t kSecondsMin = -62'135'596'800;  // 0001-01-01T00:00:00Z
constexpr int64_t kSecondsMax = 253'402'300'799;  // 9999-12-31T23:59:59Z
constexpr int64_t kMicrosPerSecond = 1'000'000;

}  // namespace

Result<Timestamp> Timestamp::FromParts(int64_t seconds, int64_t nanos) {
  if (seconds < kSecondsMin || seconds > kSecondsMax) {
    return InvalidArgument("Timestamp seconds exceeds limit for field.");
  }
  if (nanos < 0 || nanos > 999'999'999) {
    return InvalidArgument("Timestamp nanos exceeds limit for field.");
  }
  return Timestamp(seconds * kMicrosPerSecond + nanos / 1'000);
}

int64_t Timestamp::seconds() const {
  const int64_t quotient = micros_ / kMicrosPerSecond;
  return micros_ % kMicrosPerSecond < 0 ? quotient - 1 : quotient;
}

int32_t Timestamp::nanos() const {
  const int64_t remainder = micros_ % kMicrosPerSecond;
  const int64_t micros = remainder < 0 ? remainder + kMicrosPerSecond : remainder;
  return static_cast<int32_t>(micros * 1'000);
}

std::string Timestamp::ToString() const {
  const std::time_t whole = seconds();
  std::tm utc = {};
  gmtime_r(&whole, &utc);
  char text[64];
  int length =
      std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d", utc.tm_year + 1900,
                    utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  std::string result(text, static_cast<size_t>(length));
  if (const int32_t micros = nanos() / 1'000; micros != 0) {
    const bool millis_suffice = micros % 1'000 == 0;
    length = millis_suffice ? std::snprintf(text, sizeof(text), ".%03d", micros / 1'000)
                            : std::snprintf(text, sizeof(text), ".%06d", micros);
    result.append(text, static_cast<size_t>(length));
  }
  return result + "Z";
}

}  // namespace hearth::model
