#include "indexing/index_keeper.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"
#include "documents/keys.h"
#include "index/index_use.h"
#include "indexing/index_keys.h"
#include "model/document.h"

namespace hearth::indexing {
namespace {

using index::Definition;
using index::Index;
using index::IndexNumber;
using index::IndexRecord;
using index::IndexSet;
using index::Origin;
using index::State;
using model::DatabaseNumber;
using storage::Space;

constexpr std::chrono::milliseconds kKeeperPauseAfterError{500};
constexpr std::chrono::microseconds kUsesNotedEvery = std::chrono::hours(1);
constexpr std::chrono::microseconds kBudgetCheckedEvery = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kReadersCheckedEvery{20};
constexpr size_t kEntriesRemovedAtOnce = 5'000;

IndexRecord ToRecord(const Index& index, std::string progress) {
  return {index.database,      index.state,     index.origin, index.activity->used_at_micros,
          std::move(progress), index.definition};
}

Index FromRecord(IndexNumber number, IndexRecord record) {
  Index index{number,       record.database, std::move(record.definition),
              record.state, record.origin,   std::make_shared<index::Activity>()};
  index.activity->used_at_micros = record.used_at_micros;
  return index;
}

// The keys of a snapshot that start with `prefix`, with the prefix removed, and their values.
Result<std::vector<std::pair<std::string, std::string>>> ReadAll(const storage::Snapshot& snapshot,
                                                                 std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> entries;
  const auto cursor =
      snapshot.Scan(Space::kMeta, storage::PrefixRange(prefix), storage::Direction::kForward);
  for (; cursor->Valid(); cursor->Next()) {
    entries.emplace_back(cursor->key().substr(prefix.size()), cursor->value());
  }
  RETURN_IF_ERROR(cursor->status());
  return entries;
}

std::string BuildTask(IndexNumber number) { return "build " + RecordKey(number); }

// Whether the work that was last done at `*done_at` is due, and the caller is to do it.
bool IsDue(int64_t now, std::chrono::microseconds period, std::atomic<int64_t>* done_at) {
  int64_t last = *done_at;
  return now - last >= period.count() && done_at->compare_exchange_strong(last, now);
}

const Index* FindSame(const IndexSet& indexes, DatabaseNumber database,
                      const Definition& definition) {
  for (const Index& index : indexes.Of(database, definition.collection_id)) {
    if (index.definition == definition) return &index;
  }
  return nullptr;
}

}  // namespace

// One step of a build: the entries of some documents.
struct IndexKeeper::Step {
  std::unique_ptr<storage::Snapshot> snapshot;
  uint64_t failed_groups = 0;
  std::string progress;
  bool finished = false;
  std::vector<std::pair<std::string, std::vector<index::Entry>>> documents;
};

Result<std::unique_ptr<IndexKeeper>> IndexKeeper::Open(storage::Store& store, const Clock& clock,
                                                       IndexRegistry& registry,
                                                       const IndexKeeperOptions& options) {
  std::unique_ptr<IndexKeeper> keeper(new IndexKeeper(store, clock, registry, options));
  RETURN_IF_ERROR(keeper->Load());
  return keeper;
}

IndexKeeper::IndexKeeper(storage::Store& store, const Clock& clock, IndexRegistry& registry,
                         const IndexKeeperOptions& options)
    : store_(store),
      clock_(clock),
      registry_(registry),
      options_(options),
      budget_(options.on_demand) {}

IndexKeeper::~IndexKeeper() { Stop(); }

Status IndexKeeper::Load() {
  const std::unique_ptr<storage::Snapshot> snapshot = store_.NewSnapshot();
  ASSIGN_OR_RETURN(const auto next, snapshot->Get(Space::kMeta, documents::kNextIndexKey));
  if (next) {
    ASSIGN_OR_RETURN(next_number_, model::DecodeUint32(*next));
  }
  std::vector<Index> indexes;
  ASSIGN_OR_RETURN(const auto records, ReadAll(*snapshot, documents::kIndexKeyPrefix));
  for (const auto& [key, value] : records) {
    ASSIGN_OR_RETURN(const uint32_t number, model::DecodeUint32(key));
    ASSIGN_OR_RETURN(IndexRecord record, index::DecodeIndexRecord(value));
    const std::string progress = record.progress;
    indexes.push_back(FromRecord(IndexNumber{number}, std::move(record)));
    ASSIGN_OR_RETURN(const auto use,
                     snapshot->Get(Space::kMeta, std::string(documents::kIndexUseKeyPrefix) + key));
    if (use) RETURN_IF_ERROR(index::DecodeIndexUse(*use, indexes.back().activity.get()));
    if (indexes.back().state == State::kBuilding) {
      const Urgency urgency =
          indexes.back().origin == Origin::kOnDemand ? Urgency::kLater : Urgency::kNow;
      Enqueue(urgency, {BuildTask(IndexNumber{number}), indexes.back().database,
                        [this, number, progress] { Build(IndexNumber{number}, progress); }});
    }
  }
  ASSIGN_OR_RETURN(const auto remains, ReadAll(*snapshot, documents::kIndexRemainsKeyPrefix));
  for (const auto& [key, value] : remains) {
    ASSIGN_OR_RETURN(const uint32_t number, model::DecodeUint32(key));
    MutexLock lock(mutex_);
    leaving_.push_back({IndexNumber{number}, {}});  // There are no readers yet.
  }
  registry_.Set(std::make_shared<const IndexSet>(std::move(indexes)));
  return Status();
}

void IndexKeeper::Start(CommitSteps& committer) {
  committer_ = &committer;
  thread_ = std::thread([this] { Run(); });
}

void IndexKeeper::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

bool IndexKeeper::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

bool IndexKeeper::HasUrgentWork() const {
  MutexLock lock(mutex_);
  return !urgent_tasks_.empty();
}

bool IndexKeeper::MustGiveWay(const Index& index) const {
  MutexLock lock(mutex_);
  if (index.origin == Origin::kOnDemand) return !urgent_tasks_.empty();
  return urgent_tasks_.size() > urgent_tasks_.size_of(index.database);
}

bool IndexKeeper::MayBuild(DatabaseNumber database) const {
  MutexLock lock(mutex_);
  return !stopping_ && !being_forgotten_.contains(database);
}

void IndexKeeper::Enqueue(Urgency urgency, Task task) {
  {
    MutexLock lock(mutex_);
    if (!waiting_tasks_.insert(task.name).second) return;
    if (urgency == Urgency::kNow) {
      urgent_tasks_.Push(task.database, std::move(task));
    } else {
      tasks_.push_back(std::move(task));
    }
  }
  changed_.NotifyAll();
}

void IndexKeeper::Hasten(const std::string& name) {
  MutexLock lock(mutex_);
  const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const Task& task) { return task.name == name; });
  if (found == tasks_.end()) return;
  urgent_tasks_.Push(found->database, std::move(*found));
  tasks_.erase(found);
}

