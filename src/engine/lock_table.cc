#include "engine/lock_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace hearth::engine {
namespace {

constexpr char kContention[] = "Too much contention on these documents. Please try again.";

constexpr LockMode kModes[] = {LockMode::kRead, LockMode::kUpdate, LockMode::kWrite};

uint8_t Bit(LockMode mode) { return static_cast<uint8_t>(mode); }

size_t Index(LockMode mode) { return static_cast<size_t>(std::countr_zero(Bit(mode))); }

bool Conflicts(LockMode requested, uint8_t held_modes) {
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

// True when a prefix of `left` meets a key or prefix of `right`.
bool PrefixesMeet(const LockScope& left, const LockScope& right) {
  return std::ranges::any_of(left.key_prefixes, [&right](const KeyPrefix& prefix) {
    return std::ranges::any_of(right.document_keys,
                               [&prefix](const std::string& key) { return prefix.Covers(key); }) ||
           std::ranges::any_of(right.key_prefixes,
                               [&prefix](const KeyPrefix& other) { return prefix.Meets(other); });
  });
}

}  // namespace

LockTable::LockTable(const Clock& clock, std::chrono::milliseconds wait_max)
    : clock_(clock), wait_max_(wait_max) {}

bool LockTable::DocumentLock::IsUnused() const {
  return holders.empty() && std::ranges::all_of(waiting_by_mode, &std::set<Ticket>::empty);
}

bool LockTable::DocumentLock::HasConflictingHolder(LockMode requested) const {
  return std::ranges::any_of(kModes, [&](LockMode mode) {
    return holders_by_mode[Index(mode)] > 0 && Conflicts(requested, Bit(mode));
  });
}

bool LockTable::DocumentLock::HasConflictingRequestBefore(Ticket ticket, LockMode requested) const {
  return std::ranges::any_of(kModes, [&](LockMode mode) {
    const std::set<Ticket>& waiting = waiting_by_mode[Index(mode)];
    return !waiting.empty() && *waiting.begin() < ticket && Conflicts(requested, Bit(mode));
  });
}

bool LockTable::Protects(const PrefixLock& lock, const Request& request, size_t i) {
  if (!lock.keys.Covers(request.scope.document_keys[i])) return false;
  // Of narrowed locks, results have one of their own; what remains is to keep others from
  // becoming results.
  return !lock.query || !request.scope.may_enter || request.scope.may_enter(i, *lock.query);
}

template <typename Visit>
bool LockTable::VisitBlockers(const Request& request, const Visit& visit) const {
  const auto stops_at = [&](LockOwner owner, uint8_t modes) {
    return owner != request.owner && Conflicts(request.mode, modes) && visit(owner);
  };
  const auto stops_in = [&](const DocumentLock& lock) {
    return lock.HasConflictingHolder(request.mode) &&
           std::ranges::any_of(lock.holders, [&](const auto& holder) {
             return stops_at(holder.first, holder.second);
           });
  };
  for (size_t i = 0; i < request.scope.document_keys.size(); ++i) {
    const auto lock = documents_.find(request.scope.document_keys[i]);
    if (lock != documents_.end() && stops_in(lock->second)) return true;
    for (const PrefixLock& prefix : prefixes_) {
      if (Protects(prefix, request, i) && stops_at(prefix.owner, Bit(prefix.mode))) return true;
    }
  }
  for (const KeyPrefix& prefix : request.scope.key_prefixes) {
    for (const auto& [key, lock] : documents_) {
      if (prefix.Covers(key) && stops_in(lock)) return true;
    }
    for (const PrefixLock& lock : prefixes_) {
      if (prefix.Meets(lock.keys) && stops_at(lock.owner, Bit(lock.mode))) return true;
    }
  }
  return false;
}

bool LockTable::MustQueueBehind(const Request& request, Ticket ticket) const {
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;
    if (lock->second.HasConflictingRequestBefore(ticket, request.mode)) return true;
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
  return !VisitBlockers(request, [](LockOwner) { return true; });
}

void LockTable::Grant(const Request& request) {
  OwnerState& owner = owners_[request.owner];
  for (const std::string& key : request.scope.document_keys) {
    DocumentLock& lock = documents_[key];
    uint8_t& modes = lock.holders[request.owner];
    if (modes == 0) owner.held_keys.push_back(key);
    if ((modes & Bit(request.mode)) == 0) ++lock.holders_by_mode[Index(request.mode)];
    modes = static_cast<uint8_t>(modes | Bit(request.mode));
  }
  for (const KeyPrefix& prefix : request.scope.key_prefixes) {
    prefixes_.push_back({request.owner, request.mode, prefix});
    owner.holds_prefixes = true;
  }
}

void LockTable::Enqueue(Request request, Ticket ticket) {
  owners_[request.owner].waiting.insert(ticket);
  for (const std::string& key : request.scope.document_keys) {
    documents_[key].waiting_by_mode[Index(request.mode)].insert(ticket);
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
    lock->second.waiting_by_mode[Index(request.mode)].erase(ticket);
    if (lock->second.IsUnused()) documents_.erase(lock);
  }
  return request;
}

std::set<LockOwner> LockTable::BlockersOf(LockOwner owner) const {
  std::set<LockOwner> blockers;
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return blockers;
  for (const Ticket ticket : found->second.waiting) {
    VisitBlockers(waiting_.at(ticket), [&blockers](LockOwner blocker) {
      blockers.insert(blocker);
      return false;
    });
  }
  return blockers;
}

std::optional<LockOwner> LockTable::FindDeadlockVictim(LockOwner start) const {
  // Nobody waits for somebody who holds nothing.
  const auto owner = owners_.find(start);
  if (owner == owners_.end() || !owner->second.HoldsAnything()) return std::nullopt;
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
    std::set<Ticket> overtaking;
    if (CanGrant(request, ticket)) {
      Grant(request);
      decided.emplace_back(std::move(request.done), Status());
      overtaking = owners_.at(owner).waiting;
    } else if (!closed_.ok()) {
      decided.emplace_back(std::move(request.done), closed_);
    } else if (waiting_.size() >= kWaitingRequestsMax) {
      decided.emplace_back(std::move(request.done),
                           Status(Code::kResourceExhausted, "too many requests wait for a lock"));
    } else {
      Enqueue(std::move(request), ticket);
    }
    Settle(std::move(overtaking), {owner}, &decided);
  }
  Run(std::move(decided));
}

