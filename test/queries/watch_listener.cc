#include "queries/watch_listener.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "model/document.h"
#include "queries/asking.h"
#include "queries/brute_force.h"
#include "watch/live_query.h"

namespace hearth::queries {
namespace {

using engine::TargetView;
using engine::WatchClient;
using model::Timestamp;
using request::TargetId;
using request::TargetRequest;
using Speed = WatchClient::Speed;

constexpr size_t kTargetsMax = 12;

Document DecodeFields(const std::string& record) {
  Document document;
  model::MapView fields(model::RecordFields(record), model::MapView::Tag::kDocument);
  while (const auto field = fields.Next()) {
    document.emplace(std::string(field->name), DecodeTree(field->value));
  }
  return document;
}

// Picks an element of a non-empty container.
template <typename Container>
auto PickFrom(Container& container, Dice& dice) {
  return std::next(container.begin(), static_cast<ptrdiff_t>(dice.Below(container.size())));
}

}  // namespace

WatchListener::WatchListener(uint64_t seed, engine::TestEngine& engine, const Documents& documents)
    : engine_(engine), documents_(documents), generator_(seed), dice_(generator_.dice()) {}

void WatchListener::Run(size_t actions, const std::function<void()>& between) {
  Connect();
  for (size_t action = 0; action < actions && report_.empty(); ++action) {
    Act();
    Check();
    between();
  }
  AwaitAll();
  Disconnect();
}

void WatchListener::Connect() {
  client_ = WatchClient::New();
  ChangeSpeed();
  watcher_ = engine_.engine().Watch(engine_.database(), client_->NewSink());
  unseen_.clear();
  for (const auto& [id, subscription] : subscriptions_) Add(id);
}

void WatchListener::Disconnect() {
  client_->Disconnect();
  watcher_->Close();
  watcher_.reset();
  Check();
  for (const std::string& fault : client_->Now().faults) report_ += fault + "\n";
}

void WatchListener::Act() {
  const size_t kind = dice_.Below(100);
  if (kind < 40) return AddRandomTarget();
  if (kind < 52) return RemoveRandomTarget();
  if (kind < 75) return AwaitOne();
  if (kind < 90) return ChangeSpeed();
  if (kind < 93) {
    Disconnect();
    return Connect();
  }
  // After enough of these a heartbeat is due.
  engine_.clock().Advance(std::chrono::seconds(dice_.Below(10)));
  engine_.engine().Maintain();
}

void WatchListener::ChangeSpeed() {
  const bool stops = dice_.OneIn(4);
  client_->SetSpeed(stops ? Speed::kStopped : Speed::kReads,
                    dice_.OneIn(2) ? 1 + dice_.Below(20) : 1'000'000);
}

void WatchListener::AddRandomTarget() {
  if (subscriptions_.size() >= kTargetsMax) return RemoveRandomTarget();
  Subscription subscription;
  if (dice_.OneIn(6)) {
    std::set<std::string> paths;
    for (size_t count = 1 + dice_.Below(5); count > 0; --count) paths.insert(generator_.Path());
    subscription.documents.assign(paths.begin(), paths.end());
  } else {
    do {
      subscription.random = generator_.Query(documents_);
      subscription.random->aggregations.clear();
    } while (!NormalizeRandom(*subscription.random).ok());
  }
  subscription.once = dice_.OneIn(15);
  const TargetId id = next_id_++;
  subscriptions_[id] = std::move(subscription);
  Add(id);
}

void WatchListener::Add(TargetId id) {
  Subscription& subscription = subscriptions_.at(id);
  TargetRequest request;
  if (subscription.random) {
    request.target = *NormalizeRandom(*subscription.random);
  } else {
    std::vector<model::DocumentPath> paths;
    for (const std::string& path : subscription.documents) paths.push_back(Path(path));
    request.target = std::move(paths);
  }
  request.once = subscription.once;
  subscription.has_lost_one = false;
  subscription.is_resumed = subscription.view && !dice_.OneIn(10);
  if (subscription.is_resumed) {
    TargetView view = *subscription.view;
    if (subscription.random && !view.documents.empty() && dice_.OneIn(8)) {
      view.documents.erase(PickFrom(view.documents, dice_));
      subscription.has_lost_one = true;
    }
    request.resume = TargetRequest::Resume{view.resume_token};
    if (dice_.OneIn(2)) request.resume->from = view.read_time;
    if (subscription.has_lost_one || dice_.OneIn(2)) {
      request.resume->expected_count = view.documents.size();
    }
    client_->Keep(id, std::move(view));
    ++tally_.resumed;
  }
  subscription.view.reset();
  watcher_->AddTarget(id, std::move(request));
  unseen_.insert(id);
}

void WatchListener::RemoveRandomTarget() {
  if (subscriptions_.empty()) return;
  const auto removed = PickFrom(subscriptions_, dice_);
  watcher_->RemoveTarget(removed->first);
  unseen_.erase(removed->first);
  subscriptions_.erase(removed);
}

void WatchListener::AwaitOne() {
  if (unseen_.empty()) return;
  const TargetId id = *PickFrom(unseen_, dice_);
  client_->SetSpeed(Speed::kReads, 1 + dice_.Below(50));
  client_->Await([id](const WatchClient::State& state) {
    return state.removed.contains(id) || state.end ||
           std::ranges::any_of(state.snapshots, [id](const engine::WatchSnapshot& snapshot) {
             return snapshot.targets.contains(id);
           });
  });
}

void WatchListener::AwaitAll() {
  if (!report_.empty()) return;
  // A target that is added last is in a snapshot that follows everything before it.
  const TargetId last = next_id_++;
  subscriptions_[last].documents = {generator_.Path()};
  Add(last);
  client_->SetSpeed(Speed::kReads);
  client_->Await([last](const WatchClient::State& state) {
    return state.end || (!state.snapshots.empty() && state.snapshots.back().targets.contains(last));
  });
  Check();
  if (!unseen_.empty() && report_.empty()) report_ = "targets that are in no snapshot\n";
  subscriptions_.erase(last);
}

void WatchListener::Check() {
  client_->Await([this](const WatchClient::State& state) {
    if (state.end) report_ += "the stream ended: " + state.end->ToString() + "\n";
    for (const auto& [id, cause] : state.removed) {
      if (!cause.ok()) report_ += "a target was removed: " + cause.ToString() + "\n";
    }
    return true;
  });
  for (const engine::WatchSnapshot& snapshot : client_->TakeSnapshots()) {
    ++tally_.snapshots;
    for (const auto& [id, view] : snapshot.targets) {
      if (report_.empty()) CheckTarget(id, view, snapshot);
    }
  }
}

void WatchListener::CheckTarget(TargetId id, const TargetView& view,
                                const engine::WatchSnapshot& snapshot) {
  unseen_.erase(id);
  const auto found = subscriptions_.find(id);
  if (found == subscriptions_.end()) return;  // About to be removed.
  Subscription& subscription = found->second;
  ++tally_.checks;
  if (!view.documents.empty()) ++tally_.non_empty;
  tally_.resets += !subscription.view ? view.resets : 0;
  std::string difference = CheckFilter(subscription, view);
  if (difference.empty() && view.filter) {
    // Such a client starts the query again.
    watcher_ ? watcher_->RemoveTarget(id) : void();
    subscriptions_.erase(found);
    return;
  }
  if (difference.empty()) {
    difference = subscription.random ? CheckResults(subscription, view, snapshot.read_time)
                                     : CheckDocuments(subscription, view, snapshot.read_time);
  }
  if (!difference.empty()) {
    report_ = "target " + std::to_string(id) + " at " +
              std::to_string(snapshot.read_time.micros()) + ", " + difference + "\n" +
              (subscription.random ? Show(subscription.random->query) : "documents") + "\n";
    return;
  }
  subscription.view = view;
  subscription.view->read_time = snapshot.read_time;
  subscription.view->resume_token = snapshot.resume_token;
  subscription.view->resets = 0;
  if (subscription.once) subscriptions_.erase(found);
}

std::string WatchListener::CheckFilter(const Subscription& subscription, const TargetView& view) {
  const bool expected = subscription.has_lost_one && view.resets == 0;
  if (expected != view.filter.has_value()) {
    return expected ? "the client is not told that it lost one" : "told that it lost one";
  }
  if (!expected) return "";
  ++tally_.filters;
  const Result<std::vector<request::QueryResult>> results = Ask(subscription, view.read_time);
  if (!results.ok()) return results.status().ToString();
  if (results->size() == view.filter->count) return "";
  return "existence filter: " + std::to_string(view.filter->count) + " instead of " +
         std::to_string(results->size());
}

Result<std::vector<request::QueryResult>> WatchListener::Ask(const Subscription& subscription,
                                                             Timestamp read_time) {
  ASSIGN_OR_RETURN(const std::unique_ptr<engine::QueryRun> run,
                   engine_.StartQuery(*NormalizeRandom(*subscription.random), read_time).Take());
  std::vector<request::QueryResult> results;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<request::QueryResult> next, run->Next());
    if (!next) return results;
    results.push_back(*std::move(next));
  }
}

