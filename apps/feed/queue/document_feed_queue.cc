#include "apps/feed/queue/document_feed_queue.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/status_macros.h"

namespace hearth::feed {
namespace {

client::Map ToDocument(const FeedEvent& event) {
  return {
      {"kind", std::string(ToString(event.kind))}, {"author_id", ToNumber(event.author_id)},
      {"post_id", ToNumber(event.post.id)},        {"created_seconds", event.post.created_seconds},
      {"user_id", ToNumber(event.user_id)},        {"following_version", event.following_version}};
}

int64_t Integer(const client::Map& document, const char* field) {
  const auto found = document.find(field);
  return found == document.end() ? 0 : found->second.integer().value_or(0);
}

int64_t Micros(std::chrono::microseconds time) { return time.count(); }

// Text that sorts like the time.
std::string NameOf(int64_t micros) {
  const std::string digits = std::to_string(std::max<int64_t>(micros, 0));
  return std::string(20 - digits.size(), '0') + digits;
}

std::optional<client::Timestamp> AvailableAt(const client::DocumentSnapshot& event) {
  return event.Get("available_at").value_or(nullptr).timestamp();
}

Result<FeedEvent> ReadEvent(const client::Map& document) {
  const auto kind = document.find("kind");
  if (kind == document.end() || kind->second.text() == nullptr) {
    return InvalidArgument("an event has no kind");
  }
  FeedEvent event{};
  ASSIGN_OR_RETURN(event.kind, ParseKind(*kind->second.text()));
  event.author_id = UserId{Integer(document, "author_id")};
  event.post = {.created_seconds = Integer(document, "created_seconds"),
                .id = PostId{Integer(document, "post_id")}};
  event.user_id = UserId{Integer(document, "user_id")};
  event.following_version = Integer(document, "following_version");
  return event;
}

}  // namespace

DocumentFeedQueue::DocumentFeedQueue(const Clock& clock, Collections collections,
                                     std::chrono::milliseconds idle_max)
    : clock_(clock), collections_(std::move(collections)), idle_max_(idle_max) {}

Status DocumentFeedQueue::Publish(const FeedEvent& event) {
  client::Map document = ToDocument(event);
  document["available_at"] = Now();
  document["tries"] = 0;
  const std::string unique = collections_.events().Doc().id();
  RETURN_IF_ERROR(collections_.events()
                      .Doc(NameOf(clock_.WallMicros()) + "-" + unique)
                      .Create(document)
                      .status());
  MutexLock lock(mutex_);
  ++published_;
  news_.NotifyAll();
  return Status();
}

Result<std::vector<FeedQueue::Delivery>> DocumentFeedQueue::Take(
    std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    uint64_t seen = 0;
    {
      MutexLock lock(mutex_);
      if (stopped_) return std::vector<Delivery>();
      seen = published_;
    }
    ASSIGN_OR_RETURN(std::vector<Delivery> deliveries, TakeAvailable());
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (!deliveries.empty() || left.count() <= 0) return deliveries;
    MutexLock lock(mutex_);
    if (!stopped_ && seen == published_) {
      news_.WaitFor(mutex_, std::min<std::chrono::milliseconds>(left, kAskEvery));
    }
  }
}

Result<std::vector<FeedQueue::Delivery>> DocumentFeedQueue::TakeAvailable() {
  MutexLock lock(taking_);
  ASSIGN_OR_RETURN(const std::vector<client::DocumentReference> documents, FindAvailable());
  std::vector<Delivery> deliveries;
  if (documents.empty()) return deliveries;
  RETURN_IF_ERROR(collections_.database().RunTransaction([&](client::Transaction& transaction) {
    deliveries.clear();
    return Claim(transaction, documents, &deliveries);
  }));
  return deliveries;
}

