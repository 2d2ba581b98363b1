#include <algorithm>
#include <tuple>
#include <utility>

#include "transactions/lock_table.h"

namespace hearth::transactions {

// Many requests can wait for the same locks. What the first of them has led to need not be looked
// at again for the others: all of it is visited anyway. The requests of `start` are the exception,
// since they do not lead to `start` itself.
struct LockTable::DeadlockSearch {
  LockOwner start;
  size_t allowance = kDeadlockExaminedMax;
  std::set<LockOwner> visited = {};
  std::set<std::pair<const DocumentLock*, LockMode>> visited_documents = {};
  std::set<std::tuple<std::string_view, std::string_view, LockMode>> visited_prefixes = {};
  // By their exact prefix: the locks of waiting owners that have not been in the way yet.
  std::map<std::string_view, std::vector<const PrefixLock*>> other_locks = {};
  std::set<LockOwner> blockers = {};  // Of the owner being visited.

  // Whether the request is the first to look there.
  bool IsNew(const Request& request, const DocumentLock& lock) {
    return request.owner == start || visited_documents.emplace(&lock, request.mode).second;
  }
  bool IsNew(const Request& request, const KeyPrefix& keys) {
    return request.owner == start ||
           visited_prefixes.emplace(keys.prefix, keys.part, request.mode).second;
  }
  bool IsDone(LockOwner owner) const { return owner != start && visited.contains(owner); }
};

bool LockTable::IsUsedUp(size_t* allowance) const {
  CountExamined();
  return *allowance == 0 || --*allowance == 0;
}

bool LockTable::IsWaiting(LockOwner owner) const { return !owners_.at(owner).waiting.empty(); }

void LockTable::AddHolders(const Request& request, const DocumentLock& lock,
                           DeadlockSearch* search) const {
  if (!lock.HasConflictingHolder(request.mode) || !search->IsNew(request, lock)) return;
  for (const auto& [holder, modes] : lock.holders) {
    if (IsUsedUp(&search->allowance)) return;
    const bool blocks = holder != request.owner && Conflicts(request.mode, modes);
    if (blocks && IsWaiting(holder)) search->blockers.insert(holder);
  }
}

void LockTable::AddPrefixHolders(const Request& request, const std::string& key,
                                 DeadlockSearch* search) const {
  std::vector<std::string_view> prefixes;
  prefixes_.VisitDistinctPrefixesOf(
      key, [&prefixes](std::string_view prefix) { prefixes.push_back(prefix); });
  for (const std::string_view prefix : prefixes) {
    if (IsUsedUp(&search->allowance)) return;
    const auto [found, is_new] = search->other_locks.try_emplace(prefix);
    std::vector<const PrefixLock*>& locks = found->second;
    if (is_new) {
      prefixes_.VisitEqual(prefix, [&locks](const PrefixLock& lock) { locks.push_back(&lock); });
      std::erase_if(locks, [&](const PrefixLock* lock) REQUIRES_LOCK(mutex_) {
        return IsUsedUp(&search->allowance) || !IsWaiting(lock->owner);
      });
    }
    std::erase_if(locks, [&](const PrefixLock* lock) {
      if (IsUsedUp(&search->allowance)) return false;
      const bool blocks = lock->owner != request.owner && lock->keys.Covers(key) &&
                          !request.harmless.contains(lock->number) &&
                          Conflicts(request.mode, BitOf(lock->mode));
      if (blocks) search->blockers.insert(lock->owner);
      return blocks || search->IsDone(lock->owner);
    });
  }
}

void LockTable::AddHoldersBelow(const Request& request, const KeyPrefix& keys,
                                DeadlockSearch* search) const {
  if (!search->IsNew(request, keys)) return;
  for (auto document = documents_.lower_bound(keys.prefix);
       document != documents_.end() && document->first.starts_with(keys.prefix); ++document) {
    if (IsUsedUp(&search->allowance)) return;
    if (keys.Covers(document->first)) AddHolders(request, document->second, search);
  }
  std::vector<LockOwner> holders;
  prefixes_.VisitMeeting(keys.prefix, [&](const PrefixLock& lock) {
    const bool blocks = lock.owner != request.owner && keys.Meets(lock.keys) &&
                        Conflicts(request.mode, BitOf(lock.mode));
    if (blocks) holders.push_back(lock.owner);
    return IsUsedUp(&search->allowance);
  });
  for (const LockOwner holder : holders) {
    if (IsWaiting(holder)) search->blockers.insert(holder);
  }
}

std::set<LockOwner> LockTable::WaitingBlockersOf(LockOwner owner, DeadlockSearch* search) const {
  for (const Ticket ticket : owners_.at(owner).waiting) {
    const Request& request = waiting_.at(ticket);
    if (request.open_questions > 0) continue;
    for (const std::string& key : request.scope.document_keys) {
      if (IsUsedUp(&search->allowance)) break;
      const auto lock = documents_.find(key);
      if (lock != documents_.end()) AddHolders(request, lock->second, search);
      AddPrefixHolders(request, key, search);
    }
    for (const KeyPrefix& keys : request.scope.key_prefixes) {
      AddHoldersBelow(request, keys, search);
    }
  }
  return std::exchange(search->blockers, {});
}

std::optional<LockOwner> LockTable::FindDeadlockVictim(LockOwner start) const {
  // An owner that holds nothing blocks no one.
  const auto owner = owners_.find(start);
  if (owner == owners_.end() || !owner->second.HoldsAnything()) return std::nullopt;
  // Depth first, without recursion: a chain can be as long as the number of owners.
  struct Step {
    LockOwner owner;
    std::set<LockOwner> blockers;  // Still to be visited.
  };
  DeadlockSearch search{.start = start};
  std::vector<Step> path;
  LockOwner next = start;
  while (true) {
    path.push_back({next, WaitingBlockersOf(next, &search)});
    if (path.back().blockers.contains(start)) {
      const auto outranks = [](LockOwner left, LockOwner right) { return left.Outranks(right); };
      return std::ranges::max_element(path, outranks, &Step::owner)->owner;
    }
    if (search.allowance == 0) return std::nullopt;
    do {
      while (path.back().blockers.empty()) {
        path.pop_back();
        if (path.empty()) return std::nullopt;
      }
      std::set<LockOwner>& blockers = path.back().blockers;
      next = blockers.extract(blockers.begin()).value();
    } while (!search.visited.insert(next).second);
  }
}

}  // namespace hearth::transactions
