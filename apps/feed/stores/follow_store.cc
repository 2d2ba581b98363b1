#include "apps/feed/stores/follow_store.h"

#include <algorithm>
#include <utility>

#include "apps/feed/ids/post_key.h"
#include "apps/feed/stores/documents.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

using client::Direction;
using client::FieldValue;

std::vector<UserId> IdsOf(const client::DocumentSnapshot& list) {
  std::vector<UserId> ids;
  const std::optional<client::Value> value = list.Get("ids");
  if (!value || value->array() == nullptr) return ids;
  ids.reserve(value->array()->size());
  for (const client::Value& id : *value->array()) ids.push_back(UserId{id.integer().value_or(0)});
  // Lists of followed accounts are long, but written in order; only the other list needs sorting.
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
  return ids;
}

Following ReadFollowing(const client::DocumentSnapshot& list) {
  const std::optional<client::Value> version = list.Get("version");
  return {.version = version ? version->integer().value_or(0) : 0, .ids = IdsOf(list)};
}

Result<FollowStore::EdgePage> ListEdges(const client::CollectionReference& edges,
                                        const std::optional<FollowStore::Edge>& before,
                                        size_t limit) {
  client::Query query = edges.OrderBy("followed_at", Direction::kDescending)
                            .OrderBy("user_id", Direction::kDescending);
  if (before) {
    ASSIGN_OR_RETURN(const client::Timestamp followed,
                     client::Timestamp::FromParts(before->followed_seconds, 0));
    query = query.StartAfter({followed, ToNumber(before->user_id)});
  }
  // One more than requested tells whether there are more.
  ASSIGN_OR_RETURN(const client::QuerySnapshot found, query.Limit(limit + 1).Get());
  FollowStore::EdgePage page;
  page.has_more = found.size() > limit;
  for (const client::DocumentSnapshot& document : found.documents) {
    if (page.edges.size() == limit) break;
    const client::Map fields = document.Data();
    page.edges.push_back({.user_id = ReadId<UserId>(fields, "user_id"),
                          .followed_seconds = SecondsOf(fields, "followed_at")});
  }
  return page;
}

}  // namespace

client::Map ToDocument(const Following& following) {
  client::Array ids;
  ids.reserve(following.ids.size());
  for (const UserId id : following.ids) ids.emplace_back(ToNumber(id));
  return {{"version", following.version}, {"ids", std::move(ids)}};
}

FollowStore::FollowStore(const Clock& clock, Collections collections)
    : clock_(clock), collections_(std::move(collections)) {}

// The list tells whether the edge exists, and the update of the count fails if the account does
// not. Nothing of the followed account is read, or its followers would queue up there.
Result<int64_t> FollowStore::Follow(UserId user, UserId followed) {
  if (user == followed) return InvalidArgument("an account cannot follow itself");
  const client::DocumentReference list = collections_.following_list(user);
  Following following;
  RETURN_IF_ERROR(collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot read, transaction.Get(list));
        following = ReadFollowing(read);
        const auto place = std::lower_bound(following.ids.begin(), following.ids.end(), followed);
        if (place != following.ids.end() && *place == followed) {
          return Status(Code::kAlreadyExists, "followed already");
        }
        if (following.ids.size() >= kFollowingMax) {
          return InvalidArgument("an account cannot follow more than " +
                                 std::to_string(kFollowingMax) + " accounts");
        }
        following.ids.insert(place, followed);
        ++following.version;
        const client::Timestamp now = ToTimestamp(NowSeconds(clock_));
        transaction.Set(list, ToDocument(following));
        transaction.Create(collections_.following(user).Doc(ToText(followed)),
                           {{"user_id", ToNumber(followed)}, {"followed_at", now}});
        transaction.Create(collections_.followers(followed).Doc(ToText(user)),
                           {{"user_id", ToNumber(user)}, {"followed_at", now}});
        transaction.Update(collections_.user(user),
                           {{"following_count", FieldValue::Increment(1)}});
        transaction.Update(collections_.user(followed),
                           {{"follower_count", FieldValue::Increment(1)}});
        return Status();
      },
      kContended));
  return following.version;
}

