#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace hearth::doors::webchannel {

// `<length>\n<text>`. The length counts what JavaScript counts: UTF-16 units of the decoded text.
std::string MakeChunk(std::string_view text);

// The arrays for the client, kept until it has acknowledged them: a connection that breaks takes
// with it what was on its way. The handshake's array has the number 0, the first one here 1.
//
// Threads: one at a time.
class Outbox {
 public:
  // `array`: JSON such as `["noop"]`.
  void Add(std::string array);
  // Frees the arrays up to `id`. An id that was never sent acknowledges what was.
  void Acknowledge(uint64_t id);
  // What was sent and not acknowledged is to be sent again, first.
  void Rewind();
  // The next arrays to send, about `bytes_max` of them and at least one; "" if there is none.
  std::string NextChunk(size_t bytes_max);
  void Clear();

  bool empty() const { return arrays_.empty(); }
  bool has_unsent() const { return sent_count_ < arrays_.size(); }
  uint64_t last_sent_id() const { return first_id_ + sent_count_ - 1; }
  // Each array counts with what it costs besides its text.
  size_t sent_bytes() const { return sent_bytes_; }
  size_t unsent_bytes() const { return retained_bytes_ - sent_bytes_; }
  size_t retained_bytes() const { return retained_bytes_; }

 private:
  std::deque<std::string> arrays_;
  uint64_t first_id_ = 1;  // Of the first array that is kept, or of the next one to come.
  size_t sent_count_ = 0;  // Of those that are kept.
  size_t sent_bytes_ = 0;
  size_t retained_bytes_ = 0;
};

}  // namespace hearth::doors::webchannel
