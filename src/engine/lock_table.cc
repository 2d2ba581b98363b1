#include "engine/lock_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hearth::engine {
namespace {

constexpr char kContention[] = "Too much contention on these documents. Please try again.";

uint8_t Bit(LockMode mode) { return static_cast<uint8_t>(mode); }

// True when a prefix of `left` meets a key or prefix of `right`.
bool PrefixesMeet(const LockScope& left, const LockScope& right) {
  return std::ranges::any_of(left.key_prefixes, [&right](const std::string& prefix) {
    return std::ranges::any_of(
               right.document_keys,
               [&prefix](const std::string& key) { return key.starts_with(prefix); }) ||
           std::ranges::any_of(right.key_prefixes, [&prefix](const std::string& other) {
             return other.starts_with(prefix) || prefix.starts_with(other);
           });
  });
}

}  // namespace

LockTable::LockTable(const Clock& clock, std::chrono::milliseconds wait_max)
    : clock_(clock), wait_max_(wait_max) {}

bool LockTable::Conflicts(LockMode requested, uint8_t held_modes) {
  const auto holds = [held_modes](LockMode mode) { return (held_modes & Bit(mode)) != 0; };
  switch (requested) {
    case LockMode::kRead:
      return holds(LockMode::kUpdate) || holds(LockMode::kWrite);
    case LockMode::kUpdate:
      return held_modes != 0;
    case LockMode::kWrite:
      return holds(LockMode::kRead) || holds(LockMode::kUpdate);
  }
  return true;
}

std::set<LockOwner> LockTable::Blockers(const Request& request) const {
  std::set<LockOwner> blockers;
  const auto consider = [&](LockOwner owner, uint8_t modes) {
    if (owner != request.owner && Conflicts(request.mode, modes)) blockers.insert(owner);
  };
  for (const std::string& key : request.scope.document_keys) {
    if (const auto lock = documents_.find(key); lock != documents_.end()) {
      for (const Holder& holder : lock->second.holders) consider(holder.owner, holder.modes);
    }
    for (const PrefixLock& lock : prefixes_) {
      if (key.starts_with(lock.prefix)) consider(lock.owner, Bit(lock.mode));
    }
  }
  for (const std::string& prefix : request.scope.key_prefixes) {
    for (const auto& [key, lock] : documents_) {
      if (!key.starts_with(prefix)) continue;
      for (const Holder& holder : lock.holders) consider(holder.owner, holder.modes);
    }
    for (const PrefixLock& lock : prefixes_) {
      const bool overlaps = prefix.starts_with(lock.prefix) || lock.prefix.starts_with(prefix);
      if (overlaps) consider(lock.owner, Bit(lock.mode));
    }
  }
  return blockers;
}

bool LockTable::MustQueueBehind(const Request& request, Ticket ticket) const {
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;
    for (const Ticket earlier : lock->second.waiting) {
      if (earlier >= ticket) break;
      if (Conflicts(request.mode, Bit(waiting_.at(earlier).mode))) return true;
    }
  }
  const auto is_behind = [&](const Request& earlier) {
    return Conflicts(request.mode, Bit(earlier.mode)) &&
           (PrefixesMeet(request.scope, earlier.scope) ||
            PrefixesMeet(earlier.scope, request.scope));
  };
  if (!request.scope.key_prefixes.empty()) {
    for (const auto& [earlier, other] : waiting_) {
      if (earlier >= ticket) break;
      if (is_behind(other)) return true;
    }
    return false;
  }
  for (const Ticket earlier : waiting_prefixes_) {
    if (earlier >= ticket) break;
    if (is_behind(waiting_.at(earlier))) return true;
  }
  return false;
}

bool LockTable::CanGrant(const Request& request, Ticket ticket) const {
  const auto owner = owners_.find(request.owner);
  const bool overtakes = owner != owners_.end() && owner->second.HoldsAnything();
  if (!overtakes && MustQueueBehind(request, ticket)) return false;
  return Blockers(request).empty();
}

