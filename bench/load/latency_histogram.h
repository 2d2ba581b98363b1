#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace hearth::bench {

// Counts durations in buckets whose width is 1/64 of their value, so that percentiles are exact to
// 2 % at any magnitude, at a few nanoseconds per sample. Threads: one at a time.
class LatencyHistogram {
 public:
  void Add(uint64_t nanos) {
    ++buckets_[Index(nanos)];
    ++count_;
  }

  void Merge(const LatencyHistogram& other) {
    for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
  }

  // The value below which `share` of the samples lie; 0 without samples.
  double Percentile(double share) const {
    uint64_t left = static_cast<uint64_t>(share * static_cast<double>(count_));
    for (size_t i = 0; i < buckets_.size(); ++i) {
      if (buckets_[i] > left) return static_cast<double>(LowerBound(i));
      left -= buckets_[i];
    }
    return 0;
  }

 private:
  static constexpr size_t kStepBits = 6;
  static constexpr uint64_t kSteps = 1 << kStepBits;  // Per power of two.

  static size_t Index(uint64_t value) {
    if (value < kSteps) return value;
    const size_t shift = std::bit_width(value) - 1 - kStepBits;
    return (shift + 1) * kSteps + ((value >> shift) - kSteps);
  }
  static uint64_t LowerBound(size_t index) {
    if (index < kSteps) return index;
    return (index % kSteps + kSteps) << (index / kSteps - 1);
  }

  std::array<uint64_t, kSteps*(64 - kStepBits + 1)> buckets_ = {};
  uint64_t count_ = 0;
};

}  // namespace hearth::bench
