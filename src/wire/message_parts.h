// Shared parts of hand-written answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/timestamp.h"
#include "model/wire_format.h"

namespace hearth::wire {

constexpr uint32_t BytesTag(uint32_t field_number) {
  return model::WireTag(field_number, model::WireType::kBytes);
}
constexpr uint32_t VarintTag(uint32_t field_number) {
  return model::WireTag(field_number, model::WireType::kVarint);
}

// A number; omits zeros, like protobuf itself.
inline void AppendNumber(uint32_t field_number, int64_t number, std::string* out) {
  if (number == 0) return;
  model::AppendVarint(VarintTag(field_number), out);
  model::AppendVarint(static_cast<uint64_t>(number), out);
}

// google.protobuf.Timestamp and google.protobuf.Duration.
inline std::string EncodeSecondsAndNanos(int64_t seconds, int32_t nanos) {
  std::string bytes;
  AppendNumber(1, seconds, &bytes);
  AppendNumber(2, nanos, &bytes);
  return bytes;
}

inline std::string EncodeTime(model::Timestamp time) {
  return EncodeSecondsAndNanos(time.seconds(), time.nanos());
}

}  // namespace hearth::wire
