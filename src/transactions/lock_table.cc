#include "transactions/lock_table.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace hearth::transactions {
namespace {

constexpr LockMode kModes[] = {LockMode::kRead, LockMode::kUpdate, LockMode::kWrite};

Status WaitedTooLong() {
  return Status(Code::kAborted, LocksLost().message() + " (Transaction lock timeout.)");
}

uint8_t Bit(LockMode mode) { return static_cast<uint8_t>(mode); }

size_t SlotOf(LockMode mode) { return static_cast<size_t>(std::countr_zero(Bit(mode))); }

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

}  // namespace

Status LocksLost() {
  return Status(Code::kAborted, "Too much contention on these documents. Please try again.");
}

LockTable::LockTable(const Clock& clock, std::chrono::milliseconds wait_max)
    : clock_(clock), wait_max_(wait_max) {}

bool LockTable::DocumentLock::IsUnused() const {
  return holders.empty() && std::ranges::all_of(waiting_by_mode, &std::set<Ticket>::empty);
}

bool LockTable::DocumentLock::HasConflictingHolder(LockMode requested) const {
  return std::ranges::any_of(kModes, [&](LockMode mode) {
    return holders_by_mode[SlotOf(mode)] > 0 && Conflicts(requested, Bit(mode));
  });
}

bool LockTable::DocumentLock::HasConflictingRequestBefore(Ticket ticket, LockMode requested) const {
  return std::ranges::any_of(kModes, [&](LockMode mode) {
    const std::set<Ticket>& waiting = waiting_by_mode[SlotOf(mode)];
    return !waiting.empty() && *waiting.begin() < ticket && Conflicts(requested, Bit(mode));
  });
}

template <typename Visit>
bool LockTable::VisitDocuments(const KeyPrefix& keys, const Visit& visit) const {
  for (auto document = documents_.lower_bound(keys.prefix);
       document != documents_.end() && document->first.starts_with(keys.prefix); ++document) {
    CountExamined();
    if (keys.Covers(document->first) && visit(document->second)) return true;
  }
  return false;
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
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    CountExamined();
    if (lock != documents_.end() && stops_in(lock->second)) return true;
    const bool stops = prefixes_.VisitPrefixesOf(key, [&](const PrefixLock& prefix) {
      CountExamined();
      // Results of a narrowed lock have document locks of their own; the prefix lock only keeps
      // other documents from becoming results.
      return prefix.keys.Covers(key) && !request.harmless.contains(prefix.number) &&
             stops_at(prefix.owner, Bit(prefix.mode));
    });
    if (stops) return true;
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    if (VisitDocuments(keys, stops_in)) return true;
    const bool stops = prefixes_.VisitMeeting(keys.prefix, [&](const PrefixLock& prefix) {
      CountExamined();
      return keys.Meets(prefix.keys) && stops_at(prefix.owner, Bit(prefix.mode));
    });
    if (stops) return true;
  }
  return false;
}

bool LockTable::MustQueueBehind(const Request& request, Ticket ticket) const {
  const auto is_before = [&](const WaitingPrefix& other) {
    return other.ticket < ticket && Conflicts(request.mode, Bit(other.mode));
  };
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    const bool is_behind =
        lock != documents_.end() && lock->second.HasConflictingRequestBefore(ticket, request.mode);
    if (is_behind || waiting_prefixes_.VisitPrefixesOf(key, [&](const WaitingPrefix& other) {
          return is_before(other) && other.keys.Covers(key);
        })) {
      return true;
    }
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    const bool is_behind = VisitDocuments(keys, [&](const DocumentLock& lock) {
      return lock.HasConflictingRequestBefore(ticket, request.mode);
    });
    if (is_behind || waiting_prefixes_.VisitMeeting(keys.prefix, [&](const WaitingPrefix& other) {
          return is_before(other) && other.keys.Meets(keys);
        })) {
      return true;
    }
  }
  return false;
}