Result<std::vector<client::DocumentReference>> DocumentFeedQueue::FindAvailable() {
  const int64_t now = clock_.WallMicros();
  if (now >= everything_due_micros_) {
    oldest_name_.clear();
    everything_due_micros_ = now + Micros(kEverythingEvery);
  }
  std::vector<client::DocumentReference> available;
  client::Query events = collections_.events().OrderBy("__name__").Limit(kEventsPerRead);
  if (!oldest_name_.empty()) {
    events = events.Where("__name__", client::Op::kGreaterOrEqual, oldest_name_);
  }
  std::optional<client::DocumentSnapshot> last;
  while (true) {
    ASSIGN_OR_RETURN(const client::QuerySnapshot some,
                     (last ? events.StartAfter(*last) : events).Get());
    if (!last) {
      const std::string first = some.empty() ? NameOf(now) : std::string(some.documents[0].id());
      oldest_name_ = NameOf(std::strtoll(first.c_str(), nullptr, 10) - Micros(kClockSkew));
    }
    for (const client::DocumentSnapshot& event : some.documents) {
      const std::optional<client::Timestamp> available_at = AvailableAt(event);
      if (available_at && available_at->micros() > now) continue;
      available.push_back(event.reference());
      if (available.size() == kBatchMax) return available;
    }
    if (some.size() < kEventsPerRead) return available;
    last = some.documents.back();
  }
}

Status DocumentFeedQueue::Claim(client::Transaction& transaction,
                                const std::vector<client::DocumentReference>& documents,
                                std::vector<Delivery>* deliveries) const {
  ASSIGN_OR_RETURN(const std::vector<client::DocumentSnapshot> events,
                   transaction.GetAll(documents));
  for (size_t i = 0; i < events.size(); ++i) {
    if (!events[i].exists()) continue;
    const client::Map document = events[i].Data();
    const std::optional<client::Timestamp> available_at = AvailableAt(events[i]);
    if (available_at && *available_at > Now()) continue;
    const int64_t tries = Integer(document, "tries");
    const Result<FeedEvent> event = ReadEvent(document);
    if (!event.ok() || tries >= kTriesMax) {
      const std::string reason = event.ok() ? "abandoned by its worker" : event.status().message();
      transaction.Set(collections_.dead_events().Doc(events[i].id()), DeadLetter(document, reason));
      transaction.Delete(documents[i]);
      continue;
    }
    transaction.Update(documents[i], {{"available_at", WhenIdle()}, {"tries", tries + 1}});
    deliveries->push_back(
        {.id = std::string(events[i].id()), .event = *event, .tries = static_cast<int>(tries) + 1});
  }
  return Status();
}

Status DocumentFeedQueue::KeepAlive(const Delivery& delivery) {
  return collections_.events().Doc(delivery.id).Update({{"available_at", WhenIdle()}}).status();
}

Status DocumentFeedQueue::Finish(const Delivery& delivery) {
  return collections_.events().Doc(delivery.id).Delete().status();
}

Status DocumentFeedQueue::Fail(const Delivery& delivery, const Status& reason) {
  if (delivery.tries < kTriesMax) return Status();  // It is delivered again after the idle time.
  client::WriteBatch batch = collections_.database().Batch();
  batch.Set(collections_.dead_events().Doc(delivery.id),
            DeadLetter(ToDocument(delivery.event), reason.ToString()));
  batch.Delete(collections_.events().Doc(delivery.id));
  return batch.Commit().status();
}

Result<FeedQueue::Depth> DocumentFeedQueue::Measure() {
  Depth depth;
  ASSIGN_OR_RETURN(depth.waiting, collections_.events().Count());
  ASSIGN_OR_RETURN(depth.dead, collections_.dead_events().Count());
  return depth;
}

void DocumentFeedQueue::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  news_.NotifyAll();
}

client::Timestamp DocumentFeedQueue::Now() const {
  return client::Timestamp::FromMicros(clock_.WallMicros());
}

client::Timestamp DocumentFeedQueue::WhenIdle() const {
  return client::Timestamp::FromMicros(clock_.WallMicros() + Micros(idle_max_));
}

client::Map DocumentFeedQueue::DeadLetter(client::Map event, const std::string& reason) const {
  event["reason"] = reason;
  event["died_at"] = Now();
  event["expires_at"] =
      client::Timestamp::FromMicros(clock_.WallMicros() + Micros(kDeadLetterLifetime));
  return event;
}

}  // namespace hearth::feed