void IndexKeeper::Run() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(mutex_);
      is_busy_ = false;
      changed_.NotifyAll();
      while (!stopping_ && !(work = TakeWork())) {
        // Nobody reports that a reader has ended.
        leaving_.empty() ? changed_.Wait(mutex_) : changed_.WaitFor(mutex_, kReadersCheckedEvery);
      }
      if (stopping_) return;
      is_busy_ = true;
    }
    work();
  }
}

std::function<void()> IndexKeeper::TakeWork() {
  const auto begin = [this](Task task) REQUIRES_LOCK(mutex_) {
    waiting_tasks_.erase(task.name);
    return std::move(task.run);
  };
  if (!urgent_tasks_.empty()) return begin(urgent_tasks_.Pop());
  const auto left = std::find_if(leaving_.begin(), leaving_.end(),
                                 [](const Leaving& each) { return each.last_set.expired(); });
  if (left != leaving_.end()) {
    const IndexNumber number = left->number;
    leaving_.erase(left);
    return [this, number] { RemoveEntries(number); };
  }
  if (tasks_.empty()) return nullptr;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return begin(std::move(task));
}

void IndexKeeper::AwaitIdle() {
  MutexLock lock(mutex_);
  while (!stopping_ &&
         (is_busy_ || !urgent_tasks_.empty() || !tasks_.empty() || !leaving_.empty())) {
    changed_.Wait(mutex_);
  }
}