bool LockTable::MayWound(const Request& request, Patience patience, LockOwner holder) {
  if (!request.owner.Outranks(holder)) return false;
  // The client has abandoned an earlier attempt of the same transaction.
  if (request.owner.age == holder.age) return true;
  return request.mode == LockMode::kWrite || patience == Patience::kExhausted;
}

bool LockTable::MakeWay(const Request& request, Ticket ticket, Patience patience,
                        std::set<Ticket>* candidates, Decisions* decisions) {
  if (request.open_questions > 0) return false;
  const auto owner = owners_.find(request.owner);
  const bool overtakes = owner != owners_.end() && owner->second.HoldsAnything();
  if (!overtakes && MustQueueBehind(request, ticket)) return false;
  std::set<LockOwner> wounded;
  const bool must_wait = VisitBlockers(request, [&](LockOwner holder) {
    wounded.insert(holder);
    return !MayWound(request, patience, holder);
  });
  if (must_wait) return false;
  for (const LockOwner holder : wounded) {
    if (owners_.at(holder).is_committing) return false;
  }
  for (const LockOwner loser : wounded) {
    Drop(loser, Fate::kLost, LocksLost(), candidates, decisions);
  }
  return true;
}

void LockTable::Grant(const Request& request) {
  OwnerState& owner = owners_[request.owner];
  for (const std::string& key : request.scope.document_keys) {
    DocumentLock& lock = documents_[key];
    uint8_t& modes = lock.holders[request.owner];
    if (modes == 0) owner.held_keys.push_back(key);
    if ((modes & Bit(request.mode)) == 0) ++lock.holders_by_mode[SlotOf(request.mode)];
    modes = static_cast<uint8_t>(modes | Bit(request.mode));
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    owner.held_prefixes.push_back(
        prefixes_.Insert(keys.prefix, {next_prefix_++, request.owner, request.mode, keys}));
  }
  if (request.mode == LockMode::kWrite) owner.is_committing = true;
}

void LockTable::GrantWaiting(Ticket ticket, std::set<Ticket>* candidates,
                             std::vector<LockOwner>* suspects, Decisions* decisions) {
  Request request = TakeWaiting(ticket);
  Grant(request);
  decisions->callbacks.emplace_back(std::move(request.done), Status());
  // Holding this lock lets the owner's other requests overtake, and other owners may now wait for
  // it.
  const std::set<Ticket>& others = owners_.at(request.owner).waiting;
  if (others.empty()) return;
  candidates->insert(others.begin(), others.end());
  suspects->push_back(request.owner);
}

void LockTable::Enqueue(Request request, Ticket ticket) {
  owners_[request.owner].waiting.insert(ticket);
  for (const std::string& key : request.scope.document_keys) {
    documents_[key].waiting_by_mode[SlotOf(request.mode)].insert(ticket);
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    request.places.push_back(waiting_prefixes_.Insert(keys.prefix, {ticket, request.mode, keys}));
  }
  waiting_.emplace(ticket, std::move(request));
}

LockTable::Request LockTable::TakeWaiting(Ticket ticket) {
  auto node = waiting_.extract(ticket);
  CHECK(!node.empty());
  Request request = std::move(node.mapped());
  owners_.at(request.owner).waiting.erase(ticket);
  for (const auto& place : request.places) waiting_prefixes_.Erase(place);
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;  // The request names the key twice.
    lock->second.waiting_by_mode[SlotOf(request.mode)].erase(ticket);
    if (lock->second.IsUnused()) documents_.erase(lock);
  }
  return request;
}

