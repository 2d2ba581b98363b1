#include "apps/hackernews/hidden_stories.h"

#include <algorithm>
#include <charconv>

#include "base/status_macros.h"

namespace hearth::hackernews {
namespace {

using Ids = HiddenStories::Ids;

void Insert(Ids& ids, int64_t id) {
  const auto position = std::lower_bound(ids.begin(), ids.end(), id);
  if (position == ids.end() || *position != id) ids.insert(position, id);
}

void Remove(Ids& ids, int64_t id) {
  const auto position = std::lower_bound(ids.begin(), ids.end(), id);
  if (position != ids.end() && *position == id) ids.erase(position);
}

// Nullopt for documents that no version of this application has written.
std::optional<int64_t> ParseId(std::string_view text) {
  int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

}  // namespace

Status HiddenStories::Hide(const std::string& username, int64_t story_id) {
  RETURN_IF_ERROR(Doc(username, story_id).Set({{"addedAt", NowMs()}}).status());
  Note(username, [story_id](Ids& ids) { Insert(ids, story_id); });
  return Status();
}

Status HiddenStories::Unhide(const std::string& username, int64_t story_id) {
  RETURN_IF_ERROR(Doc(username, story_id).Delete().status());
  Note(username, [story_id](Ids& ids) { Remove(ids, story_id); });
  return Status();
}

Result<std::shared_ptr<const Ids>> HiddenStories::Get(const std::string& username) {
  const uint64_t changes_seen = changes();
  const int64_t now_ms = NowMs();
  std::optional<User> user = Recall(username);
  if (!user || now_ms - user->read_at_ms >= kReadAgainAfter.count()) {
    ASSIGN_OR_RETURN(Ids ids, Read(username, std::nullopt));
    user = User{.ids = std::make_shared<const Ids>(std::move(ids)),
                .read_at_ms = now_ms,
                .checked_at_ms = now_ms,
                .recency = {}};
  } else {
    ASSIGN_OR_RETURN(const Ids added, Read(username, user->checked_at_ms - kClockSkewMax.count()));
    user->checked_at_ms = now_ms;
    const bool has_all = std::all_of(added.begin(), added.end(), [&](int64_t id) {
      return std::binary_search(user->ids->begin(), user->ids->end(), id);
    });
    if (!has_all) {
      Ids ids = *user->ids;
      for (const int64_t id : added) Insert(ids, id);
      user->ids = std::make_shared<const Ids>(std::move(ids));
    }
  }
  std::shared_ptr<const Ids> ids = user->ids;
  Remember(username, *std::move(user), changes_seen);
  return ids;
}

Result<Ids> HiddenStories::Read(const std::string& username,
                                std::optional<int64_t> since_ms) const {
  client::Query query = collections_.hidden(username);
  if (since_ms) query = query.Where("addedAt", client::Op::kGreaterOrEqual, *since_ms);
  Ids ids;
  const auto read = query.Select({}).Stream([&](const client::DocumentSnapshot& document) {
    if (const std::optional<int64_t> id = ParseId(document.id())) ids.push_back(*id);
    return true;
  });
  RETURN_IF_ERROR(read.status());
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::optional<HiddenStories::User> HiddenStories::Recall(const std::string& username) {
  MutexLock lock(mutex_);
  const auto found = users_.find(username);
  if (found == users_.end()) return std::nullopt;
  recency_.splice(recency_.begin(), recency_, found->second.recency);
  return found->second;
}

void HiddenStories::Note(const std::string& username, const std::function<void(Ids&)>& change) {
  MutexLock lock(mutex_);
  ++changes_;
  const auto found = users_.find(username);
  if (found == users_.end()) return;
  User& user = found->second;
  Ids ids = *user.ids;
  remembered_ids_ -= ids.size();
  change(ids);
  remembered_ids_ += ids.size();
  user.ids = std::make_shared<const Ids>(std::move(ids));
}

uint64_t HiddenStories::changes() const {
  MutexLock lock(mutex_);
  return changes_;
}

void HiddenStories::Remember(const std::string& username, User user, uint64_t changes_seen) {
  MutexLock lock(mutex_);
  if (changes_ != changes_seen) return;
  const auto found = users_.find(username);
  if (found == users_.end()) {
    recency_.push_front(username);
    user.recency = recency_.begin();
  } else {
    remembered_ids_ -= found->second.ids->size();
    user.recency = found->second.recency;
  }
  remembered_ids_ += user.ids->size();
  users_[username] = std::move(user);
  while (remembered_ids_ > kRememberedIdsMax && recency_.back() != username) {
    const auto oldest = users_.find(recency_.back());
    remembered_ids_ -= oldest->second.ids->size();
    users_.erase(oldest);
    recency_.pop_back();
  }
}

}  // namespace hearth::hackernews
