#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace hearth::kit {

// Counts up. Threads: safe for concurrent use.
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

// Durations or sizes in buckets. Threads: safe for concurrent use.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void Observe(double value) EXCLUDES_LOCK(mutex_);
  struct Reading {
    std::vector<double> bounds;
    std::vector<uint64_t> counts;  // One more than bounds: the last is for what lies beyond.
    uint64_t count;
    double sum;
  };
  Reading Read() const EXCLUDES_LOCK(mutex_);

 private:
  const std::vector<double> bounds_;
  mutable Mutex mutex_;  // Leaf lock.
  std::vector<uint64_t> counts_ GUARDED_BY(mutex_);
  double sum_ GUARDED_BY(mutex_) = 0;
};

using Labels = std::map<std::string, std::string>;

// All that a process measures, and Prometheus' text of it. The same name and labels give the same
// metric. At most kSeriesMax: what comes later is counted by name only and not shown, and that is
// logged once.
//
// Threads: safe for concurrent use. Ownership: owns the metrics; they live as long as it does.
class Metrics {
 public:
  static constexpr size_t kSeriesMax = 5'000;

  Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);
  Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);
  Histogram& GetHistogram(const std::string& name, const std::string& help,
                          const std::vector<double>& bounds, const Labels& labels = {})
      EXCLUDES_LOCK(mutex_);

  std::string Text() const EXCLUDES_LOCK(mutex_);

 private:
  template <typename Metric>
  struct Family {
    std::string help;
    std::map<Labels, std::unique_ptr<Metric>> series;
  };

  template <typename Metric>
  using Families = std::map<std::string, Family<Metric>>;  // "": those that are not shown.

  template <typename Metric, typename Make>
  Metric& GetOrMake(Families<Metric>* families, const std::string& name, const std::string& help,
                    const Labels& labels, const Make& make) REQUIRES_LOCK(mutex_);

  mutable Mutex mutex_;  // Held over the histograms' own, and nothing else.
  Families<Counter> counters_ GUARDED_BY(mutex_);
  Families<Gauge> gauges_ GUARDED_BY(mutex_);
  Families<Histogram> histograms_ GUARDED_BY(mutex_);
  size_t series_count_ GUARDED_BY(mutex_) = 0;
  bool is_full_ GUARDED_BY(mutex_) = false;
};

}  // namespace hearth::kit
