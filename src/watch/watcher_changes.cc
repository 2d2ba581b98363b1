// How a watcher moves its targets from one moment to a later one.
#include <algorithm>
#include <unordered_map>

#include "base/status_macros.h"
#include "model/document.h"
#include "query/matcher.h"
#include "watch/bloom_filter.h"
#include "watch/watcher.h"

namespace hearth::watch {
namespace {

using model::Timestamp;
using Fate = WatchMessages::Fate;

// A target's part in a changed document, and a name that is held.
constexpr size_t kEachPairBytes = 128;
constexpr size_t kEachNameBytes = 128;

}  // namespace

Watcher::Resumed Watcher::Resume(TargetState& target, const request::TargetRequest::Resume& resume,
                                 Timestamp to) {
  const auto* token = std::get_if<std::string>(&resume.from);
  const std::optional<Timestamp> known =
      token ? reader_.ReadResumeToken(*token) : std::get<Timestamp>(resume.from);
  if (!known || *known > to || !reader_.IsInHistory(database_, *known)) return nullptr;
  const Span span{*known, to};
  auto advance = std::make_unique<Advance>(Advance{Advance::Cause::kCatchUp, to, NewMemory()});
  if (target.window) {
    ASSIGN_OR_RETURN(const bool fits, ResumeWindow(target, span, resume.expected_count, *advance));
    return fits ? std::move(advance) : nullptr;
  }
  if (!target.query()) {
    ASSIGN_OR_RETURN(const bool fits, ResumeDocuments(target, span, *advance));
    return fits ? std::move(advance) : nullptr;
  }
  ASSIGN_OR_RETURN(bool fits, ResumeQuery(target, span, *advance));
  if (fits && resume.expected_count) {
    ASSIGN_OR_RETURN(const size_t had, reader_.Count(database_, QueryOf(target), span.from,
                                                     [this] { return Pause(); }));
    if (had != *resume.expected_count) {
      ASSIGN_OR_RETURN(fits, AddExistenceFilter(target, *advance));
    }
  }
  return fits ? std::move(advance) : nullptr;
}

Result<bool> Watcher::ResumeQuery(TargetState& target, const Span& span, Advance& advance) {
  const auto concerns = [&target](const model::DocumentPath& path) {
    return query::IsInScope(target.query()->query().query, path);
  };
  ASSIGN_OR_RETURN(
      const std::optional<std::vector<Change>> changes,
      reader_.ChangesBetween(database_, span.from, span.to, concerns, options_.catch_up_max,
                             &advance.memory, [this] { return Pause(); }));
  if (!changes) return false;
  WatchDelta delta;
  for (const Change& change : *changes) {
    RETURN_IF_ERROR(Pause());
    if (target.query()->IsConcernedBy(change)) delta.Add(target, change);
  }
  RETURN_IF_ERROR(Resolve(delta, advance));
  return true;
}

Result<bool> Watcher::ResumeDocuments(const TargetState& target, const Span& span,
                                      Advance& advance) {
  size_t bytes = 0;
  for (const model::DocumentPath& path : std::get<DocumentSet>(*target.target)) {
    RETURN_IF_ERROR(Pause());
    ASSIGN_OR_RETURN(const model::Record was, reader_.Get(database_, path, span.from));
    ASSIGN_OR_RETURN(const model::Record is, reader_.Get(database_, path, span.to));
    if (IsSameState(was, is)) continue;
    const size_t held = kEachNameBytes + path.path().size() + (is ? is->size() : 0);
    bytes += held;
    if (bytes > options_.catch_up_max.bytes || !advance.memory.Grow(held)) return false;
    if (is) {
      advance.messages.Enter(path, is, target);
    } else {
      advance.messages.Leave(path, Fate::kDeleted, target);
    }
  }
  return true;
}

Result<bool> Watcher::ResumeWindow(TargetState& target, const Span& span,
                                   std::optional<size_t> expected_count, Advance& advance) {
  std::unordered_map<std::string, Timestamp> was;  // Update times.
  size_t bytes = 0;
  bool fits = true;
  const auto hold = [&](size_t more) {
    bytes += more;
    fits = bytes <= options_.catch_up_max.bytes && advance.memory.Grow(more);
    return fits;
  };
  const auto note = [&](const model::DocumentPath& path, const model::Record& record) {
    was[path.path()] = model::RecordUpdateTime(*record);
    return hold(kEachNameBytes + path.path().size());
  };
  ASSIGN_OR_RETURN(const auto before, ReadWindow(target, span.from, note));
  if (!before || !fits) return false;
  const auto enter = [&](const model::DocumentPath& path, const model::Record& record) {
    const auto found = was.find(path.path());
    if (found != was.end() && found->second == model::RecordUpdateTime(*record)) return true;
    advance.messages.Enter(path, record, target);
    return hold(kEachNameBytes + path.path().size() + record->size());
  };
  ASSIGN_OR_RETURN(auto after, ReadWindow(target, span.to, enter));
  if (!after || !fits) return false;
  for (const auto& [path, update_time] : was) {
    RETURN_IF_ERROR(Pause());
    if (after->Shows(path)) continue;
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    ASSIGN_OR_RETURN(const model::Record left, reader_.Get(database_, parsed, span.to));
    advance.messages.Leave(parsed, left ? Fate::kExists : Fate::kDeleted, target);
  }
  target.window = std::move(after);
  if (expected_count && was.size() != *expected_count) return AddExistenceFilter(target, advance);
  return true;
}

Result<bool> Watcher::AddExistenceFilter(const TargetState& target, Advance& advance) {
  std::vector<std::string> unchanged;
  size_t count = 0;
  size_t skipped = 0;
  ASSIGN_OR_RETURN(const std::unique_ptr<Results> run, QueryAt(target, advance.through));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<request::QueryResult> result, run->Next());
    if (!result) break;
    if (skipped < target.query()->query().query.offset) {
      ++skipped;
      continue;
    }
    ++count;
    const std::string& path = result->path.path();
    if (advance.messages.Contains(path)) continue;
    if (!advance.memory.Grow(kEachNameBytes + path.size())) return false;
    unchanged.push_back(path);
  }
  BloomFilter names(unchanged.size());
  for (const std::string& path : unchanged) {
    RETURN_IF_ERROR(Pause());
    names.Add(database_.name.text() + "/documents/" + path);
  }
  advance.filter = request::ExistenceFilterEvent{target.id, count, names.bits()};
  return true;
}

