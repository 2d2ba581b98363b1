#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace hearth::http {

// The order in which a client opens its streams: ids must grow (RFC 9113, 5.1.1). nghttp2 ignores a
// smaller one, because it does not remember which streams have existed.
//
// Threads: used on one loop only.
class StreamOrder {
 public:
  // For each HEADERS frame of a client. False if the connection must end: the frame would open a
  // stream that the client has skipped, or the client has skipped too often to remember.
  bool Note(int32_t id) {
    if (id <= highest_) return !IsSkipped(id);
    if (id > highest_ + 2) {
      if (skipped_.size() == kSkippedRangesMax) return false;
      skipped_.push_back({highest_ + 2, id - 2});
    }
    highest_ = id;
    return true;
  }

  // Most clients skip no streams; some do when a request is cancelled before it is sent.
  static constexpr size_t kSkippedRangesMax = 1'000;

 private:
  struct Range {
    int32_t first;
    int32_t last;
  };

  bool IsSkipped(int32_t id) const {
    const auto behind = std::ranges::upper_bound(skipped_, id, {}, &Range::first);
    return behind != skipped_.begin() && id <= std::prev(behind)->last;
  }

  int32_t highest_ = -1;
  std::vector<Range> skipped_;  // In order.
};

}  // namespace hearth::http
