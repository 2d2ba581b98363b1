#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "doors/webchannel/channel_request.h"

namespace hearth::doors::webchannel {

// The client's messages in order, each once: requests may overtake one another, and a request whose
// answer was lost is sent again.
//
// Threads: one at a time. Errors: ResourceExhausted beyond the bounds; then nothing is added.
class Inbox {
 public:
  Inbox(size_t maps_max, size_t bytes_max) : maps_max_(maps_max), bytes_max_(bytes_max) {}

  Status Add(std::vector<IncomingMap> maps);
  // The next message in order; nullopt if it has not arrived yet.
  std::optional<Result<std::string>> Next();
  bool has_next() const { return !held_.empty() && held_.begin()->first == next_index_; }
  void Clear();
  size_t held_bytes() const { return held_bytes_; }

 private:
  const size_t maps_max_;
  const size_t bytes_max_;
  uint64_t next_index_ = 0;
  std::map<uint64_t, Result<std::string>> held_;
  size_t held_bytes_ = 0;
};

}  // namespace hearth::doors::webchannel
