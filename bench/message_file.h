#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace hearth::bench {

// A file for the load generator: messages, each preceded by its length as four bytes,
// little-endian.
class MessageFile {
 public:
  explicit MessageFile(const std::string& path) : file_(path, std::ios::binary) {}
  void Add(const google::protobuf::MessageLite& message) {
    const std::string bytes = message.SerializeAsString();
    const auto size = static_cast<uint32_t>(bytes.size());
    for (int shift = 0; shift < 32; shift += 8) file_.put(static_cast<char>(size >> shift));
    file_ << bytes;
  }

 private:
  std::ofstream file_;
};

}  // namespace hearth::bench
