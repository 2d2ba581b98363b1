#include "rpc/message_batch.h"

#include "base/check.h"

namespace hearth::rpc {

std::string FrameHead(size_t message_bytes) {
  CHECK(message_bytes <= UINT32_MAX);
  std::string head(kFrameHeadBytes, '\0');
  for (size_t i = 0; i < 4; ++i) head[4 - i] = static_cast<char>(message_bytes >> (8 * i) & 0xff);
  return head;
}

size_t FrameMessageBytes(std::string_view frame) {
  CHECK(frame.size() >= kFrameHeadBytes);
  uint32_t size = 0;
  for (size_t i = 1; i < kFrameHeadBytes; ++i) size = size << 8 | static_cast<uint8_t>(frame[i]);
  return size;
}

void MessageBatch::Add(std::string_view message) {
  frames_.append(FrameHead(message.size())).append(message);
}

void MessageBatch::ForEach(const std::function<void(std::string_view message)>& visit) const {
  std::string_view rest = frames_;
  while (!rest.empty()) {
    const size_t size = FrameMessageBytes(rest);
    visit(rest.substr(kFrameHeadBytes, size));
    rest.remove_prefix(kFrameHeadBytes + size);
  }
}

}  // namespace hearth::rpc
