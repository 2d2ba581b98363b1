#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hearth::feed {

// A post's place in every list: newest first, by whole seconds and then by id. Text of it is a
// cursor, "1041:1732899000", that says where a page ended even when its post is gone.
struct PostKey {
  int64_t created_seconds = 0;
  int64_t id = 0;

  friend auto operator<=>(const PostKey&, const PostKey&) = default;
};

std::string FormatCursor(const PostKey& key);
// InvalidArgument for what is no cursor: negative numbers, signs, blanks, numbers beyond 64 bits.
Result<PostKey> ParseCursor(std::string_view text);

// A positive decimal number without a sign, blanks or leading zeros, such as ids in paths.
Result<int64_t> ParseId(std::string_view text);

}  // namespace hearth::feed