std::vector<LockTable::Question> LockTable::QuestionsOf(Request* request, Ticket ticket,
                                                        std::optional<PrefixNumber> only) {
  if (!request->scope.may_enter) return {};
  std::map<PrefixNumber, Question> by_lock;
  for (size_t i = 0; i < request->scope.document_keys.size(); ++i) {
    const std::string& key = request->scope.document_keys[i];
    prefixes_.VisitPrefixesOf(key, [&](const PrefixLock& lock) {
      const bool is_asked = lock.query && (!only || *only == lock.number) &&
                            lock.owner != request->owner && lock.keys.Covers(key);
      if (is_asked) {
        Question& question = by_lock[lock.number];
        question.query = lock.query;
        question.documents.push_back(i);
      }
      return false;
    });
  }
  std::vector<Question> questions;
  for (auto& [number, question] : by_lock) {
    question.ticket = ticket;
    question.lock = number;
    question.may_enter = request->scope.may_enter;
    questions.push_back(std::move(question));
  }
  request->open_questions += questions.size();
  return questions;
}

std::set<LockOwner> LockTable::BlockersOf(const Request& request) const {
  std::set<LockOwner> blockers;
  if (request.open_questions > 0) return blockers;
  VisitBlockers(request, [&blockers](LockOwner blocker) {
    blockers.insert(blocker);
    return false;
  });
  return blockers;
}

std::set<LockOwner> LockTable::BlockersOf(LockOwner owner) const {
  std::set<LockOwner> blockers;
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return blockers;
  for (const Ticket ticket : found->second.waiting) {
    blockers.merge(BlockersOf(waiting_.at(ticket)));
  }
  return blockers;
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
    if (blocker == start) {
      const auto outranks = [](LockOwner left, LockOwner right) { return left.Outranks(right); };
      return std::ranges::max_element(path, outranks, &Step::owner)->owner;
    }
    if (visited.insert(blocker).second) path.push_back({blocker, BlockersOf(blocker)});
  }
  return std::nullopt;
}

void LockTable::Acquire(LockOwner owner, LockScope scope, LockMode mode, OnDecided done) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    const Ticket ticket = next_ticket_++;
    Request request{owner, std::move(scope), mode, std::move(done), clock_.Monotonic() + wait_max_};
    const auto answer = [&](Status status) {
      decisions.callbacks.emplace_back(std::move(request.done), std::move(status));
    };
    const auto state = owners_.find(owner);
    const bool has_lost = state != owners_.end() && state->second.has_lost;
    std::set<Ticket> candidates;
    std::vector<Question> questions = QuestionsOf(&request, ticket, std::nullopt);
    if (has_lost) {
      answer(LocksLost());
    } else if (MakeWay(request, ticket, Patience::kLeft, &candidates, &decisions)) {
      Grant(request);
      answer(Status());
      const std::set<Ticket>& overtaking = owners_.at(owner).waiting;
      candidates.insert(overtaking.begin(), overtaking.end());
    } else if (!closed_.ok()) {
      answer(closed_);
    } else if (waiting_.size() >= kWaitingRequestsMax) {
      answer(Status(Code::kResourceExhausted, "too many requests are waiting for a lock"));
    } else {
      waits_.Add();
      Enqueue(std::move(request), ticket);
      decisions.questions = std::move(questions);
    }
    Settle(std::move(candidates), {owner}, &decisions);
  }
  Finish(std::move(decisions));
}

void LockTable::Narrow(LockOwner owner, const KeyPrefix& keys,
                       std::shared_ptr<const watch::LiveQuery> query,
                       std::vector<std::string> result_keys) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    const auto state = owners_.find(owner);
    if (state == owners_.end()) return;
    const auto held = std::ranges::find_if(state->second.held_prefixes, [&](const auto& each) {
      return !each->second.query && each->second.keys == keys;
    });
    if (held == state->second.held_prefixes.end()) return;
    PrefixLock& narrowed = (*held)->second;
    narrowed.query = std::move(query);
    Request results{};
    results.owner = owner;
    results.scope.document_keys = std::move(result_keys);
    results.mode = narrowed.mode;
    Grant(results);  // Cannot conflict: the lock on the whole prefix excluded other locks on them.
    std::set<Ticket> candidates;
    AddWaiting(keys, &candidates);
    for (const Ticket ticket : candidates) {
      for (Question& question : QuestionsOf(&waiting_.at(ticket), ticket, narrowed.number)) {
        decisions.questions.push_back(std::move(question));
      }
    }
  }
  Finish(std::move(decisions));
}

