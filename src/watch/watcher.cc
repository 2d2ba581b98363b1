#include "watch/watcher.h"

#include <algorithm>

#include "base/status_macros.h"
#include "model/document.h"
#include "watch/watch_delta.h"

namespace hearth::watch {
namespace {

using model::Timestamp;
using Kind = request::TargetEvent::Kind;
using Reason = request::DocumentGoneEvent::Reason;

constexpr size_t kUnclaimedBytesMax = 4 * 1024;

Target ToTarget(const model::DatabaseName& database,
                std::variant<DocumentSet, query::NormalizedQuery> wanted) {
  if (auto* query = std::get_if<query::NormalizedQuery>(&wanted)) {
    return std::make_unique<const LiveQuery>(database, std::move(*query));
  }
  return std::get<DocumentSet>(std::move(wanted));
}

}  // namespace

// A target whose results are being sent.
struct Watcher::Load {
  std::unique_ptr<TargetState> target;
  Timestamp read_time;
  std::unique_ptr<Results> run = nullptr;  // For queries; null for single documents.
  size_t next_document = 0;
  size_t results = 0;
};

Watcher::Watcher(Reader& reader, ChangeFeed& change_feed, TurnPool& threads, ClientKey client,
                 const documents::Database& database, const WatcherOptions& options,
                 std::unique_ptr<WatchSink> sink)
    : reader_(reader),
      change_feed_(change_feed),
      threads_(threads),
      client_(client),
      database_handle_(database.shared_from_this()),
      database_(database),
      options_(options),
      sink_(std::move(sink)),
      pending_claim_(options.memory) {}

Watcher::~Watcher() { Close(); }

void Watcher::AddTarget(request::TargetId id, Result<request::TargetRequest> request) {
  Enqueue({id, std::move(request)});
}

void Watcher::RemoveTarget(request::TargetId id) { Enqueue({id, std::nullopt}); }

void Watcher::Enqueue(Request request) {
  {
    MutexLock lock(mutex_);
    if (is_closed_) return;
    requests_.push_back(std::move(request));
  }
  Schedule();
}

size_t Watcher::waiting_requests() const {
  MutexLock lock(mutex_);
  return requests_.size();
}

void Watcher::EndWhenAnswered() {
  {
    MutexLock lock(mutex_);
    is_ending_ = true;
  }
  Schedule();
}

void Watcher::Close() {
  std::set<TargetNumber> registered;
  {
    MutexLock lock(mutex_);
    is_closed_ = true;
    registered = std::exchange(registered_, {});
    requests_.clear();
    DropPending();
  }
  for (const TargetNumber number : registered) change_feed_.Unregister(number);
}

void Watcher::OnChanges(ChangeFeed::Delivery delivery, std::vector<ChangeFeed::Item> items,
                        Timestamp through) {
  {
    MutexLock lock(mutex_);
    if (is_closed_) return;
    pending_through_ = through;
    is_lost_ = is_lost_ || delivery == ChangeFeed::Delivery::kLost;
    is_heartbeat_ = is_heartbeat_ || delivery == ChangeFeed::Delivery::kHeartbeat;
    for (ChangeFeed::Item& item : items) {
      pending_bytes_ += BytesOf(*item.change);
      pending_.push_back(std::move(item));
    }
    const ChangesMax& max = options_.pending_max;
    if (pending_.size() > max.count || pending_bytes_ > max.bytes) is_lost_ = true;
    // Most watchers take their changes at once; those need no claim.
    if (pending_bytes_ > kUnclaimedBytesMax && !pending_claim_.Resize(pending_bytes_)) {
      is_lost_ = true;
    }
    if (is_lost_) DropPending();
  }
  Schedule();
}

void Watcher::DropPending() {
  pending_.clear();
  pending_bytes_ = 0;
  pending_claim_.Reset();
}

void Watcher::Schedule() {
  {
    MutexLock lock(mutex_);
    if (is_scheduled_ || is_closed_) return;
    is_scheduled_ = true;
  }
  threads_.Post(client_, [self = shared_from_this()] { self->RunSteps(); });
}

bool Watcher::HasEnded() const {
  if (sink_->closed()) return true;
  MutexLock lock(mutex_);
  return is_closed_;
}

bool Watcher::HasWork() const {
  MutexLock lock(mutex_);
  return !requests_.empty() || is_lost_ || pending_through_.has_value();
}

bool Watcher::IsAtEnd() const {
  if (is_unannounced_) return false;
  MutexLock lock(mutex_);
  return is_ending_ && requests_.empty();
}

bool Watcher::TakeWork(Work* work) {
  MutexLock lock(mutex_);
  if (is_closed_) return false;
  if (!requests_.empty()) {
    work->request = std::move(requests_.front());
    requests_.pop_front();
    return true;
  }
  work->through = std::exchange(pending_through_, std::nullopt);
  work->is_lost = std::exchange(is_lost_, false);
  work->is_heartbeat = std::exchange(is_heartbeat_, false);
  work->items = std::exchange(pending_, {});
  DropPending();
  if (work->through || work->is_lost) return true;
  is_scheduled_ = false;
  return false;
}

void Watcher::RunSteps() {
  while (true) {
    switch (Continue()) {
      case After::kAnotherStep:
        continue;
      case After::kReaderFirst:
        // It stays scheduled until the client has read.
        return sink_->WhenWritable([self = shared_from_this()] {
          self->threads_.Post(self->client_, [self] { self->RunSteps(); });
        });
      case After::kNothing:
        return;
      case After::kNewWork:
        break;
    }
    // Outside the step: once there is no work, another thread may start the next step.
    Work work;
    if (!TakeWork(&work)) return;
    Do(std::move(work));
  }
}

Watcher::After Watcher::Continue() {
  const RolePlay step(step_);
  if (HasEnded()) return After::kNothing;
  if (database_.is_deleted) {
    // A client that comes back finds an empty database, and learns that its results are gone.
    sink_->End(Status(Code::kUnavailable, documents::DatabaseDeleted(database_).message()));
    Close();
    return After::kNothing;
  }
  if (sink_->IsFull()) return After::kReaderFirst;
  if (load_) {
    ContinueLoad();
    return After::kAnotherStep;
  }
  if (!to_reset_.empty()) {
    Reset();
    return After::kAnotherStep;
  }
  if (IsAtEnd()) {
    sink_->End(Status());
    Close();
    return After::kNothing;
  }
  if (!HasWork()) sink_->Flush();
  return After::kNewWork;
}

void Watcher::Do(Work work) {
  const RolePlay step(step_);
  if (work.request) {
    sink_->OnRequestTaken(waiting_requests());
    Handle(*std::move(work.request));
  } else if (work.is_lost) {
    CatchUp();
  } else {
    Deliver(work);
  }
}

void Watcher::Handle(Request request) {
  if (!request.target) return Remove(request.id, Status());
  if (targets_.contains(request.id)) {
    return sink_->End(
        InvalidArgument("Target id " + std::to_string(request.id) + " is already in use."));
  }
  sink_->Send(request::TargetEvent{Kind::kAdd, {request.id}});
  const Status status = Check(*request.target);
  if (!status.ok()) return sink_->Send(request::TargetEvent{Kind::kRemove, {request.id}, status});
  Start(request.id, **std::move(request.target));
}

Status Watcher::Check(const Result<request::TargetRequest>& request) const {
  RETURN_IF_ERROR(request.status());
  if (targets_.size() >= kTargetsMax) {
    return Status(Code::kResourceExhausted, "too many targets on one stream");
  }
  // Checked here as well as where results are read: a resumed target may not need to read them.
  const auto* query = std::get_if<query::NormalizedQuery>(&request->target);
  return query ? reader_.Check(database_, *query) : Status();
}

void Watcher::Start(request::TargetId id, request::TargetRequest request) {
  auto target = std::make_unique<TargetState>();
  target->id = id;
  target->target =
      std::make_shared<const Target>(ToTarget(database_.name, std::move(request.target)));
  target->mask = std::move(request.mask);
  target->once = request.once;
  if (const LiveQuery* query = target->query(); query && query->HasWindow()) {
    target->window = std::make_unique<ResultWindow>(*query);
  }
  target->number = change_feed_.Register(shared_from_this(), database_.number, target->target);
  if (!NoteRegistered(target->number)) return;
  const Timestamp read_time = change_feed_.Mark(shared_from_this());
  if (request.resume) {
    const Result<bool> resumed = Resume(*target, *request.resume, read_time);
    if (!resumed.ok()) return Fail(std::move(target), resumed.status());
    if (*resumed) return FinishTarget(std::move(target), read_time);
    sink_->Send(request::TargetEvent{Kind::kReset, {id}});
  }
  StartLoad(std::move(target), read_time);
}

bool Watcher::NoteRegistered(TargetNumber number) {
  {
    MutexLock lock(mutex_);
    if (!is_closed_) registered_.insert(number);
    if (!is_closed_) return true;
  }
  change_feed_.Unregister(number);
  return false;
}

void Watcher::Unregister(const TargetState& target) {
  {
    MutexLock lock(mutex_);
    registered_.erase(target.number);
  }
  change_feed_.Unregister(target.number);
}

void Watcher::Fail(std::unique_ptr<TargetState> target, const Status& cause) {
  Unregister(*target);
  sink_->Send(request::TargetEvent{Kind::kRemove, {target->id}, cause});
}

void Watcher::Remove(request::TargetId id, const Status& cause) {
  const auto found = targets_.find(id);
  if (found == targets_.end()) return;
  std::unique_ptr<TargetState> target = std::move(found->second);
  targets_.erase(found);
  targets_by_number_.erase(target->number);
  Fail(std::move(target), cause);
}

void Watcher::StartLoad(std::unique_ptr<TargetState> target, Timestamp read_time) {
  Load load{std::move(target), read_time};
  if (load.target->query()) {
    Result<std::unique_ptr<Results>> run = QueryAt(*load.target, read_time);
    if (!run.ok()) return Fail(std::move(load.target), run.status());
    load.run = *std::move(run);
    if (load.target->window) load.target->window->Clear();
  }
  load_ = std::make_unique<Load>(std::move(load));
}

query::NormalizedQuery Watcher::QueryOf(const TargetState& target) {
  query::NormalizedQuery query = target.query()->query();
  if (target.window) {
    query.query.offset = 0;
    if (query.query.limit) query.query.limit = target.window->capacity();
  }
  return query;
}

Result<std::unique_ptr<Results>> Watcher::QueryAt(const TargetState& target, Timestamp read_time) {
  return reader_.Query(database_, QueryOf(target), read_time, [this] { return sink_->closed(); });
}

bool Watcher::IsRemovalNext(request::TargetId id) const {
  MutexLock lock(mutex_);
  return !requests_.empty() && requests_.front().id == id && !requests_.front().target;
}

void Watcher::ContinueLoad() {
  if (IsRemovalNext(load_->target->id)) {
    // The removal itself is handled in turn; it needs a target to remove.
    targets_by_number_[load_->target->number] = load_->target.get();
    targets_[load_->target->id] = std::move(load_->target);
    load_.reset();
    return;
  }
  const Result<Progress> progress = load_->run ? LoadResults(*load_) : LoadDocuments(*load_);
  if (progress.ok() && *progress == Progress::kWaiting) return;
  const std::unique_ptr<Load> load = std::move(load_);
  load->run.reset();
  if (!progress.ok()) return Fail(std::move(load->target), progress.status());
  FinishTarget(std::move(load->target), load->read_time);
}

Result<Watcher::Progress> Watcher::LoadDocuments(Load& load) {
  const auto& paths = std::get<DocumentSet>(*load.target->target);
  for (; load.next_document < paths.size(); ++load.next_document) {
    if (sink_->IsFull()) return Progress::kWaiting;
    const model::DocumentPath& path = paths[load.next_document];
    ASSIGN_OR_RETURN(const model::Record record, reader_.Get(database_, path, load.read_time));
    if (record) {
      sink_->Send(request::DocumentEvent{path, record, load.target->mask, {load.target->id}});
    } else {
      sink_->Send(request::DocumentGoneEvent{
          Reason::kDeleted, path.path(), {load.target->id}, load.read_time});
    }
  }
  return Progress::kDone;
}

Result<Watcher::Progress> Watcher::LoadResults(Load& load) {
  const size_t offset = load.target->query()->query().query.offset;
  while (!sink_->IsFull()) {
    ASSIGN_OR_RETURN(const std::optional<request::QueryResult> result, load.run->Next());
    if (!result) return Progress::kDone;
    if (load.target->window) load.target->window->Append(result->path, result->record);
    if (load.results++ < offset) continue;
    sink_->Send(
        request::DocumentEvent{result->path, result->record, load.target->mask, {load.target->id}});
  }
  return Progress::kWaiting;
}

void Watcher::FinishTarget(std::unique_ptr<TargetState> target, Timestamp read_time) {
  target->read_time = read_time;
  newest_read_time_ = std::max(newest_read_time_, read_time);
  sink_->Send(request::TargetEvent{
      Kind::kCurrent, {target->id}, Status(), read_time, reader_.ResumeToken(read_time)});
  is_unannounced_ = true;
  targets_by_number_[target->number] = target.get();
  targets_[target->id] = std::move(target);
}

Result<bool> Watcher::Resume(TargetState& target, const request::TargetRequest::Resume& resume,
                             Timestamp to) {
  const auto* token = std::get_if<std::string>(&resume.from);
  const std::optional<Timestamp> known =
      token ? reader_.ReadResumeToken(*token) : std::get<Timestamp>(resume.from);
  if (!known || *known > to || !reader_.IsInHistory(database_, *known)) return false;
  const Timestamp from = *known;
  if (target.window) return ResumeWindow(target, {from, to}, resume.expected_count);
  if (!target.query()) return ResumeDocuments(target, from, to);
  const auto concerns = [&target](const model::DocumentPath& path) {
    return query::IsInScope(target.query()->query().query, path);
  };
  ASSIGN_OR_RETURN(const std::optional<std::vector<Change>> changes,
                   reader_.ChangesBetween(database_, from, to, concerns, options_.catch_up_max));
  if (!changes) return false;
  WatchDelta delta;
  for (const Change& change : *changes) {
    if (target.query()->IsConcernedBy(change)) delta.Add(target, change);
  }
  RETURN_IF_ERROR(Apply(delta, to));
  if (resume.expected_count) {
    std::set<std::string> changed;
    for (const Change& change : *changes) changed.insert(change.path.path());
    ASSIGN_OR_RETURN(const size_t had, reader_.Count(database_, QueryOf(target), from,
                                                     [this] { return sink_->closed(); }));
    if (had != *resume.expected_count) {
      RETURN_IF_ERROR(SendExistenceFilter(target, to, changed));
    }
  }
  return true;
}

Result<bool> Watcher::ResumeDocuments(const TargetState& target, Timestamp from, Timestamp to) {
  std::vector<std::pair<const model::DocumentPath*, model::Record>> changed;
  size_t bytes = 0;
  for (const model::DocumentPath& path : std::get<DocumentSet>(*target.target)) {
    ASSIGN_OR_RETURN(const model::Record was, reader_.Get(database_, path, from));
    ASSIGN_OR_RETURN(model::Record is, reader_.Get(database_, path, to));
    if (IsSameState(was, is)) continue;
    bytes += is ? is->size() : 0;
    if (bytes > options_.catch_up_max.bytes) return false;
    changed.emplace_back(&path, std::move(is));
  }
  for (const auto& [path, record] : changed) {
    if (record) {
      sink_->Send(request::DocumentEvent{*path, record, target.mask, {target.id}});
    } else {
      sink_->Send(request::DocumentGoneEvent{Reason::kDeleted, path->path(), {target.id}, to});
    }
  }
  return true;
}

Result<bool> Watcher::ResumeWindow(TargetState& target, const Span& span,
                                   std::optional<size_t> expected_count) {
  const auto [from, to] = span;
  std::map<std::string, Timestamp> was;  // Update times.
  const auto note = [&was](const std::string& path, const model::Record& record) {
    was[path] = model::RecordUpdateTime(*record);
    return false;
  };
  RETURN_IF_ERROR(RefillWindow(target, from, note).status());
  size_t bytes = 0;
  const auto has_changed = [&](const std::string& path, const model::Record& record) {
    const auto before = was.find(path);
    if (before != was.end() && before->second == model::RecordUpdateTime(*record)) return false;
    bytes += record->size();
    return bytes <= options_.catch_up_max.bytes;
  };
  ASSIGN_OR_RETURN(const auto is, RefillWindow(target, to, has_changed));
  if (bytes > options_.catch_up_max.bytes) return false;
  std::set<std::string> changed;
  for (const auto& [path, update_time] : was) {
    if (is.contains(path)) continue;
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    ASSIGN_OR_RETURN(const model::Record left, reader_.Get(database_, parsed, to));
    const Reason reason = left ? Reason::kNoMatch : Reason::kDeleted;
    sink_->Send(request::DocumentGoneEvent{reason, path, {target.id}, to});
    changed.insert(path);
  }
  for (const auto& [path, record] : is) {
    if (!record) continue;  // Unchanged.
    ASSIGN_OR_RETURN(const model::DocumentPath parsed, model::DocumentPath::Parse(path));
    sink_->Send(request::DocumentEvent{parsed, record, target.mask, {target.id}});
    changed.insert(path);
  }
  if (expected_count && was.size() != *expected_count) {
    RETURN_IF_ERROR(SendExistenceFilter(target, to, changed));
  }
  return true;
}

Status Watcher::SendExistenceFilter(TargetState& target, Timestamp read_time,
                                    const std::set<std::string>& changed) {
  std::vector<std::string> unchanged;
  size_t count = 0;
  size_t skipped = 0;
  ASSIGN_OR_RETURN(const std::unique_ptr<Results> run, QueryAt(target, read_time));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<request::QueryResult> result, run->Next());
    if (!result) break;
    if (skipped < target.query()->query().query.offset) {
      ++skipped;
      continue;
    }
    ++count;
    if (!changed.contains(result->path.path())) unchanged.push_back(result->path.path());
  }
  BloomFilter names(unchanged.size());
  for (const std::string& path : unchanged) {
    names.Add(database_.name.text() + "/documents/" + path);
  }
  sink_->Send(request::ExistenceFilterEvent{target.id, count, names.bits()});
  return Status();
}