void LockTable::Grant(const Request& request) {
  OwnerState& owner = owners_[request.owner];
  for (const std::string& key : request.scope.document_keys) {
    std::vector<Holder>& holders = documents_[key].holders;
    const auto own = std::ranges::find(holders, request.owner, &Holder::owner);
    if (own != holders.end()) {
      own->modes = static_cast<uint8_t>(own->modes | Bit(request.mode));
    } else {
      holders.push_back({request.owner, Bit(request.mode)});
      owner.held_keys.push_back(key);
    }
  }
  for (const std::string& prefix : request.scope.key_prefixes) {
    prefixes_.push_back({request.owner, request.mode, prefix});
    owner.holds_prefixes = true;
  }
}

void LockTable::Enqueue(Request request, Ticket ticket) {
  owners_[request.owner].waiting.insert(ticket);
  for (const std::string& key : request.scope.document_keys) {
    documents_[key].waiting.insert(ticket);
  }
  if (!request.scope.key_prefixes.empty()) waiting_prefixes_.insert(ticket);
  waiting_.emplace(ticket, std::move(request));
}

LockTable::Request LockTable::TakeWaiting(Ticket ticket) {
  auto node = waiting_.extract(ticket);
  CHECK(!node.empty());
  Request request = std::move(node.mapped());
  owners_.at(request.owner).waiting.erase(ticket);
  waiting_prefixes_.erase(ticket);
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;  // The request names the key twice.
    lock->second.waiting.erase(ticket);
    if (lock->second.waiting.empty() && lock->second.holders.empty()) documents_.erase(lock);
  }
  return request;
}

std::set<LockOwner> LockTable::BlockersOf(LockOwner owner) const {
  std::set<LockOwner> blockers;
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return blockers;
  for (const Ticket ticket : found->second.waiting) blockers.merge(Blockers(waiting_.at(ticket)));
  return blockers;
}

std::optional<LockOwner> LockTable::FindDeadlockVictim(LockOwner start) const {
  // Depth first, without recursion: a chain can be as long as there are owners.
  struct Step {
    LockOwner owner;
    std::set<LockOwner> blockers;  // Those still to be looked at.
  };
  std::set<LockOwner> visited;
  std::vector<Step> path;
  path.push_back({start, BlockersOf(start)});
  while (!path.empty()) {
    std::set<LockOwner>& blockers = path.back().blockers;
    if (blockers.empty()) {
      path.pop_back();
      continue;
    }
    const LockOwner blocker = blockers.extract(blockers.begin()).value();
    if (blocker == start) return std::ranges::max_element(path, {}, &Step::owner)->owner;
    if (visited.insert(blocker).second) path.push_back({blocker, BlockersOf(blocker)});
  }
  return std::nullopt;
}

void LockTable::Acquire(LockOwner owner, LockScope scope, LockMode mode, Callback done) {
  Decided decided;
  {
    MutexLock lock(mutex_);
    const Ticket ticket = next_ticket_++;
    Request request{owner, std::move(scope), mode, std::move(done), clock_.Monotonic() + wait_max_};
    if (CanGrant(request, ticket)) {
      Grant(request);
      decided.emplace_back(std::move(request.done), Status());
    } else if (closed_.ok()) {
      Enqueue(std::move(request), ticket);
    } else {
      decided.emplace_back(std::move(request.done), closed_);
    }
    const auto state = owners_.find(owner);
    if (state != owners_.end() && !state->second.waiting.empty()) {
      Settle(state->second.waiting, {owner}, &decided);
    }
  }
  Run(std::move(decided));
}

void LockTable::AddWaiting(const std::vector<std::string>& keys, Prefixes prefixes,
                           std::set<Ticket>* candidates) const {
  for (const std::string& key : keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;
    candidates->insert(lock->second.waiting.begin(), lock->second.waiting.end());
  }
  if (prefixes == Prefixes::kNone) {
    candidates->insert(waiting_prefixes_.begin(), waiting_prefixes_.end());
  } else {
    for (const auto& [ticket, request] : waiting_) candidates->insert(ticket);
  }
}