void LockTable::AddWaiting(const std::vector<std::string>& keys,
                           std::set<Ticket>* candidates) const {
  for (const std::string& key : keys) {
    const auto lock = documents_.find(key);
    if (lock != documents_.end()) {
      for (const std::set<Ticket>& waiting : lock->second.waiting_by_mode) {
        candidates->insert(waiting.begin(), waiting.end());
      }
    }
    waiting_prefixes_.VisitPrefixesOf(key, [&](const WaitingPrefix& waiting) {
      if (waiting.keys.Covers(key)) candidates->insert(waiting.ticket);
      return false;
    });
  }
}

void LockTable::AddWaiting(const KeyPrefix& keys, std::set<Ticket>* candidates) const {
  VisitDocuments(keys, [&](const DocumentLock& lock) {
    for (const std::set<Ticket>& waiting : lock.waiting_by_mode) {
      candidates->insert(waiting.begin(), waiting.end());
    }
    return false;
  });
  waiting_prefixes_.VisitMeeting(keys.prefix, [&](const WaitingPrefix& waiting) {
    if (waiting.keys.Meets(keys)) candidates->insert(waiting.ticket);
    return false;
  });
}

void LockTable::Drop(LockOwner owner, Fate fate, const Status& status, std::set<Ticket>* candidates,
                     Decisions* decisions) {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  while (!found->second.waiting.empty()) {
    Request request = TakeWaiting(*found->second.waiting.begin());
    AddWaiting(request.scope.document_keys, candidates);
    for (const KeyPrefix& keys : request.scope.key_prefixes) AddWaiting(keys, candidates);
    decisions->callbacks.emplace_back(std::move(request.done), status);
  }
  const OwnerState state = std::exchange(found->second, {});
  if (fate == Fate::kReleased) {
    owners_.erase(found);
  } else {
    found->second.has_lost = true;
  }
  for (const std::string& key : state.held_keys) {
    const auto lock = documents_.find(key);
    const uint8_t modes = lock->second.holders.extract(owner).mapped();
    for (const LockMode mode : kModes) {
      if ((modes & Bit(mode)) != 0) --lock->second.holders_by_mode[SlotOf(mode)];
    }
    if (lock->second.IsUnused()) documents_.erase(lock);
  }
  AddWaiting(state.held_keys, candidates);
  for (const auto& prefix : state.held_prefixes) {
    AddWaiting(prefix->second.keys, candidates);
    prefixes_.Erase(prefix);
  }
}

void LockTable::Settle(std::set<Ticket> candidates, std::vector<LockOwner> suspects,
                       Decisions* decisions) {
  while (true) {
    while (!candidates.empty()) {
      const Ticket ticket = candidates.extract(candidates.begin()).value();
      const auto waiting = waiting_.find(ticket);
      if (waiting == waiting_.end()) continue;
      if (MakeWay(waiting->second, ticket, Patience::kLeft, &candidates, decisions)) {
        GrantWaiting(ticket, &candidates, &suspects, decisions);
      }
    }
    if (suspects.empty()) return;
    if (const std::optional<LockOwner> victim = FindDeadlockVictim(suspects.back())) {
      Drop(*victim, Fate::kLost, LocksLost(), &candidates, decisions);
    } else {
      suspects.pop_back();
    }
  }
}

