#pragma once

#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/status_macros.h"

namespace hearth::feed {

// Each kind of id has its own type. Stores assign ids from 1; 0 means no id. Documents, JSON and
// Redis hold them as plain numbers.
enum class UserId : int64_t {};
enum class PostId : int64_t {};
enum class CommentId : int64_t {};

template <typename T>
concept Id = std::same_as<T, UserId> || std::same_as<T, PostId> || std::same_as<T, CommentId>;

constexpr int64_t ToNumber(Id auto id) { return static_cast<int64_t>(id); }
std::string ToText(Id auto id) { return std::to_string(ToNumber(id)); }
std::ostream& operator<<(std::ostream& out, Id auto id) { return out << ToNumber(id); }

// Whether a store can have assigned it.
constexpr bool IsValid(Id auto id) { return ToNumber(id) > 0; }

// The id that follows this one.
template <Id T>
constexpr T Next(T id) {
  return T{ToNumber(id) + 1};
}

// A positive decimal number without a sign, blanks or leading zeros. InvalidArgument for other
// text.
Result<int64_t> ParseIdNumber(std::string_view text);

template <Id T>
Result<T> ParseId(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t number, ParseIdNumber(text));
  return T{number};
}

}  // namespace hearth::feed
