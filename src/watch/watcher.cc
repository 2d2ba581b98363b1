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
      pending_memory_(NewMemory()) {}

Watcher::~Watcher() { change_feed_.Unregister(StopTakingWork()); }

void Watcher::AddTarget(request::TargetId id, Result<request::TargetRequest> request) {
  Enqueue({id, std::move(request)});
}

void Watcher::RemoveTarget(request::TargetId id) { Enqueue({id, std::nullopt}); }

void Watcher::Enqueue(Request request) {
  std::optional<Result<request::TargetRequest>> refused;  // Freed without the lock.
  {
    MutexLock lock(mutex_);
    if (is_closed_) return;
    if (request.target && request.target->ok()) {
      request.memory = NewMemory();
      if (!request.memory.Grow(BytesOf(**request.target))) {
        refused = std::exchange(request.target, NoMemoryForTarget());
      }
    }
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
  change_feed_.Unregister(StopTakingWork());
  closing_.request_stop();
  {
    MutexLock lock(mutex_);
    // The reader has left. A step that runs now, or will, finds that.
    if (is_scheduled_ && !std::exchange(waits_for_reader_, false)) return;
    is_scheduled_ = true;
  }
  PostSteps();  // What the targets hold takes long to free.
}

ChangeFeed::TargetNumbers Watcher::StopTakingWork() {
  std::deque<Request> requests;  // Freed without the lock.
  std::vector<ChangeFeed::Item> pending;
  MutexLock lock(mutex_);
  is_closed_ = true;
  requests = std::exchange(requests_, {});
  pending = std::exchange(pending_, {});
  DropPending();
  return std::exchange(registered_, {});
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
    if (!is_lost_ && pending_bytes_ > kUnclaimedBytesMax &&
        !pending_memory_.Grow(pending_bytes_ - pending_memory_.bytes())) {
      is_lost_ = true;
    }
    if (is_lost_) DropPending();
  }
  Schedule();
}

void Watcher::DropPending() {
  pending_.clear();
  pending_bytes_ = 0;
  pending_memory_.Reset();
}

void Watcher::Schedule() {
  {
    MutexLock lock(mutex_);
    if (is_scheduled_ || is_closed_) return;
    is_scheduled_ = true;
  }
  PostSteps();
}

void Watcher::PostSteps() {
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

Watcher::Taken Watcher::TakeWork(Work* work) {
  MutexLock lock(mutex_);
  if (is_closed_) return Taken::kClosed;
  if (!requests_.empty()) {
    work->request = std::move(requests_.front());
    requests_.pop_front();
    return Taken::kWork;
  }
  work->through = std::exchange(pending_through_, std::nullopt);
  work->is_lost = std::exchange(is_lost_, false);
  work->is_heartbeat = std::exchange(is_heartbeat_, false);
  work->items = std::exchange(pending_, {});
  work->memory = std::exchange(pending_memory_, pending_memory_.Another());
  DropPending();
  if (work->through || work->is_lost) return Taken::kWork;
  is_scheduled_ = false;
  return Taken::kNone;
}

void Watcher::RunSteps() {
  while (true) {
    switch (Continue()) {
      case After::kAnotherStep:
        break;
      case After::kReaderFirst:
        return WaitForReader();
      case After::kNothing:
        return;
      case After::kNewWork: {
        // Outside the step: once there is no work, another thread may start the next step.
        Work work;
        const Taken taken = TakeWork(&work);
        if (taken == Taken::kNone) return;
        if (taken == Taken::kWork) Do(std::move(work));
        break;
      }
    }
    // Steps that may not go on as one long task go on as several short ones.
    if (!threads_.Pause(closing_.get_token()).ok()) return PostSteps();
  }
}

void Watcher::WaitForReader() {
  bool is_closed = false;
  {
    MutexLock lock(mutex_);
    is_closed = is_closed_;
    waits_for_reader_ = !is_closed;  // It stays scheduled.
  }
  if (is_closed) return PostSteps();
  sink_->WhenWritable([self = shared_from_this()] {
    {
      MutexLock lock(self->mutex_);
      if (!std::exchange(self->waits_for_reader_, false)) return;  // Close came first.
    }
    self->PostSteps();
  });
}

Status Watcher::Pause() {
  if (sink_->closed()) return Status(Code::kCancelled, "the client has left");
  return threads_.Pause(closing_.get_token());
}

Watcher::After Watcher::Continue() {
  const RolePlay step(step_);
  if (!HasEnded() && database_.is_deleted) {
    // A client that comes back finds an empty database, and learns that its results are gone.
    sink_->End(Status(Code::kUnavailable, documents::DatabaseDeleted(database_).message()));
    Close();
  }
  if (HasEnded()) {
    Discard();
    return After::kNothing;
  }
  if (sink_->IsFull()) return After::kReaderFirst;
  if (advance_) {
    ContinueAdvance();
    return After::kAnotherStep;
  }
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
    return After::kAnotherStep;  // It finds that the stream has ended.
  }
  if (!HasWork()) sink_->Flush();
  return After::kNewWork;
}

