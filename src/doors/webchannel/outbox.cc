#include "doors/webchannel/outbox.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace hearth::doors::webchannel {
namespace {

// The overhead of the string, its brackets and its number: otherwise many tiny arrays would be
// free.
size_t CostBytes(const std::string& array) { return array.size() + 64; }

}  // namespace

std::string MakeChunk(std::string_view text) {
  std::string chunk = std::to_string(Utf16Length(text));
  chunk += '\n';
  chunk += text;
  return chunk;
}

void Outbox::Add(std::string array) {
  retained_bytes_ += CostBytes(array);
  arrays_.push_back(std::move(array));
}

void Outbox::Acknowledge(uint64_t id) {
  id = std::min(id, last_sent_id());
  while (first_id_ <= id) {
    const size_t bytes = CostBytes(arrays_.front());
    retained_bytes_ -= bytes;
    sent_bytes_ -= bytes;
    arrays_.pop_front();
    --sent_count_;
    ++first_id_;
  }
}

void Outbox::Rewind() {
  sent_count_ = 0;
  sent_bytes_ = 0;
}

std::string Outbox::NextChunk(size_t bytes_max) {
  if (!has_unsent()) return "";
  std::string text = "[";
  while (has_unsent() && (text.size() == 1 || text.size() < bytes_max)) {
    const std::string& array = arrays_[sent_count_];
    if (text.size() > 1) text += ',';
    text += '[';
    text += std::to_string(first_id_ + sent_count_);
    text += ',';
    text += array;
    text += ']';
    sent_bytes_ += CostBytes(array);
    ++sent_count_;
  }
  text += ']';
  return MakeChunk(text);
}

void Outbox::Clear() {
  first_id_ += arrays_.size();
  arrays_.clear();
  sent_count_ = sent_bytes_ = retained_bytes_ = 0;
}

}  // namespace hearth::doors::webchannel
