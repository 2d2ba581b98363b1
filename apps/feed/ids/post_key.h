#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "apps/feed/ids/ids.h"
#include "base/status.h"
#include "base/status_macros.h"

namespace hearth::feed {

// The position of an item in its lists: by whole seconds, then by id. Its text is a cursor,
// "1041:1732899000", which says where a page ended even if the item was deleted.
template <Id T>
struct Place {
  int64_t created_seconds = 0;
  T id = {};

  friend auto operator<=>(const Place&, const Place&) = default;
};

using PostKey = Place<PostId>;
using CommentKey = Place<CommentId>;

template <Id T>
std::string FormatCursor(const Place<T>& place) {
  return ToText(place.id) + ":" + std::to_string(place.created_seconds);
}

// The two numbers of a cursor. InvalidArgument for other text: negative numbers, signs, blanks,
// numbers beyond 64 bits.
struct CursorNumbers {
  int64_t id;
  int64_t seconds;
};
Result<CursorNumbers> ParseCursorNumbers(std::string_view text);

template <Id T>
Result<Place<T>> ParseCursor(std::string_view text) {
  ASSIGN_OR_RETURN(const CursorNumbers numbers, ParseCursorNumbers(text));
  return Place<T>{.created_seconds = numbers.seconds, .id = T{numbers.id}};
}

}  // namespace hearth::feed