void LockTable::Narrow(LockOwner owner, const KeyPrefix& keys,
                       std::shared_ptr<const watch::LiveQuery> query,
                       std::vector<std::string> result_keys) {
  Decided decided;
  {
    MutexLock lock(mutex_);
    const auto held = std::ranges::find_if(prefixes_, [&](const PrefixLock& each) {
      return each.owner == owner && !each.query && each.keys == keys;
    });
    if (held == prefixes_.end()) return;
    held->query = std::move(query);
    Request results;
    results.owner = owner;
    results.scope.document_keys = std::move(result_keys);
    results.mode = held->mode;
    Grant(results);  // Nobody can have locked them against the lock on all of them.
    std::set<Ticket> candidates;
    AddWaiting({}, Prefixes::kSome, &candidates);
    Settle(std::move(candidates), {}, &decided);
  }
  Run(std::move(decided));
}

void LockTable::AddWaiting(const std::vector<std::string>& keys, Prefixes prefixes,
                           std::set<Ticket>* candidates) const {
  for (const std::string& key : keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;
    for (const std::set<Ticket>& waiting : lock->second.waiting_by_mode) {
      candidates->insert(waiting.begin(), waiting.end());
    }
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
    const uint8_t modes = lock->second.holders.extract(owner).mapped();
    for (const LockMode mode : kModes) {
      if ((modes & Bit(mode)) != 0) --lock->second.holders_by_mode[Index(mode)];
    }
    if (lock->second.IsUnused()) documents_.erase(lock);
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