void LockTable::Finish(Decisions decisions) {
  for (auto& [done, status] : decisions.callbacks) done(std::move(status));
  if (decisions.questions.empty()) return;
  std::vector<bool> stands_in_the_way;
  for (const Question& question : decisions.questions) {
    stands_in_the_way.push_back(std::ranges::any_of(question.documents, [&](size_t document) {
      return question.may_enter(document, *question.query);
    }));
  }
  Decisions consequences;
  {
    MutexLock lock(mutex_);
    std::set<Ticket> candidates;
    std::vector<LockOwner> suspects;
    for (size_t i = 0; i < decisions.questions.size(); ++i) {
      const Question& question = decisions.questions[i];
      const auto waiting = waiting_.find(question.ticket);
      if (waiting == waiting_.end()) continue;
      Request& request = waiting->second;
      if (!stands_in_the_way[i]) request.harmless.insert(question.lock);
      if (--request.open_questions > 0) continue;
      candidates.insert(question.ticket);
      suspects.push_back(request.owner);
    }
    Settle(std::move(candidates), std::move(suspects), &consequences);
  }
  Finish(std::move(consequences));
}

bool LockTable::HasLost(LockOwner owner) const {
  MutexLock lock(mutex_);
  const auto state = owners_.find(owner);
  return state != owners_.end() && state->second.has_lost;
}

void LockTable::Release(LockOwner owner) { ReleaseAll({owner}); }

void LockTable::ReleaseAll(const std::vector<LockOwner>& owners) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    std::set<Ticket> candidates;
    for (const LockOwner owner : owners) {
      Drop(owner, Fate::kReleased, LocksLost(), &candidates, &decisions);
    }
    Settle(std::move(candidates), {}, &decisions);
  }
  Finish(std::move(decisions));
}

void LockTable::ExpireWaits() {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    const auto now = clock_.Monotonic();
    std::vector<Ticket> late;
    for (const auto& [ticket, request] : waiting_) {
      if (request.give_up_at <= now) late.push_back(ticket);
    }
    std::set<Ticket> candidates;
    std::vector<LockOwner> suspects;
    // Collect all of them first: a request must not benefit from another one that times out with
    // it.
    for (const Ticket ticket : late) {
      const auto waiting = waiting_.find(ticket);
      if (waiting == waiting_.end()) continue;  // Wounded by another one.
      if (MakeWay(waiting->second, ticket, Patience::kExhausted, &candidates, &decisions)) {
        GrantWaiting(ticket, &candidates, &suspects, &decisions);
      }
    }
    for (const Ticket ticket : late) {
      const auto waiting = waiting_.find(ticket);
      if (waiting == waiting_.end()) continue;
      Drop(waiting->second.owner, Fate::kLost, WaitedTooLong(), &candidates, &decisions);
    }
    Settle(std::move(candidates), std::move(suspects), &decisions);
  }
  Finish(std::move(decisions));
}

void LockTable::Yield(const std::vector<IdleOwner>& idle) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    if (waiting_.empty()) return;
    std::unordered_map<LockOwner, IdleOwner::YieldsTo, LockOwnerHash> idle_owners;
    for (const IdleOwner& each : idle) idle_owners.emplace(each.owner, each.yields_to);
    std::set<LockOwner> yielding;
    for (const auto& [ticket, request] : waiting_) {
      for (const LockOwner holder : BlockersOf(request)) {
        const auto found = idle_owners.find(holder);
        if (found == idle_owners.end() || owners_.at(holder).is_committing) continue;
        if (found->second == IdleOwner::YieldsTo::kEverybody || request.owner.is_retry()) {
          yielding.insert(holder);
        }
      }
    }
    std::set<Ticket> candidates;
    for (const LockOwner owner : yielding) {
      Drop(owner, Fate::kLost, LocksLost(), &candidates, &decisions);
    }
    Settle(std::move(candidates), {}, &decisions);
  }
  Finish(std::move(decisions));
}

void LockTable::Close(Status status) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    closed_ = std::move(status);
    while (!waiting_.empty()) {
      Request request = TakeWaiting(waiting_.begin()->first);
      decisions.callbacks.emplace_back(std::move(request.done), closed_);
    }
  }
  Finish(std::move(decisions));
}

size_t LockTable::waiting_requests() const {
  MutexLock lock(mutex_);
  return waiting_.size();
}

}  // namespace hearth::transactions
