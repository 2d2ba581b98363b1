#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace hearth::doors::webchannel {

// `<length>\n<text>`. The length is in JavaScript's units: UTF-16 units of the decoded text.
std::string MakeChunk(std::string_view text);

// The arrays for the client, kept until it has acknowledged them: when a connection breaks, the
// data in flight is lost. The handshake's array has the number 0, the first one here 1.
//
// Threads: one at a time.
class Outbox {
 public:
  // `array`: JSON such as `["noop"]`.
  void Add(std::string array);
  // Frees the arrays up to `id`. An id that was never sent acknowledges everything sent.
  void Acknowledge(uint64_t id);
  // Unacknowledged arrays are sent again, before all others.
  void Rewind();
  // The next arrays to send, about `bytes_max` bytes and at least one array; "" if there is none.
  std::string NextChunk(size_t bytes_max);
  void Clear();

  bool empty() const { return arrays_.empty(); }
  bool has_unsent() const { return sent_count_ < arrays_.size(); }
  uint64_t last_sent_id() const { return first_id_ + sent_count_ - 1; }
  // Each array counts with its overhead.
  size_t sent_bytes() const { return sent_bytes_; }
  size_t unsent_bytes() const { return retained_bytes_ - sent_bytes_; }
  size_t retained_bytes() const { return retained_bytes_; }

 private:
  std::deque<std::string> arrays_;
  uint64_t first_id_ = 1;  // Of the first array kept, or else of the next one.
  size_t sent_count_ = 0;  // Of the arrays kept.
  size_t sent_bytes_ = 0;
  size_t retained_bytes_ = 0;
};

}  // namespace hearth::doors::webchannel