void LockTable::Drop(LockOwner owner, std::set<Ticket>* candidates, Decided* decided) {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  while (!found->second.waiting.empty()) {
    Request request = TakeWaiting(*found->second.waiting.begin());
    AddWaiting(request.scope.document_keys, PrefixesOf(request), candidates);
    decided->emplace_back(std::move(request.done), Status(Code::kAborted, kContention));
  }
  const OwnerState state = std::move(found->second);
  owners_.erase(found);
  for (const std::string& key : state.held_keys) {
    const auto lock = documents_.find(key);
    std::erase_if(lock->second.holders,
                  [&](const Holder& holder) { return holder.owner == owner; });
    if (lock->second.waiting.empty() && lock->second.holders.empty()) documents_.erase(lock);
  }
  std::erase_if(prefixes_, [&](const PrefixLock& lock) { return lock.owner == owner; });
  AddWaiting(state.held_keys, state.holds_prefixes ? Prefixes::kSome : Prefixes::kNone, candidates);
}

void LockTable::Settle(std::set<Ticket> candidates, std::vector<LockOwner> suspects,
                       Decided* decided) {
  while (true) {
    while (!candidates.empty()) {
      const Ticket ticket = candidates.extract(candidates.begin()).value();
      const auto waiting = waiting_.find(ticket);
      if (waiting == waiting_.end() || !CanGrant(waiting->second, ticket)) continue;
      Request request = TakeWaiting(ticket);
      Grant(request);
      decided->emplace_back(std::move(request.done), Status());
      // What the owner holds now lets its other requests overtake, and others may wait for it.
      const std::set<Ticket>& others = owners_.at(request.owner).waiting;
      if (others.empty()) continue;
      candidates.insert(others.begin(), others.end());
      suspects.push_back(request.owner);
    }
    if (suspects.empty()) return;
    if (const std::optional<LockOwner> victim = FindDeadlockVictim(suspects.back())) {
      Drop(*victim, &candidates, decided);
    } else {
      suspects.pop_back();
    }
  }
}

void LockTable::Release(LockOwner owner) { ReleaseAll({owner}); }

void LockTable::ReleaseAll(const std::vector<LockOwner>& owners) {
  Decided decided;
  {
    MutexLock lock(mutex_);
    std::set<Ticket> candidates;
    for (const LockOwner owner : owners) Drop(owner, &candidates, &decided);
    Settle(std::move(candidates), {}, &decided);
  }
  Run(std::move(decided));
}

void LockTable::ExpireWaits() {
  Decided decided;
  {
    MutexLock lock(mutex_);
    const auto now = clock_.Monotonic();
    std::vector<Ticket> late;
    for (const auto& [ticket, request] : waiting_) {
      if (request.give_up_at <= now) late.push_back(ticket);
    }
    std::set<Ticket> candidates;
    for (const Ticket ticket : late) {
      Request request = TakeWaiting(ticket);
      AddWaiting(request.scope.document_keys, PrefixesOf(request), &candidates);
      const auto owner = owners_.find(request.owner);
      if (!owner->second.HoldsAnything() && owner->second.waiting.empty()) owners_.erase(owner);
      decided.emplace_back(
          std::move(request.done),
          Status(Code::kAborted, std::string(kContention) + " (Transaction lock timeout.)"));
    }
    Settle(std::move(candidates), {}, &decided);
  }
  Run(std::move(decided));
}

void LockTable::Close(Status status) {
  Decided decided;
  {
    MutexLock lock(mutex_);
    closed_ = std::move(status);
    while (!waiting_.empty()) {
      Request request = TakeWaiting(waiting_.begin()->first);
      decided.emplace_back(std::move(request.done), closed_);
    }
  }
  Run(std::move(decided));
}

size_t LockTable::waiting_requests() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

void LockTable::Run(Decided decided) {
  for (auto& [done, status] : decided) done(std::move(status));
}

}  // namespace hearth::engine