Result<std::unique_ptr<ResultWindow>> Watcher::ReadWindow(const TargetState& target,
                                                          Timestamp read_time,
                                                          const ResolveMeans::Visit& visit) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Results> run, QueryAt(target, read_time));
  std::unique_ptr<ResultWindow> window = NewWindow(target);
  size_t place = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<request::QueryResult> result, run->Next());
    if (!result) return window;
    if (!window->Append(result->path, result->record)) return nullptr;
    if (place++ < target.query()->query().query.offset) continue;
    if (!visit(result->path, result->record)) return window;
  }
}

void Watcher::Deliver(Work work) {
  WatchDelta delta;
  using Cause = Advance::Cause;
  auto advance =
      std::make_unique<Advance>(Advance{work.is_heartbeat ? Cause::kHeartbeat : Cause::kChanges,
                                        *work.through, std::move(work.memory)});
  Status status = CollectChanges(work, &delta);
  if (status.ok()) status = Resolve(delta, *advance);
  if (!status.ok()) return EndStream(status);
  StartAdvance(std::move(advance));
}

Status Watcher::CollectChanges(const Work& work, WatchDelta* delta) {
  for (const ChangeFeed::Item& item : work.items) {
    RETURN_IF_ERROR(Pause());
    const auto found = targets_by_number_.find(item.target);
    if (found == targets_by_number_.end()) continue;
    TargetState& target = *found->second;
    if (item.change->commit_time <= target.read_time) continue;
    // The feed may not have checked it, and a window might be read again in vain.
    if (target.window && !target.IsConcernedBy(*item.change)) continue;
    delta->Add(target, *item.change);
  }
  return Status();
}