Result<int64_t> FollowStore::Unfollow(UserId user, UserId followed) {
  const client::DocumentReference list = collections_.following_list(user);
  Following following;
  RETURN_IF_ERROR(collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const client::DocumentSnapshot read, transaction.Get(list));
        following = ReadFollowing(read);
        const auto place = std::lower_bound(following.ids.begin(), following.ids.end(), followed);
        if (place == following.ids.end() || *place != followed) {
          return Status(Code::kNotFound, "not followed");
        }
        following.ids.erase(place);
        ++following.version;
        transaction.Set(list, ToDocument(following));
        transaction.Delete(collections_.following(user).Doc(ToText(followed)));
        transaction.Delete(collections_.followers(followed).Doc(ToText(user)));
        transaction.Update(collections_.user(user),
                           {{"following_count", FieldValue::Increment(-1)}});
        transaction.Update(collections_.user(followed),
                           {{"follower_count", FieldValue::Increment(-1)}});
        return Status();
      },
      kContended));
  return following.version;
}

Result<Following> FollowStore::Get(UserId user) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot list, collections_.following_list(user).Get());
  return ReadFollowing(list);
}

Result<bool> FollowStore::IsFollowing(UserId user, UserId followed) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot edge,
                   collections_.following(user).Doc(ToText(followed)).Get());
  return edge.exists();
}

Result<FollowStore::EdgePage> FollowStore::ListFollowers(UserId user,
                                                         const std::optional<Edge>& before,
                                                         size_t limit) const {
  return ListEdges(collections_.followers(user), before, limit);
}

Result<FollowStore::EdgePage> FollowStore::ListFollowing(UserId user,
                                                         const std::optional<Edge>& before,
                                                         size_t limit) const {
  return ListEdges(collections_.following(user), before, limit);
}

Status FollowStore::ForEachFollower(
    UserId user, const std::function<Status(const std::vector<UserId>&)>& on_some) const {
  // By name: concurrent follows and unfollows do not move others to another page.
  const client::Query all = collections_.followers(user).OrderBy("__name__").Select({});
  std::optional<client::DocumentSnapshot> last;
  while (true) {
    ASSIGN_OR_RETURN(const client::QuerySnapshot found,
                     (last ? all.StartAfter(*last) : all).Limit(kFollowersPerRead).Get());
    if (found.empty()) return Status();
    std::vector<UserId> ids;
    ids.reserve(found.size());
    for (const client::DocumentSnapshot& edge : found.documents) {
      ASSIGN_OR_RETURN(const UserId id, ParseId<UserId>(edge.id()));
      ids.push_back(id);
    }
    RETURN_IF_ERROR(on_some(ids));
    if (found.size() < kFollowersPerRead) return Status();
    last = found.documents.back();
  }
}

Result<std::vector<UserId>> FollowStore::PulledAuthors() const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot list, collections_.pulled_authors().Get());
  return IdsOf(list);
}

Status FollowStore::AddPulledAuthor(UserId author) {
  return collections_.pulled_authors()
      .Set({{"ids", FieldValue::ArrayUnion({ToNumber(author)})}}, {.merge = true})
      .status();
}

Result<FollowStore::Sources> FollowStore::GetSources(UserId user) const {
  ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> lists,
                   collections_.database().GetAll(
                       {collections_.following_list(user), collections_.pulled_authors()}));
  Sources sources = {.following = ReadFollowing(lists[0]), .pulled = {}};
  const std::vector<UserId> pulled = IdsOf(lists[1]);
  std::ranges::set_intersection(sources.following.ids, pulled, std::back_inserter(sources.pulled));
  return sources;
}

}  // namespace hearth::feed