void Watcher::Discard() {
  load_.reset();
  advance_.reset();
  targets_by_number_.clear();
  while (!targets_.empty()) {
    targets_.erase(targets_.begin());
    IgnoreError(threads_.Pause(), "there is no way to stop halfway");
  }
  masks_.clear();
}

void Watcher::Do(Work work) {
  const RolePlay step(step_);
  if (work.request) {
    sink_->OnRequestTaken(waiting_requests());
    Handle(*std::move(work.request));
  } else if (work.is_lost) {
    CatchUp();
  } else {
    Deliver(std::move(work));
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
  Start(std::move(request));
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

void Watcher::Start(Request request) {
  request::TargetRequest& wanted = **request.target;
  auto target = std::make_unique<TargetState>();
  target->id = request.id;
  target->memory = std::move(request.memory);
  target->target =
      std::make_shared<const Target>(ToTarget(database_.name, std::move(wanted.target)));
  target->SortDocuments();
  target->once = wanted.once;
  if (const LiveQuery* query = target->query(); query && query->HasWindow()) {
    target->window = NewWindow(*target);
  }
  const Result<TargetNumber> number =
      change_feed_.Register(shared_from_this(), database_.number, target->target);
  if (!number.ok()) {
    return sink_->Send(request::TargetEvent{Kind::kRemove, {target->id}, number.status()});
  }
  target->number = *number;
  target->mask = Share(std::move(wanted.mask));
  if (!NoteRegistered(target->number)) return;
  const Timestamp read_time = change_feed_.Mark(shared_from_this());
  if (wanted.resume) {
    Resumed resumed = Resume(*target, *wanted.resume, read_time);
    if (!resumed.ok()) return Fail(std::move(target), resumed.status());
    if (*resumed) {
      (*resumed)->target = std::move(target);
      return StartAdvance(*std::move(resumed));
    }
    sink_->Send(request::TargetEvent{Kind::kReset, {target->id}});
  }
  StartLoad(std::move(target), read_time);
}

std::shared_ptr<const Mask> Watcher::Share(Mask mask) {
  return *masks_.insert(std::make_shared<const Mask>(std::move(mask))).first;
}

bool Watcher::NoteRegistered(TargetNumber number) {
  {
    MutexLock lock(mutex_);
    if (!is_closed_) registered_.insert(number);
    if (!is_closed_) return true;
  }
  change_feed_.Unregister({number});
  return false;
}

void Watcher::Unregister(TargetNumber number) {
  {
    MutexLock lock(mutex_);
    if (registered_.erase(number) == 0) return;  // Close came first.
  }
  change_feed_.Unregister({number});
}

void Watcher::Fail(std::unique_ptr<TargetState> target, const Status& cause) {
  Unregister(target->number);
  if (target->mask.use_count() == 2) masks_.erase(target->mask);  // No other target has it.
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
    if (load.target->window) load.target->window = NewWindow(*load.target);
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
  return reader_.Query(database_, QueryOf(target), read_time, [this] { return Pause(); });
}

std::unique_ptr<ResultWindow> Watcher::NewWindow(const TargetState& target) {
  return std::make_unique<ResultWindow>(*target.query(), target.memory.Another());
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
    RETURN_IF_ERROR(Pause());
    const model::DocumentPath& path = paths[load.next_document];
    ASSIGN_OR_RETURN(const model::Record record, reader_.Get(database_, path, load.read_time));
    if (record) {
      sink_->Send(request::DocumentEvent{path, record, *load.target->mask, {load.target->id}});
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
    ResultWindow* const window = load.target->window.get();
    if (window && !window->Append(result->path, result->record)) return NoMemoryForTarget();
    if (load.results++ < offset) continue;
    sink_->Send(request::DocumentEvent{
        result->path, result->record, *load.target->mask, {load.target->id}});
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
