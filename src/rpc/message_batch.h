#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::rpc {

// A gRPC frame: 1 byte, 1 if the message is compressed; 4 bytes, its size, big-endian; the message.
inline constexpr size_t kFrameHeadBytes = 5;

// The head of an uncompressed frame.
std::string FrameHead(size_t message_bytes);

// The size of the message in the first frame of `frame`, which contains the whole head.
size_t FrameMessageBytes(std::string_view frame);

// Messages to be sent together, in one buffer: each in its gRPC frame, so that the most common
// protocol sends them as they are.
//
// Threads: one at a time. Ownership: owns its bytes.
class MessageBatch {
 public:
  void Add(std::string_view message);
  bool empty() const { return frames_.empty(); }
  size_t bytes() const { return frames_.size(); }  // Including the frame heads.
  std::string TakeFrames() { return std::exchange(frames_, {}); }
  // Calls `visit` with each message, in order, for protocols that frame them differently.
  void ForEach(const std::function<void(std::string_view message)>& visit) const;

 private:
  std::string frames_;
};

}  // namespace hearth::rpc