void IndexKeeper::Want(const documents::Database& database, const Definition& definition,
                       Origin origin) {
  const std::shared_ptr<const IndexSet> indexes = registry_.Current();
  const Index* same = FindSame(*indexes, database.number, definition);
  if (same && same->origin == origin) return;
  const std::string name = "create " + index::EncodeIndexRecord({database.number, State::kBuilding,
                                                                 origin, 0, "", definition});
  Enqueue(Urgency::kNow,
          {name, database.number, [this, handle = database.shared_from_this(), definition, origin] {
             Create(handle, definition, origin, std::make_shared<index::Activity>());
           }});
}

void IndexKeeper::Wish(const documents::Database& database, const IndexWish& wish) {
  const std::shared_ptr<const IndexSet> indexes = registry_.Current();
  const int64_t now = clock_.WallMicros();
  OnDemandBudget::Decision decision = budget_.Decide(*indexes, wish, now);
  for (const IndexNumber number : decision.drop) Drop(number);
  if (!decision.build) return;
  auto activity = std::make_shared<index::Activity>();
  activity->reads_without = wish.reads_in_vain;
  activity->score = decision.promise;
  activity->scored_at_micros = now;
  const std::string name =
      "create " + index::EncodeIndexRecord({database.number, State::kBuilding, Origin::kOnDemand, 0,
                                            "", *decision.build});
  Enqueue(Urgency::kLater,
          {name, database.number,
           [this, handle = database.shared_from_this(), definition = *decision.build, activity] {
             Create(handle, definition, Origin::kOnDemand, activity);
             budget_.EndBuild(handle->number, definition);
           }});
}

void IndexKeeper::Drop(IndexNumber number) {
  const auto drop = [this, number] {
    // It may have been declared since. Only this thread changes origins.
    const std::optional<Index> index = Find(number);
    if (index && index->origin == Origin::kOnDemand) Remove(number);
  };
  Enqueue(Urgency::kLater, {"drop " + RecordKey(number), {}, drop});
}

void IndexKeeper::ReleaseAllBut(model::DatabaseNumber database, std::vector<Definition> wanted) {
  std::string name = "release all but " + model::EncodeUint32(static_cast<uint32_t>(database));
  for (const Definition& definition : wanted) {
    name +=
        index::EncodeIndexRecord({database, State::kReady, Origin::kOnDemand, 0, "", definition});
  }
  const auto release = [this, database, wanted = std::move(wanted)] {
    const std::shared_ptr<const IndexSet> indexes = registry_.Current();
    for (const Index& index : indexes->OfDatabase(database)) {
      const bool is_wanted =
          std::find(wanted.begin(), wanted.end(), index.definition) != wanted.end();
      if (!is_wanted) SetOrigin(index.number, Origin::kOnDemand);
    }
  };
  Enqueue(Urgency::kNow, {std::move(name), database, release});
}

void IndexKeeper::ForgetDatabase(DatabaseNumber database, std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    being_forgotten_.insert(database);
  }
  const std::string name = "forget " + model::EncodeUint32(static_cast<uint32_t>(database));
  const auto forget = [this, database, done = std::move(done)] {
    std::vector<IndexNumber> numbers;  // Not the set: its entries stay while somebody holds it.
    for (const auto indexes = registry_.Current();
         const Index& index : indexes->OfDatabase(database)) {
      numbers.push_back(index.number);
    }
    for (const IndexNumber number : numbers) Remove(number);
    budget_.Forget(database);
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      being_forgotten_.erase(database);
    }
    done();
  };
  Enqueue(Urgency::kNow, {name, database, forget});
}

void IndexKeeper::Maintain() {
  const int64_t now = clock_.WallMicros();
  const int64_t oldest = now - std::chrono::microseconds(options_.unused_max).count();
  for (const auto indexes = registry_.Current(); const Index* index : indexes->all()) {
    if (index->origin == Origin::kOnDemand && index->state == State::kReady &&
        index->activity->used_at_micros < oldest) {
      Drop(index->number);
    }
  }
  for (IndexRegistry::Dropped& dropped : registry_.TakeDropped()) FinishDrop(std::move(dropped));
  if (IsDue(now, kBudgetCheckedEvery, &budget_checked_at_)) {
    for (const IndexNumber number : budget_.FindExcess(*registry_.Current(), now)) Drop(number);
  }
  if (!IsDue(now, kUsesNotedEvery, &uses_noted_at_)) return;
  Enqueue(Urgency::kLater, {"note uses", {}, [this] { NoteUses(); }});
}

