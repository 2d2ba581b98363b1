// Counters, gauges and histograms, and the registry that names them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/mutex.h"

namespace hearth {

// Only goes up. Threads: safe for concurrent use.
class Counter {
 public:
  void Add(uint64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};

// Goes up and down. Threads: safe for concurrent use.
class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// Durations or sizes in buckets. Threads: safe for concurrent use. An observation is two atomic
// additions, so a concurrent reading may include only one of them.
class Histogram {
 public:
  // `bounds` must be sorted; a bucket includes its bound.
  explicit Histogram(std::vector<double> bounds);
  void Observe(double value);
  struct Reading {
    std::vector<double> bounds;
    std::vector<uint64_t> counts;  // One more than bounds: the last counts values above them.
    uint64_t count;
    double sum;
  };
  Reading Read() const;

 private:
  const std::vector<double> bounds_;
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_ = 0;
};

// Names and values. The text format writes them in this order, and the order is part of a series'
// identity: use the same order for all labels of a family.
using Labels = std::vector<std::pair<std::string, std::string>>;

class Metrics;

// Keeps a callback registered with a registry. After this is destroyed, the callback is not running
// and never runs again: the destructor waits for a run in progress. It must therefore not be
// destroyed by the callback itself, nor under a lock that the callback takes.
//
// Threads: one at a time. Ownership: the registry must outlive it.
class MetricCallback {
 public:
  MetricCallback() = default;
  MetricCallback(MetricCallback&& other) noexcept { *this = std::move(other); }
  MetricCallback& operator=(MetricCallback&& other) noexcept;
  ~MetricCallback() { Reset(); }

  void Reset();

 private:
  friend class Metrics;
  struct Entry;

  Metrics* metrics_ = nullptr;
  std::string name_;
  std::shared_ptr<Entry> entry_;  // Shared with the registry.
};

// All metrics of a process. The same name and labels give the same metric at a stable address: hot
// paths look it up once and keep it.
//
// Bounded: at most kSeriesMax metrics are created. Later ones are counted by name only and not
// shown. A family shows at most kSeriesMax values, those of callbacks included. The first excess is
// logged.
//
// Threads: safe for concurrent use. Ownership: owns the metrics, which live as long as it does.
class Metrics {
 public:
  static constexpr size_t kSeriesMax = 5'000;

  Metrics() = default;
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // A name belongs to one kind of metric; using it for another kind is a bug and aborts the
  // process.
  Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);
  Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);
  // `bounds` are used only when the histogram is created.
  Histogram& GetHistogram(const std::string& name, const std::string& help,
                          const std::vector<double>& bounds, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);

  // Values computed on demand. The callback runs on the thread that reads the metrics, without a
  // lock, and possibly on several threads at once. Values with equal labels are added up, including
  // those of several callbacks and of the metrics above.
  struct Sample {
    Labels labels;
    double value;
  };
  using Samples = std::vector<Sample>;
  [[nodiscard]] MetricCallback AddCounters(const std::string& name, const std::string& help,
                                           std::function<Samples()> read) EXCLUDES_LOCK(mutex_);
  [[nodiscard]] MetricCallback AddGauges(const std::string& name, const std::string& help,
                                         std::function<Samples()> read) EXCLUDES_LOCK(mutex_);
  // The same for a single value without labels.
  [[nodiscard]] MetricCallback AddCounter(const std::string& name, const std::string& help,
                                          std::function<double()> read) EXCLUDES_LOCK(mutex_);
  [[nodiscard]] MetricCallback AddGauge(const std::string& name, const std::string& help,
                                        std::function<double()> read) EXCLUDES_LOCK(mutex_);

  // Everything in Prometheus' text format, sorted by name and labels. Runs the callbacks, which may
  // block.
  std::string Text() EXCLUDES_LOCK(mutex_);

 private:
  friend class MetricCallback;

  enum class Kind : uint8_t { kCounter, kGauge, kHistogram };
  // Lives in map nodes, because these types can be neither moved nor copied.
  using Metric = std::variant<Counter, Gauge, Histogram>;
  struct Family {
    Kind kind;
    std::string help;
    std::map<Labels, Metric> series;
    std::vector<std::shared_ptr<MetricCallback::Entry>> callbacks;
  };
  struct Collected;

  static std::string_view TypeText(Kind kind);
  Family& FamilyOf(const std::string& name, const std::string& help, Kind kind)
      REQUIRES_LOCK(mutex_);
  template <typename Type, typename... Arguments>
  Type& GetOrMake(Kind kind, const std::string& name, const std::string& help, const Labels& labels,
                  const Arguments&... arguments) REQUIRES_LOCK(mutex_);
  MetricCallback AddCallback(Kind kind, const std::string& name, const std::string& help,
                             std::function<Samples()> read) EXCLUDES_LOCK(mutex_);
  void Remove(const std::string& name, const std::shared_ptr<MetricCallback::Entry>& entry)
      EXCLUDES_LOCK(mutex_);
  std::vector<Collected> Collect() const EXCLUDES_LOCK(mutex_);
  // Adds the callback's current values, unless it has been removed meanwhile.
  void Run(MetricCallback::Entry& entry, Collected* collected) EXCLUDES_LOCK(mutex_);
  // Returns true on the first call only.
  bool NoteFull() EXCLUDES_LOCK(mutex_);

  mutable Mutex mutex_;  // Leaf lock; callbacks run without it.
  CondVar callback_ended_;
  std::map<std::string, Family> families_ GUARDED_BY(mutex_);
  // Metrics beyond the limit, one per name.
  std::map<std::string, Metric> hidden_ GUARDED_BY(mutex_);
  size_t series_count_ GUARDED_BY(mutex_) = 0;
  bool is_full_ GUARDED_BY(mutex_) = false;
};

// The registry given in the options, or a private one if there is none. So code that counts need
// not check whether anything reads its metrics.
class MetricsOrPrivate {
 public:
  explicit MetricsOrPrivate(Metrics* given)
      : own_(given ? nullptr : std::make_unique<Metrics>()), used_(given ? *given : *own_) {}

  Metrics& get() const { return used_; }

 private:
  const std::unique_ptr<Metrics> own_;
  Metrics& used_;
};

}  // namespace hearth
