// For tests: a client and its watcher.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/watch_client.h"
#include "engine/watcher.h"
#include "query/testing/query_builder.h"
#include "watch/live_query.h"

namespace hearth::engine {

inline const query::QueryBuilder kAll = query::QueryBuilder("c");

// Listens until it is closed, which must be before the engine is.
class TestWatch {
 public:
  using Resume = TargetRequest::Resume;

  explicit TestWatch(TestEngine& engine)
      : engine_(engine),
        client_(WatchClient::New()),
        watcher_(engine.engine().Watch(engine.database(), client_->NewSink())) {}
  ~TestWatch() { Close(); }

  WatchClient& client() { return *client_; }
  Watcher& watcher() { return *watcher_; }

  void Add(TargetId id, const query::QueryBuilder& builder,
           std::optional<Resume> resume = std::nullopt) {
    TargetRequest request = RequestFor(builder);
    request.resume = resume;
    watcher_->AddTarget(id, std::move(request));
  }
  // Adds the target and waits for its results.
  TargetView Start(TargetId id, const query::QueryBuilder& builder,
                   std::optional<Resume> resume = std::nullopt) {
    Add(id, builder, resume);
    return client_->AwaitSnapshotOf(id).targets.at(id);
  }
  void AddDocuments(TargetId id, const std::vector<std::string>& paths,
                    std::optional<Resume> resume = std::nullopt) {
    TargetRequest request;
    watch::DocumentSet documents;
    for (const std::string& path : paths) documents.push_back(Path(path));
    request.target = std::move(documents);
    request.resume = resume;
    watcher_->AddTarget(id, std::move(request));
  }
  TargetRequest RequestFor(const query::QueryBuilder& builder) {
    TargetRequest request;
    request.target =
        std::make_unique<const watch::LiveQuery>(engine_.database().name, builder.Build());
    return request;
  }

  TargetView At(TargetId id, model::Timestamp at_least) {
    return client_->AwaitSnapshot(at_least).targets.at(id);
  }

  // Waits until the change feed has passed on to everybody what was committed before.
  void AwaitFeed() {
    for (int round = 0; round < 2; ++round) {
      const TargetId id = last_probe_--;
      AddDocuments(id, {"probes/p"});
      client_->AwaitSnapshotOf(id);
    }
  }

  void Close() {
    if (!watcher_) return;
    client_->Disconnect();
    watcher_->Close();
    watcher_.reset();
  }
  // The watcher lives only as long as it has work to do.
  void Forget() { watcher_.reset(); }

 private:
  TestEngine& engine_;
  TargetId last_probe_ = 2'000'000'000;
  std::shared_ptr<WatchClient> client_;  // Shared with the watcher.
  std::shared_ptr<Watcher> watcher_;     // Shared with its work under way.
};

}  // namespace hearth::engine