Result<std::map<std::string, model::Record>> Watcher::RefillWindow(TargetState& target,
                                                                   Timestamp read_time,
                                                                   const IsWanted& is_wanted) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Results> run, QueryAt(target, read_time));
  target.window->Clear();
  std::map<std::string, model::Record> records;
  size_t place = 0;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<request::QueryResult> result, run->Next());
    if (!result) return records;
    target.window->Append(result->path, result->record);
    if (place++ < target.query()->query().query.offset) continue;
    const std::string& path = result->path.path();
    records[path] = is_wanted(path, result->record) ? std::move(result->record) : nullptr;
  }
}

void Watcher::Deliver(const Work& work) {
  WatchDelta delta;
  for (const ChangeFeed::Item& item : work.items) {
    const auto target = targets_by_number_.find(item.target);
    if (target == targets_by_number_.end()) continue;
    if (item.change->commit_time > target->second->read_time) {
      delta.Add(*target->second, *item.change);
    }
  }
  if (!AdvanceTo(delta, *work.through)) return;
  if (work.is_heartbeat && !targets_.empty()) is_unannounced_ = true;
  Announce(*work.through);
}

void Watcher::CatchUp() {
  const Timestamp to = change_feed_.Mark(shared_from_this());
  std::map<Timestamp, std::vector<TargetState*>> groups;  // Nearly always one.
  for (const auto& [id, target] : targets_) groups[target->read_time].push_back(target.get());
  WatchDelta delta;
  for (const auto& [from, group] : groups) {
    const auto concerns = [&group = group](const model::DocumentPath& path) {
      return std::ranges::any_of(group, [&](const TargetState* each) { return each->Reads(path); });
    };
    Result<std::optional<std::vector<Change>>> changes = std::optional<std::vector<Change>>();
    // If a client has not read for a long time, the log may no longer reach back far enough.
    if (reader_.IsInHistory(database_, from)) {
      changes = reader_.ChangesBetween(database_, from, to, concerns, options_.catch_up_max);
    }
    if (!changes.ok() || !*changes) {
      for (const TargetState* target : group) to_reset_.push_back(target->id);
      continue;
    }
    for (const Change& change : **changes) {
      for (TargetState* target : group) {
        if (target->IsConcernedBy(change)) delta.Add(*target, change);
      }
    }
  }
  // The mark makes the feed answer; the new moment is announced to the client then.
  if (!AdvanceTo(delta, to)) to_reset_.clear();
}