void IndexKeeper::FinishDrop(IndexRegistry::Dropped dropped) {
  const Definition& definition = dropped.index.definition;
  Log(LogLevel::kWarning,
      "dropped an index created on demand: the entries of a document would be too large",
      {{"collection", definition.collection_id}, {"index", index::Properties(definition)}});
  budget_.Bar(dropped.index.database, definition);
  {
    MutexLock lock(mutex_);
    leaving_.push_back({dropped.index.number, std::move(dropped.last_set)});
  }
  changed_.NotifyAll();
}

std::optional<Index> IndexKeeper::Find(IndexNumber number) const {
  for (const auto indexes = registry_.Current(); const Index* index : indexes->all()) {
    if (index->number == number) return *index;
  }
  return std::nullopt;
}

void IndexKeeper::Replace(const Index& index) {
  registry_.Set(std::make_shared<const IndexSet>(registry_.Current()->With(index)));
}

bool IndexKeeper::PauseAfter(const Status& status, const char* what) {
  Log(LogLevel::kWarning, what, {{"error", status.ToString()}});
  MutexLock lock(mutex_);
  if (!stopping_) changed_.WaitFor(mutex_, kKeeperPauseAfterError);
  return !stopping_;
}

void IndexKeeper::Create(const documents::ConstDatabaseHandle& database,
                         const Definition& definition, Origin origin,
                         const std::shared_ptr<index::Activity>& activity) {
  {
    const std::shared_ptr<const IndexSet> indexes = registry_.Current();
    if (const Index* same = FindSame(*indexes, database->number, definition)) {
      if (origin != Origin::kOnDemand) SetOrigin(same->number, origin);
      return;
    }
  }
  const IndexNumber number{next_number_++};
  const Index index{number, database->number, definition, State::kBuilding, origin, activity};
  activity->created_micros = clock_.WallMicros();
  activity->used_at_micros = clock_.WallMicros();
  bool is_deleted = false;
  const auto stage = [&](storage::Batch* batch) {
    // Set on this thread: from now on the database's indexes are being forgotten.
    is_deleted = database->is_deleted;
    if (is_deleted) return;
    batch->Put(Space::kMeta, std::string(documents::kNextIndexKey),
               model::EncodeUint32(next_number_));
    batch->Put(Space::kMeta, RecordKey(number), index::EncodeIndexRecord(ToRecord(index, "")));
  };
  Status status;
  do {
    status = committer_->RunStep(stage, [&] {
      if (!is_deleted) Replace(index);
    });
  } while (!status.ok() && PauseAfter(status, "cannot create an index; will retry"));
  if (!status.ok() || is_deleted) return;
  Log(LogLevel::kInfo, "building an index",
      {{"collection", definition.collection_id}, {"index", index::Properties(definition)}});
  Build(number, "");
}

void IndexKeeper::DropServedBy(const Index& shared) {
  const std::optional<size_t> position = index::MapPosition(shared.definition);
  if (!position) return;
  const std::shared_ptr<const IndexSet> indexes = registry_.Current();
  for (const Index& index : indexes->Of(shared.database, shared.definition.collection_id)) {
    if (index.origin != Origin::kOnDemand || index.definition.fields.size() <= *position) continue;
    const model::FieldPath& path = index.definition.fields[*position].path;
    if (index::FormFor(path, shared.definition) == index.definition) Drop(index.number);
  }
}

void IndexKeeper::SetOrigin(IndexNumber number, Origin origin) {
  std::optional<Index> index = Find(number);
  if (!index || index->origin == origin) return;
  index->origin = origin;
  // From now on it is dropped when unused, but not immediately.
  if (origin == Origin::kOnDemand) index->activity->used_at_micros = clock_.WallMicros();
  bool is_dropped = false;
  const Status status = committer_->RunStep(
      [&](storage::Batch* batch) {
        is_dropped = !Find(number);
        if (is_dropped) return;
        batch->Put(Space::kMeta, RecordKey(number), index::EncodeIndexRecord(ToRecord(*index, "")));
      },
      [&] {
        if (!is_dropped) Replace(*index);
      });
  if (!status.ok()) {
    Log(LogLevel::kWarning, "cannot store the origin of an index", {{"error", status.ToString()}});
  } else if (origin != Origin::kOnDemand) {
    Hasten(BuildTask(number));
  }
}

