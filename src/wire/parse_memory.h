// The memory that libprotobuf needs for a message.
#pragma once

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"

namespace hearth::wire {

// Deep enough that a document that nests too deeply gets Firestore's own message, and shallow
// enough for the stack. One level of a map takes three messages.
inline constexpr int kMessageDepthMax = 400;

// Messages of up to this size are parsed without a claim: the worst of them takes a few megabytes,
// in as many places as there are threads.
inline constexpr size_t kUnclaimedBytesMax = 64 * 1024;

// About the memory that `bytes` take when they are parsed as a message of `type` and turned into
// our own types. Two bytes may be an empty message, which becomes an object of a hundred.
size_t ParsedBytes(const google::protobuf::Descriptor& type, std::string_view bytes);

// Claims it, if the message is long. ResourceExhausted if there is not enough memory.
Status ClaimParsed(const google::protobuf::Descriptor& type, std::string_view bytes,
                   MemoryClaim* claim);

inline Status NoMemoryForMessage() {
  return Status(Code::kResourceExhausted, "the server has no memory for a message of this size");
}

}  // namespace hearth::wire
