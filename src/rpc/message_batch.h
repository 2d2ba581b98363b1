#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::rpc {

// gRPC's frame: 1 byte, 1 if the message is compressed; 4 bytes, its size, big-endian; the message.
inline constexpr size_t kFrameHeadBytes = 5;

// The head of an uncompressed frame.
std::string FrameHead(size_t message_bytes);

// The size of the message in the frame that starts `frame`, which holds the whole head.
size_t FrameMessageBytes(std::string_view frame);

// Messages that are to be sent together, in one buffer: each in the frame that gRPC gives it, so
// that the commonest protocol sends them as they are.
//
// Threads: one at a time. Ownership: owns its bytes.
class MessageBatch {
 public:
  void Add(std::string_view message);
  bool empty() const { return frames_.empty(); }
  size_t bytes() const { return frames_.size(); }  // With the frames' heads.
  std::string TakeFrames() { return std::exchange(frames_, {}); }
  // Calls `visit` with each message, in order, for protocols that frame them otherwise.
  void ForEach(const std::function<void(std::string_view message)>& visit) const;

 private:
  std::string frames_;
};

}  // namespace hearth::rpc
