#include "transactions/lock_table.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace hearth::transactions {
namespace {

Status WaitedTooLong() {
  return Status(Code::kAborted, LocksLost().message() + " (Transaction lock timeout.)");
}

// What a locked document or prefix takes besides its key, which is stored twice or three times.
constexpr size_t kLockOverheadBytes = 400;

size_t ApproximateBytes(const std::string& key) { return kLockOverheadBytes + 3 * key.size(); }

size_t ApproximateBytes(const KeyPrefix& keys) {
  return kLockOverheadBytes + 3 * (keys.prefix.size() + keys.part.size());
}

LockBytes BytesFor(LockMode mode, size_t bytes) {
  return mode == LockMode::kWrite ? LockBytes{0, bytes} : LockBytes{bytes, 0};
}

LockBytes ApproximateBytes(const LockScope& scope, LockMode mode) {
  size_t bytes = 0;
  for (const std::string& key : scope.document_keys) bytes += ApproximateBytes(key);
  for (const KeyPrefix& keys : scope.key_prefixes) bytes += ApproximateBytes(keys);
  return BytesFor(mode, bytes);
}

Status NotEnoughMemory() {
  return Status(Code::kResourceExhausted, "not enough memory for the locks of the request");
}

Status TooManyReaders() {
  return Status(
      Code::kResourceExhausted,
      "too many transactions have read the same documents or query below the same parent");
}

}  // namespace

Status LocksLost() {
  return Status(Code::kAborted, "Too much contention on these documents. Please try again.");
}

LockTable::LockTable(const Clock& clock, std::chrono::milliseconds wait_max, MemoryBudget* memory)
    : clock_(clock), wait_max_(wait_max), memory_(memory) {}

bool LockTable::DocumentLock::IsContended() const {
  return std::ranges::any_of(waiting_by_mode, [](const auto& waiting) { return !waiting.empty(); });
}

size_t LockTable::DocumentLock::Readers() const {
  return holders_by_mode[SlotOf(LockMode::kRead)] + holders_by_mode[SlotOf(LockMode::kUpdate)];
}

bool LockTable::DocumentLock::HasWaitingFor(uint8_t held_modes,
                                            IdleOwner::YieldsTo yields_to) const {
  return std::ranges::any_of(kLockModes, [&](LockMode mode) {
    const size_t waiting = yields_to == IdleOwner::YieldsTo::kEverybody
                               ? waiting_by_mode[SlotOf(mode)].size()
                               : waiting_retries_by_mode[SlotOf(mode)];
    return waiting > 0 && Conflicts(mode, held_modes);
  });
}

bool LockTable::DocumentLock::HasConflictingHolder(LockMode requested) const {
  return std::ranges::any_of(kLockModes, [&](LockMode mode) {
    return holders_by_mode[SlotOf(mode)] > 0 && Conflicts(requested, BitOf(mode));
  });
}

