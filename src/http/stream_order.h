#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::http {

// The order in which a client opens its streams: ids must grow (RFC 9113, 5.1.1). nghttp2 ignores a
// smaller one, because it does not remember which streams have existed.
//
// Threads: used on one loop only.
class StreamOrder {
 public:
  // For each HEADERS frame of a client. False if it would open a stream that the client has
  // skipped.
  bool Note(int32_t id) {
    if (id <= highest_) {
      return std::ranges::none_of(
          skipped_, [id](const Range& range) { return range.first <= id && id <= range.last; });
    }
    if (id > highest_ + 2) {
      skipped_.push_back({highest_ + 2, id - 2});
      if (skipped_.size() > kSkippedRangesMax) skipped_.erase(skipped_.begin());
    }
    highest_ = id;
    return true;
  }

 private:
  struct Range {
    int32_t first;
    int32_t last;
  };
  // Clients skip no streams. A smaller id in a range that is forgotten is ignored.
  static constexpr size_t kSkippedRangesMax = 32;

  int32_t highest_ = -1;
  std::vector<Range> skipped_;
};

}  // namespace hearth::http