void IndexKeeper::Build(IndexNumber number, std::string progress) {
  const std::optional<Index> index = Find(number);
  if (!index) return;
  bool may_give_way = index->origin == Origin::kOnDemand;  // Others take at least one step a turn.
  bool finished = false;
  while (!finished && MayBuild(index->database)) {
    if (may_give_way && MustGiveWay(*index)) return GoOnLater(*index, progress);
    may_give_way = true;
    const Status status = BuildStep(*index, &progress, &finished);
    if (status.code() == Code::kInvalidArgument) {
      Log(LogLevel::kError, "building an index failed",
          {{"collection", index->definition.collection_id}, {"error", status.ToString()}});
      if (index->origin == Origin::kOnDemand) budget_.Bar(index->database, index->definition);
      return Remove(number);
    }
    if (status.code() == Code::kNotFound) return;
    if (status.ok()) continue;
    if (!PauseAfter(status, "building an index failed; will retry")) return;
    if (status.code() == Code::kResourceExhausted) {
      // Behind the other tasks: dropping an index makes space.
      return Enqueue(Urgency::kLater, ToBuild(*index, progress));
    }
  }
  if (!finished) return;
  Log(LogLevel::kInfo, "an index is ready",
      {{"collection", index->definition.collection_id},
       {"index", index::Properties(index->definition)},
       {"documents", index->activity->documents_indexed.load()}});
  DropServedBy(*index);
}

IndexKeeper::Task IndexKeeper::ToBuild(const Index& index, std::string progress) {
  return {
      BuildTask(index.number), index.database,
      [this, number = index.number, progress = std::move(progress)] { Build(number, progress); }};
}

void IndexKeeper::GoOnLater(const Index& index, std::string progress) {
  Task task = ToBuild(index, std::move(progress));
  if (index.origin == Origin::kOnDemand) return Enqueue(Urgency::kLater, std::move(task));
  // What was asked for later, of the same database, may depend on it.
  MutexLock lock(mutex_);
  waiting_tasks_.insert(task.name);
  urgent_tasks_.PushFront(index.database, std::move(task));
}

Status IndexKeeper::BuildStep(const Index& index, std::string* progress, bool* finished) {
  RETURN_IF_ERROR(store_.CheckRoomToGrow());
  Step step;
  step.progress = *progress;
  RETURN_IF_ERROR(committer_->RunStep([](storage::Batch*) {},
                                      [&] {
                                        index.activity->touched.clear();
                                        step.failed_groups = committer_->failed_groups();
                                        step.snapshot = store_.NewSnapshot();
                                      }));
  RETURN_IF_ERROR(ReadStep(index, &step));
  Index next = index;
  if (step.finished) next.state = State::kReady;
  bool is_stale = false;
  bool is_dropped = false;
  const auto stage = [&](storage::Batch* batch) {
    is_dropped = !Find(index.number);  // By a commit.
    if (is_dropped) return;
    // Documents that commits have touched are skipped below. If one of those commits was not
    // stored, its document would be missed.
    is_stale = committer_->failed_groups() != step.failed_groups;
    if (is_stale) return;
    for (auto& [document_key, entries] : step.documents) {
      if (index.activity->touched.contains(document_key)) continue;
      for (index::Entry& entry : entries) batch->Put(Space::kIndexes, entry.key, entry.value);
    }
    batch->Put(Space::kMeta, RecordKey(index.number),
               index::EncodeIndexRecord(ToRecord(next, step.progress)));
  };
  RETURN_IF_ERROR(committer_->RunStep(stage, [&] {
    if (step.finished && !is_stale && !is_dropped) Replace(next);
  }));
  if (is_dropped) return Status(Code::kNotFound, "the index was dropped");
  if (is_stale) return Status();
  index.activity->documents_indexed += step.documents.size();
  *progress = std::move(step.progress);
  *finished = step.finished;
  return Status();
}