void Watcher::CatchUp() {
  const Timestamp to = change_feed_.Mark(shared_from_this());
  std::map<Timestamp, std::vector<TargetState*>> groups;  // Nearly always one.
  for (const auto& [id, target] : targets_) groups[target->read_time].push_back(target.get());
  // The mark makes the feed answer; the new moment is announced to the client then.
  auto advance = std::make_unique<Advance>(Advance{Advance::Cause::kCatchUp, to, NewMemory()});
  for (const auto& [from, group] : groups) {
    const Result<bool> caught_up = CatchUpGroup(group, {from, to}, *advance);
    if (!caught_up.ok()) return EndStream(caught_up.status());
    if (*caught_up) continue;
    for (const TargetState* target : group) to_reset_.push_back(target->id);
  }
  StartAdvance(std::move(advance));
}

Result<bool> Watcher::CatchUpGroup(const std::vector<TargetState*>& group, const Span& span,
                                   Advance& advance) {
  // If a client has not read for a long time, the log may no longer reach back far enough.
  if (!reader_.IsInHistory(database_, span.from)) return false;
  const auto concerns = [&group](const model::DocumentPath& path) {
    return std::ranges::any_of(group, [&](const TargetState* each) { return each->Reads(path); });
  };
  const auto changes =
      reader_.ChangesBetween(database_, span.from, span.to, concerns, options_.catch_up_max,
                             &advance.memory, [this] { return Pause(); });
  if (!changes.ok() || !*changes) return false;
  WatchDelta delta;
  size_t pairs = 0;
  for (const Change& change : **changes) {
    const size_t pairs_before = pairs;
    for (TargetState* target : group) {
      RETURN_IF_ERROR(Pause());
      if (!target->IsConcernedBy(change)) continue;
      if (++pairs > options_.catch_up_pairs_max) return false;
      delta.Add(*target, change);
    }
    if (!advance.memory.Grow((pairs - pairs_before) * kEachPairBytes)) return false;
  }
  RETURN_IF_ERROR(Resolve(delta, advance));
  return true;
}

Status Watcher::Resolve(const WatchDelta& delta, Advance& advance) {
  const auto refill = [this, &advance](TargetState& target, const ResolveMeans::Visit& visit) {
    step_.Assert();
    return ReadWindow(target, advance.through, visit);
  };
  const ResolveMeans means{[this] { return Pause(); }, refill, &advance.memory,
                           options_.catch_up_max.bytes};
  ResolvedDelta resolved;
  resolved.messages = std::move(advance.messages);
  RETURN_IF_ERROR(delta.Resolve(means, &resolved));
  advance.messages = std::move(resolved.messages);
  to_reset_.insert(to_reset_.end(), resolved.to_reset.begin(), resolved.to_reset.end());
  for (const request::TargetId id : resolved.to_end) Remove(id, NoMemoryForTarget());
  return Status();
}

void Watcher::StartAdvance(std::unique_ptr<Advance> advance) {
  if (!advance->messages.empty()) is_unannounced_ = true;
  advance_ = std::move(advance);
}

void Watcher::ContinueAdvance() {
  if (!advance_->messages.SendSome(*sink_, advance_->through)) return;
  const std::unique_ptr<Advance> advance = std::move(advance_);
  const Timestamp through = advance->through;
  if (advance->target) {
    if (advance->filter) sink_->Send(*advance->filter);
    return FinishTarget(std::move(advance->target), through);
  }
  for (const auto& [id, target] : targets_) {
    target->read_time = std::max(target->read_time, through);
  }
  newest_read_time_ = std::max(newest_read_time_, through);
  if (advance->cause == Advance::Cause::kCatchUp) return;
  if (advance->cause == Advance::Cause::kHeartbeat && !targets_.empty()) is_unannounced_ = true;
  Announce(through);
}

void Watcher::EndStream(const Status& status) {
  to_reset_.clear();
  sink_->End(status);
}

}  // namespace hearth::watch
