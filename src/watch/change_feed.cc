#include "watch/change_feed.h"

#include <algorithm>
#include <utility>

namespace hearth::watch {
namespace {

using model::Timestamp;

size_t BytesOfAll(const std::vector<Change>& changes) {
  size_t bytes = 0;
  for (const Change& change : changes) bytes += BytesOf(change);
  return bytes;
}

bool IsConcerned(const Target& target, const Change& change) {
  const auto* query = std::get_if<std::unique_ptr<const LiveQuery>>(&target);
  return !query || (*query)->IsConcernedBy(change);
}

}  // namespace

// The deliveries of one round of work, collected per subscriber until it is known how far the round
// goes.
class ChangeFeed::Round {
 public:
  struct Parcel {
    std::shared_ptr<Subscriber> subscriber;  // Shared while it is being called.
    Delivery delivery = Delivery::kChanges;
    std::vector<Item> items;
  };

  // Null if the subscriber no longer exists.
  Parcel* For(const std::weak_ptr<Subscriber>& subscriber) {
    std::shared_ptr<Subscriber> alive = subscriber.lock();
    if (!alive) return nullptr;
    Parcel& parcel = parcels_[alive.get()];
    parcel.subscriber = std::move(alive);
    return &parcel;
  }

  void Deliver(Timestamp through) {
    for (auto& [key, parcel] : parcels_) {
      parcel.subscriber->OnChanges(parcel.delivery, std::move(parcel.items), through);
    }
  }

 private:
  std::unordered_map<Subscriber*, Parcel> parcels_;
};

ChangeFeed::ChangeFeed(documents::CommitClock& commit_clock, const Clock& clock,
                       size_t queued_bytes_max)
    : commit_clock_(commit_clock),
      clock_(clock),
      queued_bytes_max_(queued_bytes_max),
      next_heartbeat_(clock.Monotonic() + kHeartbeatPeriod) {}

ChangeFeed::~ChangeFeed() { Stop(); }

void ChangeFeed::Start() {
  thread_ = std::thread([this] { Run(); });
}

void ChangeFeed::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

TargetNumber ChangeFeed::Register(const std::shared_ptr<Subscriber>& subscriber,
                                  model::DatabaseNumber database,
                                  std::shared_ptr<const Target> target) {
  MutexLock lock(targets_mutex_);
  const TargetNumber number{next_number_++};
  index_.Add(number, database, *target);
  registrations_.emplace(number, Registration{subscriber, database, std::move(target)});
  registered_ = registrations_.size();
  return number;
}

void ChangeFeed::Unregister(TargetNumber number) {
  MutexLock lock(targets_mutex_);
  const auto found = registrations_.find(number);
  if (found == registrations_.end()) return;
  index_.Remove(number, found->second.database, *found->second.target);
  registrations_.erase(found);
  registered_ = registrations_.size();
}

void ChangeFeed::Enqueue(Entry entry) {
  if (stopping_) return;
  queue_.push_back(std::move(entry));
  changed_.NotifyOne();
}

void ChangeFeed::MakeVisible(std::vector<Change> changes) {
  // Unwanted changes are freed after the lock is released.
  std::vector<Change> unwanted;
  MutexLock lock(mutex_);
  commit_clock_.Publish();
  // A subscriber that registers and marks later reads at a later moment: these commits are visible
  // by then.
  if (registered_ == 0 || changes.empty()) {
    unwanted = std::move(changes);
    return;
  }
  queued_bytes_ += BytesOfAll(changes);
  if (queued_bytes_ > queued_bytes_max_) {
    is_lost_ = true;
    std::erase_if(queue_, [](const Entry& entry) { return !entry.changes.empty(); });
    queued_bytes_ = 0;
    changes.clear();
  }
  // Not the time of the commits themselves: the web SDK stores its own writes under that time, and
  // its other tabs look for later ones.
  Enqueue({std::move(changes), commit_clock_.ReadTime(), {}});
}

Timestamp ChangeFeed::Mark(const std::shared_ptr<Subscriber>& subscriber) {
  MutexLock lock(mutex_);
  const Timestamp now = commit_clock_.ReadTime();
  Enqueue({{}, now, subscriber});
  return now;
}

void ChangeFeed::Wake(model::DatabaseNumber database) {
  MutexLock lock(mutex_);
  Enqueue({{}, commit_clock_.ReadTime(), {}, false, database});
}

void ChangeFeed::Maintain() {
  MutexLock lock(mutex_);
  const auto now = clock_.Monotonic();
  if (now < next_heartbeat_) return;
  next_heartbeat_ = now + kHeartbeatPeriod;
  Enqueue({{}, commit_clock_.ReadTime(), {}, true});
}

void ChangeFeed::Run() {
  while (true) {
    std::deque<Entry> entries;
    bool is_lost = false;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      entries = std::exchange(queue_, {});
      queued_bytes_ = 0;
      is_lost = std::exchange(is_lost_, false);
    }
    Dispatch(std::move(entries), is_lost);
  }
}

void ChangeFeed::Dispatch(std::deque<Entry> entries, bool is_lost) {
  const Timestamp through = entries.back().through;
  Round round;
  {
    MutexLock lock(targets_mutex_);
    const auto tell_all = [&](Delivery delivery) REQUIRES_LOCK(targets_mutex_) {
      for (const auto& [number, registration] : registrations_) {
        Round::Parcel* parcel = round.For(registration.subscriber);
        if (parcel) parcel->delivery = std::max(parcel->delivery, delivery);
      }
    };
    std::vector<TargetNumber> found;
    for (Entry& entry : entries) {
      round.For(entry.marked_by);
      if (entry.is_heartbeat) tell_all(Delivery::kHeartbeat);
      if (entry.woken) {
        for (const auto& [number, registration] : registrations_) {
          if (registration.database == *entry.woken) round.For(registration.subscriber);
        }
      }
      for (Change& change : entry.changes) {
        found.clear();
        index_.Find(change, &found);
        if (found.empty()) continue;
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        const auto shared = std::make_shared<const Change>(std::move(change));
        for (const TargetNumber number : found) {
          const Registration& registration = registrations_.at(number);
          if (!IsConcerned(*registration.target, *shared)) continue;
          Round::Parcel* parcel = round.For(registration.subscriber);
          if (parcel) parcel->items.push_back({shared, number});
        }
      }
    }
    if (is_lost) tell_all(Delivery::kLost);
  }
  round.Deliver(through);
}

}  // namespace hearth::watch
