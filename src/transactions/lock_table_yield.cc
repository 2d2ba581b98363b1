#include <algorithm>
#include <utility>

#include "transactions/lock_table.h"

namespace hearth::transactions {

bool LockTable::IsBlockedBy(const PrefixLock& lock, const DocumentLock& document,
                            IdleOwner::YieldsTo yields_to, size_t* allowance) const {
  if (!document.HasWaitingFor(BitOf(lock.mode), yields_to)) return false;
  if (!lock.query) return true;
  return std::ranges::any_of(kLockModes, [&](LockMode mode) REQUIRES_LOCK(mutex_) {
    if (!Conflicts(mode, BitOf(lock.mode))) return false;
    const auto& waiting = document.waiting_by_mode[SlotOf(mode)];
    return std::ranges::any_of(waiting, [&](const auto& item) REQUIRES_LOCK(mutex_) {
      if (IsUsedUp(allowance)) return false;
      const Request& request = waiting_.at(item.first);
      return request.open_questions == 0 && !request.harmless.contains(lock.number) &&
             (yields_to == IdleOwner::YieldsTo::kEverybody || item.second.is_retry());
    });
  });
}

bool LockTable::DocumentsAreInTheWay(const IdleOwner& idle, const OwnerState& state,
                                     size_t* allowance) const {
  const auto is_in_the_way = [&](const DocumentLock& lock) {
    const auto holder = lock.holders.find(idle.owner);
    return holder != lock.holders.end() && lock.HasWaitingFor(holder->second, idle.yields_to);
  };
  // Whichever are fewer: mostly, few documents are contended.
  if (state.held_keys.size() <= contended_.size()) {
    for (const std::string& key : state.held_keys) {
      if (IsUsedUp(allowance)) return false;
      if (is_in_the_way(documents_.find(key)->second)) return true;
    }
    return false;
  }
  for (const auto& [key, lock] : contended_) {
    if (IsUsedUp(allowance)) return false;
    if (is_in_the_way(*lock)) return true;
  }
  return false;
}

bool LockTable::PrefixIsInTheWay(const PrefixLock& lock, IdleOwner::YieldsTo yields_to,
                                 size_t* allowance) const {
  // Others may have locked any number of documents below the prefix; few of them are contended.
  for (auto document = contended_.lower_bound(lock.keys.prefix);
       document != contended_.end() && document->first.starts_with(lock.keys.prefix); ++document) {
    if (IsUsedUp(allowance)) return false;
    const bool is_covered = lock.keys.Covers(document->first);
    if (is_covered && IsBlockedBy(lock, *document->second, yields_to, allowance)) return true;
  }
  bool is_in_the_way = false;
  waiting_prefixes_.VisitMeeting(lock.keys.prefix, [&](const WaitingPrefix& waiting) {
    is_in_the_way = waiting.keys.Meets(lock.keys) && Conflicts(waiting.mode, BitOf(lock.mode)) &&
                    (yields_to == IdleOwner::YieldsTo::kEverybody || waiting.is_retry);
    return is_in_the_way || IsUsedUp(allowance);
  });
  return is_in_the_way;
}

bool LockTable::MustYield(const IdleOwner& idle, size_t* allowance) const {
  const auto found = owners_.find(idle.owner);
  if (found == owners_.end() || found->second.is_committing) return false;
  const OwnerState& state = found->second;
  if (!state.waiting.empty()) return false;  // No longer idle.
  if (IsUsedUp(allowance)) return false;
  if (DocumentsAreInTheWay(idle, state, allowance)) return true;
  for (const auto& held : state.held_prefixes) {
    if (*allowance == 0) return false;
    if (PrefixIsInTheWay(held->second, idle.yields_to, allowance)) return true;
  }
  return false;
}

void LockTable::Yield(std::vector<IdleOwner> idle) {
  if (idle.empty()) return;
  std::ranges::sort(idle, {}, &IdleOwner::owner);
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    if (waiting_.empty()) return;
    const auto begin = std::ranges::upper_bound(idle, yielded_up_to_, {}, &IdleOwner::owner);
    std::rotate(idle.begin(), begin, idle.end());
    size_t allowance = kYieldExaminedMax;
    std::vector<LockOwner> yielding;
    for (const IdleOwner& each : idle) {
      const bool is_first = allowance == kYieldExaminedMax;
      const bool must_yield = MustYield(each, &allowance);
      if (must_yield) yielding.push_back(each.owner);
      const bool is_examined = must_yield || allowance > 0;
      // An owner that is too much for a whole call keeps its locks, and the next one has its turn.
      if (is_examined || is_first) yielded_up_to_ = each.owner;
      if (!is_examined) break;
    }
    Freed freed;
    for (const LockOwner owner : yielding) {
      Drop(owner, Fate::kLost, LocksLost(), &freed, &decisions);
    }
    std::set<Ticket> candidates;
    AddWaiting(std::move(freed), &candidates);
    Settle(std::move(candidates), {}, &decisions);
  }
  Finish(std::move(decisions));
}

}  // namespace hearth::transactions
