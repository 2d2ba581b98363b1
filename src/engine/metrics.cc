// Metrics that are read from the engine's parts. docs/metrics.md lists them.
#include <chrono>
#include <utility>

#include "engine/core.h"

namespace hearth::engine {
namespace {

Labels LabelsOf(const documents::Database& database, const index::TtlPolicy& policy) {
  return {{"project", std::string(database.name.project())},
          {"database", std::string(database.name.database())},
          {"collection_group", policy.collection_group}};
}

}  // namespace

EngineCounters::EngineCounters(Metrics& metrics)
    : commits(metrics.GetCounter("hearth_commits_total", "Commits that succeeded.")),
      commit_errors(metrics.GetCounter(
          "hearth_commit_errors_total",
          "Commits that failed: by a precondition, a conflict, an overload or the store.")),
      queries(metrics.GetCounter("hearth_queries_total",
                                 "Queries and aggregations that were started.")) {}

void Engine::Core::AddMetrics() {
  const auto counter = [this](const char* name, const char* help, std::function<double()> read) {
    metric_callbacks_.push_back(metrics_.get().AddCounter(name, help, std::move(read)));
  };
  const auto gauge = [this](const char* name, const char* help, std::function<double()> read) {
    metric_callbacks_.push_back(metrics_.get().AddGauge(name, help, std::move(read)));
  };
  counter("hearth_commit_groups_total", "Synced writes: groups of commits and indexing steps.",
          [this] { return static_cast<double>(committer_.groups()); });
  counter("hearth_commit_group_errors_total", "Synced writes that failed.",
          [this] { return static_cast<double>(committer_.failed_groups()); });
  metric_callbacks_.push_back(metrics_.get().AddCounters(
      "hearth_document_reads_total", "Reads of single documents by where the answer came from.",
      [this] {
        return Metrics::Samples{
            {{{"source", "disk"}}, static_cast<double>(reader_.disk_reads())},
            {{{"source", "memory"}}, static_cast<double>(reader_.memory_reads())}};
      }));
  gauge("hearth_queued_reads", "Tasks that wait for a reader thread.",
        [this] { return static_cast<double>(readers_.queued_tasks()); });
  gauge("hearth_long_reads", "Long reads and queries in progress, which run in slices.", [this] {
    return static_cast<double>(readers_.long_tasks() + watch_threads_.long_tasks());
  });
  gauge("hearth_open_transactions", "Open transactions.",
        [this] { return static_cast<double>(transactions_.open_transactions()); });
  counter("hearth_lock_waits_total", "Requests for locks that were not granted at once.",
          [this] { return static_cast<double>(locks_.waits()); });
  gauge("hearth_lock_waiting_requests", "Requests that wait for locks now.",
        [this] { return static_cast<double>(locks_.waiting_requests()); });
  gauge("hearth_live_targets", "Targets with an active listener.",
        [this] { return static_cast<double>(live_targets()); });
  AddTtlMetrics();
  AddIndexMetrics();
}

void Engine::Core::AddTtlMetrics() {
  // One value per policy.
  const auto for_each = [this](double (*value)(const expiry::TtlStatus&)) {
    return [this, value] {
      Metrics::Samples samples;
      for (const documents::ConstDatabaseHandle& database : Databases()) {
        for (const expiry::TtlStatus& status : TtlStatuses(*database)) {
          samples.push_back({LabelsOf(*database, status.policy), value(status)});
        }
      }
      return samples;
    };
  };
  metric_callbacks_.push_back(metrics_.get().AddGauges(
      "hearth_ttl_late_seconds",
      "How long the oldest expired document still stored is overdue, in seconds.",
      for_each([](const expiry::TtlStatus& status) {
        return std::chrono::duration<double>(status.late).count();
      })));
  metric_callbacks_.push_back(metrics_.get().AddCounters(
      "hearth_ttl_deleted_total", "Expired documents deleted since the start.",
      for_each(
          [](const expiry::TtlStatus& status) { return static_cast<double>(status.deleted); })));
}

void Engine::Core::AddIndexMetrics() {
  metric_callbacks_.push_back(
      metrics_.get().AddGauges("hearth_indexes", "Indexes by state.", [this] {
        double building = 0;
        double ready = 0;
        for (const auto indexes = indexes_.Current(); const index::Index* index : indexes->all()) {
          ++(index->state == index::State::kReady ? ready : building);
        }
        return Metrics::Samples{{{{"state", "building"}}, building}, {{{"state", "ready"}}, ready}};
      }));
  metric_callbacks_.push_back(metrics_.get().AddGauge(
      "hearth_index_bytes", "Approximate size of the indexes in bytes.", [this] {
        double bytes = 0;
        for (const auto indexes = indexes_.Current(); const index::Index* index : indexes->all()) {
          bytes += static_cast<double>(IndexBytes(*index));
        }
        return bytes;
      }));
}

}  // namespace hearth::engine
