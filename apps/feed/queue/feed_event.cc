#include <array>
#include <utility>

#include "apps/feed/queue/feed_queue.h"
#include "base/check.h"

namespace hearth::feed {
namespace {

using Kind = FeedEvent::Kind;
constexpr std::array<std::pair<Kind, std::string_view>, 4> kKinds{{
    {Kind::kPostCreated, "post_created"},
    {Kind::kPostDeleted, "post_deleted"},
    {Kind::kUserFollowed, "user_followed"},
    {Kind::kUserUnfollowed, "user_unfollowed"},
}};

}  // namespace

std::string_view ToString(FeedEvent::Kind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  CHECK(false);
}

Result<FeedEvent::Kind> ParseKind(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    if (name == text) return kind;
  }
  return InvalidArgument("unknown event kind: \"" + std::string(text) + "\"");
}

}  // namespace hearth::feed