bool Watcher::AdvanceTo(const WatchDelta& delta, Timestamp through) {
  if (const Status status = Apply(delta, through); !status.ok()) {
    // A window that could not be refilled is unusable, and so is everything that depends on it.
    sink_->End(status);
    return false;
  }
  for (const auto& [id, target] : targets_) {
    target->read_time = std::max(target->read_time, through);
  }
  newest_read_time_ = std::max(newest_read_time_, through);
  return true;
}

Status Watcher::Apply(const WatchDelta& delta, Timestamp through) {
  WatchMessages messages;
  const auto refill = [&](TargetState& target, const std::set<std::string>& known) {
    step_.Assert();
    return RefillWindow(target, through, [&known](const std::string& path, const model::Record&) {
      return !known.contains(path);
    });
  };
  RETURN_IF_ERROR(delta.Resolve(refill, &messages));
  if (!messages.empty()) is_unannounced_ = true;
  messages.SendTo(*sink_, through);
  return Status();
}

void Watcher::Reset() {
  const auto found = targets_.find(to_reset_.front());
  to_reset_.pop_front();
  if (found == targets_.end()) return;
  std::unique_ptr<TargetState> target = std::move(found->second);
  targets_.erase(found);
  targets_by_number_.erase(target->number);
  sink_->Send(request::TargetEvent{Kind::kReset, {target->id}});
  StartLoad(std::move(target), change_feed_.Mark(shared_from_this()));
}

void Watcher::Announce(Timestamp through) {
  // Not while a target is ahead, or will be: more events follow.
  if (!is_unannounced_ || through < newest_read_time_ || !to_reset_.empty()) return;
  is_unannounced_ = false;
  sink_->Send(
      request::TargetEvent{Kind::kNoChange, {}, Status(), through, reader_.ResumeToken(through)});
  std::vector<request::TargetId> ended;
  for (const auto& [id, target] : targets_) {
    if (target->once) ended.push_back(id);
  }
  for (const request::TargetId id : ended) Remove(id, Status());
}

}  // namespace hearth::watch
