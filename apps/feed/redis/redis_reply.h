#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace hearth::feed {

// A reply from Redis.
struct RedisReply {
  enum class Type : uint8_t { kNil, kStatus, kError, kInteger, kString, kArray };

  Type type = Type::kNil;
  int64_t integer = 0;               // For kInteger.
  std::string text;                  // For kStatus, kError and kString.
  std::vector<RedisReply> elements;  // For kArray.

  bool IsNil() const { return type == Type::kNil; }
  bool IsError() const { return type == Type::kError; }
  bool IsArray() const { return type == Type::kArray; }
  // The first word of an error: "OOM", "MOVED" and so on.
  std::string ErrorKind() const;
  // The number of a kInteger or of numeric text; DataLoss for anything else.
  Result<int64_t> ToInteger() const;
};

// The status of an error reply. FailedPrecondition for NOGROUP and AlreadyExists for BUSYGROUP;
// anything else, such as OOM, LOADING or READONLY, means that Redis cannot serve now: Unavailable.
Status ToStatus(const RedisReply& error);

}  // namespace hearth::feed