bool LockTable::DocumentLock::HasConflictingRequestBefore(Ticket ticket, LockMode requested) const {
  return std::ranges::any_of(kLockModes, [&](LockMode mode) {
    const std::map<Ticket, LockOwner>& waiting = waiting_by_mode[SlotOf(mode)];
    return !waiting.empty() && waiting.begin()->first < ticket && Conflicts(requested, BitOf(mode));
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
bool LockTable::VisitContended(const KeyPrefix& keys, const Visit& visit) const {
  for (auto document = contended_.lower_bound(keys.prefix);
       document != contended_.end() && document->first.starts_with(keys.prefix); ++document) {
    CountExamined();
    if (keys.Covers(document->first) && visit(*document->second)) return true;
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
             stops_at(prefix.owner, BitOf(prefix.mode));
    });
    if (stops) return true;
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    if (VisitDocuments(keys, stops_in)) return true;
    const bool stops = prefixes_.VisitMeeting(keys.prefix, [&](const PrefixLock& prefix) {
      CountExamined();
      return keys.Meets(prefix.keys) && stops_at(prefix.owner, BitOf(prefix.mode));
    });
    if (stops) return true;
  }
  return false;
}

bool LockTable::MustQueueBehind(const Request& request, Ticket ticket) const {
  const auto is_before = [&](const WaitingPrefix& other) {
    return other.ticket < ticket && Conflicts(request.mode, BitOf(other.mode));
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
    const bool is_behind = VisitContended(keys, [&](const DocumentLock& lock) {
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

bool LockTable::IsCrowded(const Request& request) const {
  if (request.mode == LockMode::kWrite) return false;
  // Below half of the places, every client has its share.
  constexpr size_t kSharedFrom = kReadersMax / 2;
  for (const std::string& key : request.scope.document_keys) {
    const auto found = documents_.find(key);
    if (found == documents_.end() || found->second.Readers() < kSharedFrom) continue;
    const DocumentLock& lock = found->second;
    if (lock.holders.contains(request.owner)) continue;
    size_t own = 0;
    for (const auto& [holder, modes] : lock.holders)
      own += IsOwnedBy(request.client, holder) ? 1 : 0;
    if (!MayTakePlace(request.client, own, lock.Readers(), kReadersMax)) return true;
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    if (HasLastingLock(request, keys)) continue;
    std::vector<LockOwner> holders;
    prefixes_.VisitEqual(keys.prefix,
                         [&holders](const PrefixLock& lock) { holders.push_back(lock.owner); });
    size_t own = 0;
    for (const LockOwner holder : holders) own += IsOwnedBy(request.client, holder) ? 1 : 0;
    if (!MayTakePlace(request.client, own, holders.size(), kReadersMax)) return true;
  }
  return false;
}

bool LockTable::IsOwnedBy(ClientKey client, LockOwner holder) const {
  return owners_.at(holder).client == client;
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
  Freed freed;
  for (const LockOwner loser : wounded) {
    Drop(loser, Fate::kLost, LocksLost(), &freed, decisions);
  }
  AddWaiting(std::move(freed), candidates);
  return true;
}

bool LockTable::HasNarrowedEnough(LockOwner owner, const KeyPrefix& keys) const {
  size_t narrowed = 0;
  prefixes_.VisitEqual(keys.prefix, [&](const PrefixLock& lock) {
    narrowed += lock.owner == owner && lock.query && lock.keys == keys ? 1 : 0;
  });
  return narrowed >= kNarrowedMax;
}

bool LockTable::HasLastingLock(const Request& request, const KeyPrefix& keys) const {
  bool has_lock = false;
  prefixes_.VisitEqual(keys.prefix, [&](const PrefixLock& lock) {
    has_lock |= lock.owner == request.owner && !lock.query && lock.keys == keys &&
                lock.mode == request.mode;
  });
  return has_lock && HasNarrowedEnough(request.owner, keys);
}

LockTable::OwnerState& LockTable::OwnerOf(const Request& request) {
  const auto [found, is_new] = owners_.try_emplace(request.owner);
  if (is_new) found->second.client = request.client;
  return found->second;
}

void LockTable::Grant(const Request& request) {
  OwnerState& owner = OwnerOf(request);
  size_t held_bytes = 0;  // Of locks that the owner has already.
  for (const std::string& key : request.scope.document_keys) {
    DocumentLock& lock = documents_[key];
    uint8_t& modes = lock.holders[request.owner];
    if (modes == 0) {
      owner.held_keys.push_back(key);
    } else {
      held_bytes += ApproximateBytes(key);
    }
    if ((modes & BitOf(request.mode)) == 0) ++lock.holders_by_mode[SlotOf(request.mode)];
    modes = static_cast<uint8_t>(modes | BitOf(request.mode));
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    if (HasLastingLock(request, keys)) {
      held_bytes += ApproximateBytes(keys);
      continue;
    }
    owner.held_prefixes.push_back(
        prefixes_.Insert(keys.prefix, {next_prefix_++, request.owner, request.mode, keys}));
  }
  const LockBytes unused = BytesFor(request.mode, held_bytes);
  memory_.Return(request.client, unused);
  owner.bytes += request.bytes;
  owner.bytes -= unused;
  if (request.mode == LockMode::kWrite) owner.is_committing = true;
}

void LockTable::GrantWaiting(Ticket ticket, std::set<Ticket>* candidates,
                             std::vector<LockOwner>* suspects, Decisions* decisions) {
  if (IsCrowded(waiting_.at(ticket))) {
    return EndWaiting(ticket, TooManyReaders(), candidates, decisions);
  }
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
  OwnerOf(request).waiting.insert(ticket);
  const size_t slot = SlotOf(request.mode);
  const bool is_retry = request.owner.is_retry();
  for (const std::string& key : request.scope.document_keys) {
    const auto document = documents_.try_emplace(key).first;
    DocumentLock& lock = document->second;
    contended_.try_emplace(document->first, &lock);
    const bool is_new = lock.waiting_by_mode[slot].emplace(ticket, request.owner).second;
    if (is_new && is_retry) ++lock.waiting_retries_by_mode[slot];
  }
  for (const KeyPrefix& keys : request.scope.key_prefixes) {
    request.places.push_back(
        waiting_prefixes_.Insert(keys.prefix, {ticket, request.mode, keys, is_retry}));
  }
  waiting_.emplace(ticket, std::move(request));
}

LockTable::Request LockTable::TakeWaiting(Ticket ticket) {
  auto node = waiting_.extract(ticket);
  CHECK(!node.empty());
  Request request = std::move(node.mapped());
  owners_.at(request.owner).waiting.erase(ticket);
  waiting_places_.Return(request.client);
  const size_t slot = SlotOf(request.mode);
  for (const auto& place : request.places) waiting_prefixes_.Erase(place);
  for (const std::string& key : request.scope.document_keys) {
    const auto lock = documents_.find(key);
    if (lock == documents_.end()) continue;  // The request names the key twice.
    const bool was_waiting = lock->second.waiting_by_mode[slot].erase(ticket) > 0;
    if (was_waiting && request.owner.is_retry()) --lock->second.waiting_retries_by_mode[slot];
    if (lock->second.IsContended()) continue;
    contended_.erase(key);
    if (lock->second.holders.empty()) documents_.erase(lock);
  }
  return request;
}

std::vector<LockTable::Question> LockTable::QuestionsOf(Request* request, Ticket ticket) {
  if (!request->scope.may_enter) return {};
  std::map<PrefixNumber, Question> by_lock;
  size_t asked = 0;
  size_t visited = 0;
  const auto are_too_many = [&] { return asked > kQuestionsMax || visited > kQuestionVisitsMax; };
  for (size_t i = 0; i < request->scope.document_keys.size(); ++i) {
    const std::string& key = request->scope.document_keys[i];
    prefixes_.VisitPrefixesOf(key, [&](const PrefixLock& lock) {
      ++visited;
      if (lock.query && lock.owner != request->owner && lock.keys.Covers(key)) {
        Question& question = by_lock[lock.number];
        question.query = lock.query;
        question.documents.push_back(i);
        ++asked;
      }
      return are_too_many();
    });
    if (are_too_many()) return {};
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

std::vector<LockTable::Question> LockTable::QuestionsTo(const PrefixLock& lock,
                                                        const std::set<Ticket>& tickets) {
  std::vector<Question> questions;
  size_t asked = 0;
  size_t allowance = kQuestionVisitsMax;
  for (const Ticket ticket : tickets) {
    Request& request = waiting_.at(ticket);
    const std::vector<std::string>& keys = request.scope.document_keys;
    if (!request.scope.may_enter || request.owner == lock.owner) continue;
    if (asked >= kQuestionsMax) break;
    if (keys.size() > allowance) continue;
    allowance -= keys.size();
    Question question{ticket, lock.number, lock.query, request.scope.may_enter, {}};
    for (size_t i = 0; i < keys.size(); ++i) {
      if (lock.keys.Covers(keys[i])) question.documents.push_back(i);
    }
    if (question.documents.empty() || question.documents.size() > kQuestionsMax) continue;
    asked += question.documents.size();
    ++request.open_questions;
    questions.push_back(std::move(question));
  }
  return questions;
}

void LockTable::EndWaiting(Ticket ticket, Status status, std::set<Ticket>* candidates,
                           Decisions* decisions) {
  Request request = TakeWaiting(ticket);
  memory_.Return(request.client, request.bytes);
  AddWaiting({std::move(request.scope.document_keys), std::move(request.scope.key_prefixes)},
             candidates);
  decisions->callbacks.emplace_back(std::move(request.done), std::move(status));
}

LockTable::Ticket LockTable::Acquire(LockOwner owner, LockScope scope, LockMode mode,
                                     OnDecided done, ClientKey client) {
  Decisions decisions;
  Ticket ticket = 0;
  const LockBytes bytes = ApproximateBytes(scope, mode);
  {
    MutexLock lock(mutex_);
    ticket = next_ticket_++;
    Request request{
        owner, std::move(scope), mode, std::move(done), clock_.Monotonic() + wait_max_, client,
        bytes};
    const auto answer = [&](Status status) {
      decisions.callbacks.emplace_back(std::move(request.done), std::move(status));
    };
    const auto state = owners_.find(owner);
    const bool has_lost = state != owners_.end() && state->second.has_lost;
    if (state != owners_.end()) request.client = state->second.client;
    std::set<Ticket> candidates;
    std::vector<Question> questions = QuestionsOf(&request, ticket);
    if (has_lost) {
      answer(LocksLost());
    } else if (IsCrowded(request)) {
      answer(TooManyReaders());
    } else if (!memory_.Take(request.client, bytes)) {
      answer(NotEnoughMemory());
    } else if (MakeWay(request, ticket, Patience::kLeft, &candidates, &decisions)) {
      Grant(request);
      answer(Status());
      const std::set<Ticket>& overtaking = owners_.at(owner).waiting;
      candidates.insert(overtaking.begin(), overtaking.end());
    } else if (!closed_.ok()) {
      memory_.Return(request.client, bytes);
      answer(closed_);
    } else if (!waiting_places_.TryTake(request.client)) {
      memory_.Return(request.client, bytes);
      answer(Status(Code::kResourceExhausted, "too many requests are waiting for a lock"));
    } else {
      waits_.Add();
      Enqueue(std::move(request), ticket);
      decisions.questions = std::move(questions);
    }
    Settle(std::move(candidates), {owner}, &decisions);
  }
  Finish(std::move(decisions));
  return ticket;
}

void LockTable::Cancel(Ticket ticket) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    if (!waiting_.contains(ticket)) return;
    std::set<Ticket> candidates;
    EndWaiting(ticket, Status(Code::kCancelled, "the caller has left"), &candidates, &decisions);
    Settle(std::move(candidates), {}, &decisions);
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
    if (held == state->second.held_prefixes.end() || HasNarrowedEnough(owner, keys)) return;
    PrefixLock& narrowed = (*held)->second;
    Request results{};
    results.owner = owner;
    results.client = state->second.client;
    results.scope.document_keys = std::move(result_keys);
    results.mode = narrowed.mode;
    results.bytes = ApproximateBytes(results.scope, results.mode);
    if (IsCrowded(results) || !memory_.Take(results.client, results.bytes)) return;
    narrowed.query = std::move(query);
    Grant(results);  // Cannot conflict: the lock on the whole prefix excluded other locks on them.
    std::set<Ticket> candidates;
    AddWaiting(keys, &candidates);
    decisions.questions = QuestionsTo(narrowed, candidates);
  }
  Finish(std::move(decisions));
}

void LockTable::AddWaiting(const std::string& key, std::set<Ticket>* candidates) const {
  const auto found = documents_.find(key);
  if (found != documents_.end()) {
    const DocumentLock& lock = found->second;
    for (const LockMode mode : kLockModes) {
      const std::map<Ticket, LockOwner>& waiting = lock.waiting_by_mode[SlotOf(mode)];
      if (waiting.empty()) continue;
      // Only requests that outrank the oldest holder can pass; it counts them again when it leaves.
      auto oldest = lock.holders.end();
      if (lock.HasConflictingHolder(mode)) {
        oldest = std::ranges::find_if(
            lock.holders, [mode](const auto& holder) { return Conflicts(mode, holder.second); });
      }
      for (const auto& [ticket, owner] : waiting) {
        const bool may_pass =
            oldest == lock.holders.end() || owner == oldest->first || owner.Outranks(oldest->first);
        if (may_pass) candidates->insert(ticket);
      }
    }
  }
  waiting_prefixes_.VisitPrefixesOf(key, [&](const WaitingPrefix& waiting) {
    if (waiting.keys.Covers(key)) candidates->insert(waiting.ticket);
    return false;
  });
}

void LockTable::AddWaiting(Freed freed, std::set<Ticket>* candidates) const {
  if (waiting_.empty()) return;
  std::ranges::sort(freed.keys);
  freed.keys.erase(std::unique(freed.keys.begin(), freed.keys.end()), freed.keys.end());
  for (const std::string& key : freed.keys) AddWaiting(key, candidates);
  std::ranges::sort(freed.prefixes, {},
                    [](const KeyPrefix& keys) { return std::tie(keys.prefix, keys.part); });
  freed.prefixes.erase(std::unique(freed.prefixes.begin(), freed.prefixes.end()),
                       freed.prefixes.end());
  for (const KeyPrefix& keys : freed.prefixes) AddWaiting(keys, candidates);
}

void LockTable::AddWaiting(const KeyPrefix& keys, std::set<Ticket>* candidates) const {
  VisitContended(keys, [&](const DocumentLock& lock) {
    for (const std::map<Ticket, LockOwner>& waiting : lock.waiting_by_mode) {
      for (const auto& [ticket, owner] : waiting) candidates->insert(ticket);
    }
    return false;
  });
  waiting_prefixes_.VisitMeeting(keys.prefix, [&](const WaitingPrefix& waiting) {
    if (waiting.keys.Meets(keys)) candidates->insert(waiting.ticket);
    return false;
  });
}

void LockTable::Drop(LockOwner owner, Fate fate, const Status& status, Freed* freed,
                     Decisions* decisions) {
  const auto found = owners_.find(owner);
  if (found == owners_.end()) return;
  while (!found->second.waiting.empty()) {
    Request request = TakeWaiting(*found->second.waiting.begin());
    memory_.Return(request.client, request.bytes);
    std::ranges::move(request.scope.document_keys, std::back_inserter(freed->keys));
    std::ranges::move(request.scope.key_prefixes, std::back_inserter(freed->prefixes));
    decisions->callbacks.emplace_back(std::move(request.done), status);
  }
  OwnerState state = std::exchange(found->second, {});
  memory_.Return(state.client, state.bytes);
  if (fate == Fate::kReleased) {
    owners_.erase(found);
  } else {
    found->second.has_lost = true;
  }
  for (std::string& key : state.held_keys) {
    const auto lock = documents_.find(key);
    const uint8_t modes = lock->second.holders.extract(owner).mapped();
    for (const LockMode mode : kLockModes) {
      if ((modes & BitOf(mode)) != 0) --lock->second.holders_by_mode[SlotOf(mode)];
    }
    if (lock->second.holders.empty() && !lock->second.IsContended()) documents_.erase(lock);
    if (!waiting_.empty()) freed->keys.push_back(std::move(key));
  }
  for (const auto& prefix : state.held_prefixes) {
    freed->prefixes.push_back(std::move(prefix->second.keys));
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
      Freed freed;
      Drop(*victim, Fate::kLost, LocksLost(), &freed, decisions);
      AddWaiting(std::move(freed), &candidates);
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

void LockTable::Wound(LockOwner owner) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    if (owners_[owner].is_committing) return;
    Freed freed;
    Drop(owner, Fate::kLost, LocksLost(), &freed, &decisions);
    std::set<Ticket> candidates;
    AddWaiting(std::move(freed), &candidates);
    Settle(std::move(candidates), {}, &decisions);
  }
  Finish(std::move(decisions));
}

void LockTable::Release(LockOwner owner) { ReleaseAll({owner}); }

void LockTable::ReleaseAll(const std::vector<LockOwner>& owners) {
  Decisions decisions;
  {
    MutexLock lock(mutex_);
    Freed freed;
    for (const LockOwner owner : owners) {
      Drop(owner, Fate::kReleased, LocksLost(), &freed, &decisions);
    }
    std::set<Ticket> candidates;
    AddWaiting(std::move(freed), &candidates);
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
    Freed freed;
    for (const Ticket ticket : late) {
      const auto waiting = waiting_.find(ticket);
      if (waiting == waiting_.end()) continue;
      Drop(waiting->second.owner, Fate::kLost, WaitedTooLong(), &freed, &decisions);
    }
    AddWaiting(std::move(freed), &candidates);
    Settle(std::move(candidates), std::move(suspects), &decisions);
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
      memory_.Return(request.client, request.bytes);
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