std::string WatchListener::CheckResults(const Subscription& subscription, const TargetView& view,
                                        Timestamp read_time) {
  const Result<std::vector<request::QueryResult>> results = Ask(subscription, read_time);
  if (!results.ok()) return results.status().ToString();
  std::vector<std::string> expected;
  bool is_same = results->size() == view.documents.size();
  std::string stale;
  for (const request::QueryResult& result : *results) {
    expected.push_back(result.path.path());
    const auto had = view.documents.find(expected.back());
    is_same = is_same && had != view.documents.end();
    if (had == view.documents.end()) continue;
    if (had->second.update_time != model::RecordUpdateTime(*result.record) ||
        *had->second.record != *result.record) {
      stale += " " + expected.back();
    }
  }
  if (!is_same) {
    return "expected" + ShowPaths(expected) + "\ngot     " + ShowPaths(view.Paths());
  }
  if (!stale.empty()) return "not the newest state of" + stale;
  return dice_.OneIn(8) ? CheckOrder(subscription, view, expected) : "";
}

std::string WatchListener::CheckOrder(const Subscription& subscription, const TargetView& view,
                                      const std::vector<std::string>& expected) {
  Documents documents;
  for (const auto& [path, document] : view.documents) {
    documents[path] = std::make_shared<const Document>(DecodeFields(*document.record));
  }
  query::Query query = subscription.random->query;
  query.offset = 0;
  query.limit.reset();
  const std::vector<std::string> sorted = Evaluate(query, documents);
  if (sorted == expected) return "";
  return "sorted by the query, expected" + ShowPaths(expected) + "\ngot     " + ShowPaths(sorted);
}

std::string WatchListener::CheckDocuments(const Subscription& subscription, const TargetView& view,
                                          Timestamp read_time) {
  for (const std::string& path : subscription.documents) {
    const Result<model::Record> record = engine_.Get(read_time, path);
    if (!record.ok()) return record.status().ToString();
    const auto had = view.documents.find(path);
    if ((*record != nullptr) != (had != view.documents.end())) {
      return path + (*record ? " is not there" : " is still there");
    }
    if (!*record && !view.missing.contains(path)) return path + ": not told that it is missing";
    if (*record && *had->second.record != **record) return path + " is not in its newest state";
  }
  return view.documents.size() > subscription.documents.size() ? "others are there" : "";
}

}  // namespace hearth::queries