// Reads the next documents of the index's collection group, from all collections with that id. Each
// other collection counts as a document.
Status IndexKeeper::ReadStep(const Index& index, Step* step) {
  storage::KeyRange range = storage::PrefixRange(model::DatabaseKeyPrefix(index.database));
  if (!step->progress.empty()) range.first = step->progress + '\0';
  const auto cursor = step->snapshot->Scan(Space::kDocuments, range, storage::Direction::kForward);
  size_t bytes = 0;
  for (size_t seen = 0;
       cursor->Valid() && seen < options_.step_documents_max && bytes < options_.step_bytes_max;
       ++seen) {
    const std::string key(cursor->key());
    step->progress = key;
    ASSIGN_OR_RETURN(const model::DocumentPath path, model::DocumentPathOfKey(key));
    const std::string_view collection = path.collection();
    const std::string_view collection_id = collection.substr(collection.rfind('/') + 1);
    if (collection_id != index.definition.collection_id) {
      // The other documents of that collection are contiguous: skip them all.
      ASSIGN_OR_RETURN(const model::CollectionPath other, model::CollectionPath::Parse(collection));
      cursor->Seek(storage::PrefixRange(model::CollectionKeyPrefix(index.database, other)).last);
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<index::Entry> entries,
                     index::EntriesOf(index.number, index.definition, path,
                                      model::RecordFields(cursor->value())));
    for (const index::Entry& entry : entries) bytes += entry.key.size() + entry.value.size();
    step->documents.emplace_back(key, std::move(entries));
    cursor->Next();
  }
  RETURN_IF_ERROR(cursor->status());
  step->finished = !cursor->Valid();
  return Status();
}

void IndexKeeper::Remove(IndexNumber number) {
  const std::optional<Index> index = Find(number);
  if (!index) return;
  Log(LogLevel::kInfo, "dropping an index",
      {{"collection", index->definition.collection_id},
       {"index", index::Properties(index->definition)}});
  const auto stage = [&](storage::Batch* batch) { StageDrop(number, batch); };
  std::weak_ptr<const IndexSet> old_set;
  const auto stored = [&] {
    old_set = registry_.Current();
    registry_.Set(std::make_shared<const IndexSet>(registry_.Current()->Without(*index)));
  };
  Status status;
  do {
    status = committer_->RunStep(stage, stored);
  } while (!status.ok() && PauseAfter(status, "cannot drop an index; will retry"));
  if (!status.ok()) return;
  // A reader that holds the old set may be about to read. If the process ends first, the entries
  // are removed after the next start.
  MutexLock lock(mutex_);
  leaving_.push_back({number, std::move(old_set)});
}

void IndexKeeper::RemoveEntries(IndexNumber number) {
  const std::string prefix = index::IndexKeyPrefix(number);
  bool finished = false;
  while (!finished && !stopping()) {
    std::vector<std::string> keys;
    Status status;
    {
      const auto snapshot = store_.NewSnapshot();
      const auto cursor = snapshot->Scan(Space::kIndexes, storage::PrefixRange(prefix),
                                         storage::Direction::kForward);
      for (; cursor->Valid() && keys.size() < kEntriesRemovedAtOnce; cursor->Next()) {
        keys.emplace_back(cursor->key());
      }
      status = cursor->status();
      finished = status.ok() && !cursor->Valid();
    }
    const auto stage = [&](storage::Batch* batch) {
      for (const std::string& key : keys) batch->Delete(Space::kIndexes, key);
      if (finished) batch->Delete(Space::kMeta, RemainsKey(number));
    };
    if (status.ok()) status = committer_->RunStep(stage, [] {});
    if (status.ok() && !finished && HasUrgentWork()) {
      MutexLock lock(mutex_);
      return leaving_.push_back({number, {}});  // No reader uses it any more.
    }
    if (status.ok()) continue;
    finished = false;
    if (!PauseAfter(status, "cannot remove index entries; will retry")) return;
  }
}

void IndexKeeper::NoteUses() {
  const Status status = committer_->RunStep(
      [&](storage::Batch* batch) {
        const std::shared_ptr<const IndexSet> indexes = registry_.Current();
        for (const Index* index : indexes->all()) {
          if (index->state != State::kReady) continue;
          batch->Put(Space::kMeta, RecordKey(index->number),
                     index::EncodeIndexRecord(ToRecord(*index, "")));
          budget_.Usefulness(*index, clock_.WallMicros());  // Up to date.
          batch->Put(Space::kMeta, UseKey(index->number), index::EncodeIndexUse(*index->activity));
        }
      },
      [] {});
  if (!status.ok()) {
    Log(LogLevel::kWarning, "cannot store when indexes were last used",
        {{"error", status.ToString()}});
  }
}

}  // namespace hearth::indexing
