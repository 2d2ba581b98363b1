// For tests: a client and its watcher.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/testing/test_engine.h"
#include "engine/testing/watch_client.h"
#include "query/testing/query_builder.h"
#include "watch/live_query.h"
#include "watch/watcher.h"

namespace hearth::engine {

inline const query::QueryBuilder kAll = query::QueryBuilder("c");

// Listens until it is closed. Close it before the engine.
class TestWatch {
 public:
  using Resume = request::TargetRequest::Resume;

  explicit TestWatch(TestEngine& engine)
      : client_(WatchClient::New()),
        watcher_(engine.engine().Watch(engine.database(), client_->NewSink())) {}
  ~TestWatch() { Close(); }

  WatchClient& client() { return *client_; }
  watch::Watcher& watcher() { return *watcher_; }

  void Add(request::TargetId id, const query::QueryBuilder& builder,
           std::optional<Resume> resume = std::nullopt) {
    request::TargetRequest request = RequestFor(builder);
    request.resume = resume;
    watcher_->AddTarget(id, std::move(request));
  }
  // Adds the target and waits for its results.
  TargetView Start(request::TargetId id, const query::QueryBuilder& builder,
                   std::optional<Resume> resume = std::nullopt) {
    Add(id, builder, resume);
    return client_->AwaitSnapshotOf(id).targets.at(id);
  }
  void AddDocuments(request::TargetId id, const std::vector<std::string>& paths,
                    std::optional<Resume> resume = std::nullopt) {
    request::TargetRequest request;
    std::vector<model::DocumentPath> documents;
    for (const std::string& path : paths) documents.push_back(Path(path));
    request.target = std::move(documents);
    request.resume = resume;
    watcher_->AddTarget(id, std::move(request));
  }
  request::TargetRequest RequestFor(const query::QueryBuilder& builder) {
    request::TargetRequest request;
    request.target = builder.Build();
    return request;
  }

  TargetView At(request::TargetId id, model::Timestamp at_least) {
    return client_->AwaitSnapshot(at_least).targets.at(id);
  }

  // Waits until the change feed has delivered everything committed before.
  void AwaitFeed() {
    for (int round = 0; round < 2; ++round) {
      const request::TargetId id = last_probe_--;
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
  // From now on the watcher lives only as long as it has work to do.
  void Forget() { watcher_.reset(); }

 private:
  request::TargetId last_probe_ = 2'000'000'000;
  std::shared_ptr<WatchClient> client_;      // Shared with the watcher.
  std::shared_ptr<watch::Watcher> watcher_;  // Shared with its work in progress.
};

}  // namespace hearth::engine
