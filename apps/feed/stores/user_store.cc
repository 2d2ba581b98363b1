#include "apps/feed/stores/user_store.h"

#include <algorithm>
#include <utility>

#include "apps/feed/stores/documents.h"
#include "base/status_macros.h"

namespace hearth::feed {
namespace {

using client::Direction;
using client::Op;

// U+10FFFF, the last character: a prefix followed by it sorts after every text with that prefix.
constexpr std::string_view kLastCharacter = "\xF4\x8F\xBF\xBF";

// ASCII only; other alphabets stay unchanged.
std::string Lowered(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

Result<User> ReadUser(const client::DocumentSnapshot& document) {
  const client::Map fields = document.Data();
  User user = {.id = ReadId<UserId>(fields, "id"),
               .username = TextOf(fields, "username"),
               .display_name = TextOf(fields, "display_name"),
               .bio = TextOf(fields, "bio"),
               .password_hash = TextOf(fields, "password_hash"),
               .is_new_user = BooleanOf(fields, "is_new_user"),
               .created_seconds = SecondsOf(fields, "created_at"),
               .post_count = IntegerOf(fields, "post_count"),
               .follower_count = IntegerOf(fields, "follower_count"),
               .following_count = IntegerOf(fields, "following_count")};
  if (!IsValid(user.id) || user.username.empty()) return NotOurs(document, "account");
  return user;
}

Status NoSuchUser(const std::string& who) { return Status(Code::kNotFound, "no account " + who); }

}  // namespace

client::Map ToDocument(const User& user) {
  return {{"id", ToNumber(user.id)},
          {"username", user.username},
          {"display_name", user.display_name},
          {"display_name_lowered", Lowered(user.display_name)},
          {"bio", user.bio},
          {"password_hash", user.password_hash},
          {"is_new_user", user.is_new_user},
          {"created_at", ToTimestamp(user.created_seconds)},
          {"post_count", user.post_count},
          {"follower_count", user.follower_count},
          {"following_count", user.following_count}};
}

UserStore::UserStore(const Clock& clock, Collections collections)
    : clock_(clock), collections_(std::move(collections)) {}

Result<User> UserStore::Create(User user) {
  user.username = Lowered(user.username);
  user.created_seconds = NowSeconds(clock_);
  const client::DocumentReference counter = collections_.counter("users");
  const client::DocumentReference name = collections_.username(user.username);
  RETURN_IF_ERROR(collections_.database().RunTransaction(
      [&](client::Transaction& transaction) -> Status {
        ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> read,
                         transaction.GetAll({counter, name}));
        if (read[1].exists()) {
          return Status(Code::kAlreadyExists, "the name " + user.username + " is taken");
        }
        user.id = Next(LastId<UserId>(read[0]));
        transaction.Create(collections_.user(user.id), ToDocument(user));
        transaction.Create(name, {{"user_id", ToNumber(user.id)}});
        transaction.Set(counter, {{"last_id", ToNumber(user.id)}});
        return Status();
      },
      kContended));
  return user;
}

Result<User> UserStore::Get(UserId id) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot document, collections_.user(id).Get());
  if (!document.exists()) return NoSuchUser(ToText(id));
  return ReadUser(document);
}

Result<std::vector<User>> UserStore::GetAll(const std::vector<UserId>& ids) const {
  std::vector<User> users;
  if (ids.empty()) return users;
  std::vector<client::DocumentReference> documents;
  documents.reserve(ids.size());
  for (const UserId id : ids) documents.push_back(collections_.user(id));
  ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> snapshots,
                   collections_.database().GetAll(documents));
  users.reserve(ids.size());
  for (const client::DocumentSnapshot& snapshot : snapshots) {
    if (!snapshot.exists()) continue;
    ASSIGN_OR_RETURN(User user, ReadUser(snapshot));
    users.push_back(std::move(user));
  }
  return users;
}

Result<User> UserStore::FindByName(const std::string& username) const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot name,
                   collections_.username(Lowered(username)).Get());
  if (!name.exists()) return NoSuchUser(username);
  return Get(ReadId<UserId>(name.Data(), "user_id"));
}

Result<std::vector<User>> UserStore::Search(const std::string& text, size_t limit) const {
  std::vector<client::Query> queries;
  if (text.empty()) {
    queries.push_back(collections_.users().OrderBy("follower_count", Direction::kDescending));
  } else {
    const std::string first = Lowered(text);
    for (const char* field : {"username", "display_name_lowered"}) {
      queries.push_back(collections_.users()
                            .Where(field, Op::kGreaterOrEqual, first)
                            .Where(field, Op::kLess, first + std::string(kLastCharacter))
                            .OrderBy(field));
    }
  }
  std::vector<User> users;
  for (const client::Query& query : queries) {
    ASSIGN_OR_RETURN(const client::QuerySnapshot found, query.Limit(limit).Get());
    for (const client::DocumentSnapshot& document : found.documents) {
      ASSIGN_OR_RETURN(User user, ReadUser(document));
      const bool is_known =
          std::ranges::any_of(users, [&](const User& known) { return known.id == user.id; });
      if (!is_known && users.size() < limit) users.push_back(std::move(user));
    }
  }
  return users;
}

Status UserStore::FinishOnboarding(UserId id) {
  return collections_.user(id).Update({{"is_new_user", false}}).status();
}

// Accounts are never deleted, so the last id is their number.
Result<int64_t> UserStore::Count() const {
  ASSIGN_OR_RETURN(const client::DocumentSnapshot counter, collections_.counter("users").Get());
  return ToNumber(LastId<UserId>(counter));
}

}  // namespace hearth::feed
