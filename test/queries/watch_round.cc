#include "queries/watch_round.h"

#include <atomic>
#include <limits>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "engine/testing/test_engine.h"
#include "queries/asking.h"
#include "queries/generator.h"
#include "queries/watch_listener.h"

namespace hearth::queries {
namespace {

using engine::TestEngine;

constexpr size_t kWriters = 2;
constexpr size_t kListeners = 3;
constexpr size_t kActions = 40;

class WatchRound {
 public:
  explicit WatchRound(uint64_t seed)
      : seed_(seed), generator_(seed), engine_(OptionsOf(&generator_.dice())) {}

  std::string Run(WatchTally* tally) {
    WriteFirstDocuments();
    for (size_t listener = 0; listener < kListeners; ++listener) {
      listeners_.push_back(
          std::make_unique<WatchListener>(seed_ * 31 + listener, engine_, documents_));
    }
    for (size_t phase = 0; phase < 2; ++phase) {
      RunPhase(phase);
      if (engine_.engine().live_targets() > 0) return "targets are left behind\n";
      engine_.Restart();
    }
    std::string report;
    for (const auto& listener : listeners_) {
      report += listener->report();
      tally->Add(listener->tally());
    }
    tally->commits += commits_;
    return report;
  }

 private:
  static engine::EngineOptions OptionsOf(Dice* dice) {
    engine::EngineOptions options;
    options.reads_without_index_max = dice->OneIn(3) ? 0 : std::numeric_limits<uint32_t>::max();
    options.watch_threads.threads = 1 + dice->Below(3);
    // Small limits, so that changes are often dropped and have to be recovered.
    if (dice->OneIn(2)) options.watchers.pending_max.count = 1 + dice->Below(30);
    if (dice->OneIn(2)) options.watchers.catch_up_max.count = dice->Below(40);
    if (dice->OneIn(4)) options.queued_change_bytes_max = 1'000 + dice->Below(5'000);
    return options;
  }

  void WriteFirstDocuments() {
    std::vector<request::Write> writes;
    for (size_t count = 30 + generator_.dice().Below(40); count > 0; --count) {
      auto document = std::make_shared<const Document>(generator_.Fields());
      const std::string path = generator_.Path();
      writes.push_back(WriteOf(path, *document));
      documents_[path] = std::move(document);
    }
    engine_.MustCommit(std::move(writes));
  }

  void RunPhase(size_t phase) {
    std::atomic<bool> is_done = false;
    std::vector<std::thread> writers;
    for (size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, seed = seed_ * 17 + phase * kWriters + writer] {
        Generator generator(seed);
        while (true) {
          allowed_.acquire();
          if (is_done) return;
          WriteSome(generator);
        }
      });
    }
    std::vector<std::thread> threads;
    for (const auto& listener : listeners_) {
      threads.emplace_back([&, dice = Dice(seed_ + threads.size() + phase)]() mutable {
        // About as fast as the listener: later checks are slower the more was written.
        listener->Run(kActions, [&] { allowed_.release(static_cast<ptrdiff_t>(dice.Below(4))); });
      });
    }
    for (std::thread& thread : threads) thread.join();
    is_done = true;
    allowed_.release(kWriters);
    for (std::thread& writer : writers) writer.join();
    while (allowed_.try_acquire()) {
    }
    engine_.store().FailCommit(0, Status());
  }

  void WriteSome(Generator& generator) {
    Dice& dice = generator.dice();
    std::vector<request::Write> writes;
    for (size_t count = dice.OneIn(2) ? 1 : 1 + dice.Below(5); count > 0; --count) {
      const std::string path = generator.Path();
      if (dice.OneIn(5)) {
        writes.push_back(Delete(path));
        continue;
      }
      writes.push_back(WriteOf(path, generator.Fields()));
      if (dice.OneIn(20)) writes.back() = IfExists(std::move(writes.back()));
    }
    if (dice.OneIn(3)) engine_.clock().Advance(std::chrono::microseconds(dice.Below(10)));
    if (dice.OneIn(200)) engine_.store().FailCommit(1, Status(Code::kUnavailable, "disk"));
    if (engine_.Commit(std::move(writes)).ok()) ++commits_;
  }

  const uint64_t seed_;
  Generator generator_;
  TestEngine engine_;
  Documents documents_;
  std::counting_semaphore<> allowed_{0};  // Commits.
  std::atomic<size_t> commits_ = 0;
  std::vector<std::unique_ptr<WatchListener>> listeners_;
};

}  // namespace

void WatchTally::Add(const WatchTally& other) {
  commits += other.commits;
  snapshots += other.snapshots;
  checks += other.checks;
  non_empty += other.non_empty;
  resumed += other.resumed;
  resets += other.resets;
  filters += other.filters;
}

std::string RunWatchRound(uint64_t seed, WatchTally* tally) { return WatchRound(seed).Run(tally); }

}  // namespace hearth::queries
