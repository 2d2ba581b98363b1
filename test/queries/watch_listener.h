// A client that listens, connects and disconnects at random, and checks every snapshot that it
// receives.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/watch_client.h"
#include "queries/generator.h"
#include "queries/trees.h"
#include "queries/watch_round.h"

namespace hearth::queries {

// Threads: one at a time. Ownership: borrows the engine and the documents.
class WatchListener {
 public:
  // `documents`: what most queries are about.
  WatchListener(uint64_t seed, engine::TestEngine& engine, const Documents& documents);

  // Performs this many random actions, then waits until all targets are at a moment not before the
  // last action, and disconnects. `between` runs after each action.
  void Run(size_t actions, const std::function<void()>& between);

  // The first difference; empty if there was none.
  const std::string& report() const { return report_; }
  const WatchTally& tally() const { return tally_; }

 private:
  // A target of the client, across connections.
  struct Subscription {
    std::optional<RandomQuery> random;  // Absent: single documents.
    std::vector<std::string> documents = {};
    bool once = false;
    // As of the last snapshot.
    std::optional<engine::TargetView> view = {};
    // The client has lost a document without noticing: the server has to detect it by the count.
    bool has_lost_one = false;
    bool is_resumed = false;
  };

  void Connect();
  void Disconnect();
  void Act();
  void AddRandomTarget();
  void Add(request::TargetId id);
  void RemoveRandomTarget();
  void AwaitOne();
  void AwaitAll();
  void ChangeSpeed();

  void Check();
  void CheckTarget(request::TargetId id, const engine::TargetView& view,
                   const engine::WatchSnapshot& snapshot);
  // The difference between the view and the truth; empty if there is none.
  std::string CheckDocuments(const Subscription& subscription, const engine::TargetView& view,
                             model::Timestamp read_time);
  std::string CheckResults(const Subscription& subscription, const engine::TargetView& view,
                           model::Timestamp read_time);
  std::string CheckOrder(const Subscription& subscription, const engine::TargetView& view,
                         const std::vector<std::string>& expected);
  std::string CheckFilter(const Subscription& subscription, const engine::TargetView& view);
  Result<std::vector<request::QueryResult>> Ask(const Subscription& subscription,
                                                model::Timestamp read_time);

  engine::TestEngine& engine_;
  const Documents& documents_;
  Generator generator_;
  Dice& dice_;
  WatchTally tally_;
  std::string report_;

  request::TargetId next_id_ = 1;
  std::map<request::TargetId, Subscription> subscriptions_;
  std::set<request::TargetId> unseen_;           // In no snapshot yet.
  std::shared_ptr<engine::WatchClient> client_;  // Shared with the watcher.
  std::shared_ptr<watch::Watcher> watcher_;      // Shared with its work in progress.
};

}  // namespace hearth::queries
