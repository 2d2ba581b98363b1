#include "watch/change_feed.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

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

size_t ComparisonsOf(const Target& target) {
  const auto* query = std::get_if<std::unique_ptr<const LiveQuery>>(&target);
  if (!query) return 0;  // The document's name is all that matters.
  size_t comparisons = 1 + (*query)->query().orders.size();
  for (const query::Conjunction& each : (*query)->query().disjuncts) {
    comparisons += each.filters.size();
  }
  return comparisons;
}

// In the index.
size_t PlacesOf(const Target& target) {
  const auto* documents = std::get_if<DocumentSet>(&target);
  return documents ? std::max<size_t>(documents->size(), 1) : 1;
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

  explicit Round(const Limits& limits) : limits_(limits) {}

  // Null if the subscriber no longer exists.
  Parcel* For(const std::weak_ptr<Subscriber>& subscriber) {
    std::shared_ptr<Subscriber> alive = subscriber.lock();
    if (!alive) return nullptr;
    Parcel& parcel = parcels_[alive.get()];
    parcel.subscriber = std::move(alive);
    return &parcel;
  }

  void Add(Parcel& parcel, Item item) {
    parcel.items.push_back(std::move(item));
    ++items_;
    if (parcel.items.size() > limits_.parcel_items) Lose(parcel);
    if (items_ <= limits_.round_items) return;
    const auto most = std::ranges::max_element(
        parcels_, {}, [](const auto& each) { return each.second.items.size(); });
    Lose(most->second);
  }

  // The client's share of matching starts over with each change.
  void StartChange() { matched_bytes_.clear(); }
  bool MayMatch(ClientKey client, size_t bytes) {
    size_t& matched = matched_bytes_[client];
    matched += bytes;
    return matched <= limits_.matched_bytes;
  }

  void Deliver(Timestamp through) {
    for (auto& [key, parcel] : parcels_) {
      parcel.subscriber->OnChanges(parcel.delivery, std::move(parcel.items), through);
    }
  }

 private:
  void Lose(Parcel& parcel) {
    parcel.delivery = Delivery::kLost;
    items_ -= std::exchange(parcel.items, {}).size();
  }

  const Limits& limits_;
  std::unordered_map<Subscriber*, Parcel> parcels_;
  size_t items_ = 0;
  std::unordered_map<ClientKey, size_t> matched_bytes_;
};

ChangeFeed::ChangeFeed(documents::CommitClock& commit_clock, const Clock& clock,
                       const Limits& limits)
    : commit_clock_(commit_clock),
      clock_(clock),
      limits_(limits),
      next_heartbeat_(clock.Monotonic() + kHeartbeatPeriod),
      places_(limits.targets) {}

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

Result<TargetNumber> ChangeFeed::Register(const std::shared_ptr<Subscriber>& subscriber,
                                          model::DatabaseNumber database,
                                          std::shared_ptr<const Target> target) {
  const ClientKey client = subscriber->client();
  const size_t comparisons = ComparisonsOf(*target);
  MutexLock lock(targets_mutex_);
  if (!places_.TryTake(client)) {
    return Status(Code::kResourceExhausted, "too many targets are being listened to");
  }
  const TargetNumber number{next_number_++};
  index_.Add(number, database, *target);
  registrations_.emplace(
      number, Registration{subscriber, database, std::move(target), client, comparisons});
  ++registered_;
  return number;
}

void ChangeFeed::Unregister(TargetNumbers numbers) {
  if (numbers.empty()) return;
  MutexLock lock(mutex_);
  registered_ -= numbers.size();
  unregistered_.push_back(std::move(numbers));
  changed_.NotifyOne();
}

void ChangeFeed::RemoveSome() {
  TargetNumbers numbers;
  {
    MutexLock lock(mutex_);
    if (unregistered_.empty()) return;
    numbers = std::move(unregistered_.front());
    unregistered_.pop_front();
  }
  {
    MutexLock lock(targets_mutex_);
    for (size_t places = 0; places < kUnregisteredAtOnceMax && !numbers.empty();) {
      const auto found = registrations_.find(*numbers.begin());
      numbers.erase(numbers.begin());
      CHECK(found != registrations_.end());
      places += PlacesOf(*found->second.target);
      index_.Remove(found->first, found->second.database, *found->second.target);
      places_.Return(found->second.client);
      registrations_.erase(found);
    }
  }
  if (numbers.empty()) return;
  MutexLock lock(mutex_);
  unregistered_.push_back(std::move(numbers));
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
  if (queued_bytes_ > limits_.queued_bytes) {
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
      while (queue_.empty() && unregistered_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      entries = std::exchange(queue_, {});
      queued_bytes_ = 0;
      is_lost = std::exchange(is_lost_, false);
    }
    RemoveSome();
    if (!entries.empty()) Dispatch(std::move(entries), is_lost);
  }
}

void ChangeFeed::Dispatch(std::deque<Entry> entries, bool is_lost) {
  const Timestamp through = entries.back().through;
  Round round(limits_);
  for (Entry& entry : entries) {
    round.For(entry.marked_by);
    if (entry.is_heartbeat) TellAll(Delivery::kHeartbeat, round);
    if (entry.woken) {
      MutexLock lock(targets_mutex_);
      for (const auto& [number, registration] : registrations_) {
        if (registration.database == *entry.woken) round.For(registration.subscriber);
      }
    }
    for (Change& change : entry.changes) DispatchChange(std::move(change), round);
  }
  if (is_lost) TellAll(Delivery::kLost, round);
  round.Deliver(through);
}

// Registrations may come in between: what they get of this round is more than they need.
void ChangeFeed::DispatchChange(Change change, Round& round) {
  std::vector<TargetNumber> found;
  MutexLock lock(targets_mutex_);
  index_.Find(change, &found);
  if (found.empty()) return;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  const size_t bytes = BytesOf(change);
  const auto shared = std::make_shared<const Change>(std::move(change));
  round.StartChange();
  for (const TargetNumber number : found) {
    const Registration& registration = registrations_.at(number);
    if (round.MayMatch(registration.client, bytes * registration.comparisons) &&
        !IsConcerned(*registration.target, *shared)) {
      continue;
    }
    Round::Parcel* parcel = round.For(registration.subscriber);
    if (parcel && parcel->delivery != Delivery::kLost) round.Add(*parcel, {shared, number});
  }
}

void ChangeFeed::TellAll(Delivery delivery, Round& round) {
  MutexLock lock(targets_mutex_);
  for (const auto& [number, registration] : registrations_) {
    Round::Parcel* parcel = round.For(registration.subscriber);
    if (parcel) parcel->delivery = std::max(parcel->delivery, delivery);
  }
}

}  // namespace hearth::watch
