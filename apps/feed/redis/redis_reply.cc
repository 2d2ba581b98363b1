#include "apps/feed/redis/redis_reply.h"

#include <charconv>
#include <system_error>

namespace hearth::feed {

std::string RedisReply::ErrorKind() const {
  return IsError() ? text.substr(0, text.find(' ')) : std::string();
}

Result<int64_t> RedisReply::ToInteger() const {
  if (type == Type::kInteger) return integer;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || parsed != end) {
    return Status(Code::kDataLoss,
                  "Redis returned something other than a number: \"" + text + "\"");
  }
  return number;
}

Status ToStatus(const RedisReply& error) {
  const std::string kind = error.ErrorKind();
  if (kind == "NOGROUP") return Status(Code::kFailedPrecondition, error.text);
  if (kind == "BUSYGROUP") return Status(Code::kAlreadyExists, error.text);
  return Status(Code::kUnavailable, "Redis: " + error.text);
}

}  // namespace hearth::feed
