#include "base/metrics.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "base/prometheus_text.h"

namespace hearth {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
  CHECK(std::ranges::is_sorted(bounds_));
}

void Histogram::Observe(double value) {
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Reading Histogram::Read() const {
  Reading reading = {.bounds = bounds_, .counts = {}, .count = 0, .sum = sum_.load()};
  for (const std::atomic<uint64_t>& count : counts_) {
    reading.counts.push_back(count.load(std::memory_order_relaxed));
    reading.count += reading.counts.back();
  }
  return reading;
}

// The registry's mutex guards everything except `read`.
struct MetricCallback::Entry {
  const std::function<Metrics::Samples()> read;
  size_t runs = 0;  // Currently running.
  bool is_removed = false;
};

MetricCallback& MetricCallback::operator=(MetricCallback&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  metrics_ = std::exchange(other.metrics_, nullptr);
  name_ = std::move(other.name_);
  entry_ = std::move(other.entry_);
  return *this;
}

void MetricCallback::Reset() {
  if (Metrics* const metrics = std::exchange(metrics_, nullptr)) metrics->Remove(name_, entry_);
  entry_.reset();
}

// The values of one family, collected at one time.
struct Metrics::Collected {
  std::string name;
  std::string help;
  Kind kind;
  std::map<Labels, double> values;
  std::vector<std::pair<Labels, Histogram::Reading>> histograms;
  std::vector<std::shared_ptr<MetricCallback::Entry>> callbacks;  // Shared with the family.
};

Metrics::~Metrics() = default;

std::string_view Metrics::TypeText(Kind kind) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kGauge:
      return "gauge";
    case Kind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

Metrics::Family& Metrics::FamilyOf(const std::string& name, const std::string& help, Kind kind) {
  const auto [found, is_new] = families_.try_emplace(name);
  if (is_new) {
    found->second.kind = kind;
    found->second.help = help;
  }
  CHECK(found->second.kind == kind);
  return found->second;
}

template <typename Type, typename... Arguments>
Type& Metrics::GetOrMake(Kind kind, const std::string& name, const std::string& help,
                         const Labels& labels, const Arguments&... arguments) {
  if (const auto family = families_.find(name); family != families_.end()) {
    CHECK(family->second.kind == kind);
    const auto found = family->second.series.find(labels);
    if (found != family->second.series.end()) return std::get<Type>(found->second);
  }
  if (series_count_ == kSeriesMax) {
    if (!std::exchange(is_full_, true)) {
      Log(LogLevel::kWarning, "too many metrics: the newest are not shown",
          {{"metric", name}, {"series_max", kSeriesMax}});
    }
    return std::get<Type>(
        hidden_.try_emplace(name, std::in_place_type<Type>, arguments...).first->second);
  }
  ++series_count_;
  std::map<Labels, Metric>& series = FamilyOf(name, help, kind).series;
  return std::get<Type>(
      series.try_emplace(labels, std::in_place_type<Type>, arguments...).first->second);
}

Counter& Metrics::GetCounter(const std::string& name, const std::string& help,
                             const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake<Counter>(Kind::kCounter, name, help, labels);
}

Gauge& Metrics::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake<Gauge>(Kind::kGauge, name, help, labels);
}

Histogram& Metrics::GetHistogram(const std::string& name, const std::string& help,
                                 const std::vector<double>& bounds, const Labels& labels) {
  MutexLock lock(mutex_);
  return GetOrMake<Histogram>(Kind::kHistogram, name, help, labels, bounds);
}

MetricCallback Metrics::AddCallback(Kind kind, const std::string& name, const std::string& help,
                                    std::function<Samples()> read) {
  MetricCallback handle;
  handle.metrics_ = this;
  handle.name_ = name;
  handle.entry_ =
      std::make_shared<MetricCallback::Entry>(MetricCallback::Entry{.read = std::move(read)});
  MutexLock lock(mutex_);
  FamilyOf(name, help, kind).callbacks.push_back(handle.entry_);
  return handle;
}

MetricCallback Metrics::AddCounters(const std::string& name, const std::string& help,
                                    std::function<Samples()> read) {
  return AddCallback(Kind::kCounter, name, help, std::move(read));
}

MetricCallback Metrics::AddGauges(const std::string& name, const std::string& help,
                                  std::function<Samples()> read) {
  return AddCallback(Kind::kGauge, name, help, std::move(read));
}

MetricCallback Metrics::AddCounter(const std::string& name, const std::string& help,
                                   std::function<double()> read) {
  return AddCounters(name, help, [read = std::move(read)] { return Samples{{{}, read()}}; });
}

MetricCallback Metrics::AddGauge(const std::string& name, const std::string& help,
                                 std::function<double()> read) {
  return AddGauges(name, help, [read = std::move(read)] { return Samples{{{}, read()}}; });
}

void Metrics::Remove(const std::string& name, const std::shared_ptr<MetricCallback::Entry>& entry) {
  MutexLock lock(mutex_);
  const auto family = families_.find(name);
  CHECK(family != families_.end());
  std::erase(family->second.callbacks, entry);
  if (family->second.callbacks.empty() && family->second.series.empty()) families_.erase(family);
  entry->is_removed = true;
  while (entry->runs > 0) callback_ended_.Wait(mutex_);
}

std::vector<Metrics::Collected> Metrics::Collect() const {
  std::vector<Collected> all;
  MutexLock lock(mutex_);
  for (const auto& [name, family] : families_) {
    Collected& collected =
        all.emplace_back(Collected{name, family.help, family.kind, {}, {}, family.callbacks});
    for (const auto& [labels, metric] : family.series) {
      if (const auto* counter = std::get_if<Counter>(&metric)) {
        collected.values[labels] = static_cast<double>(counter->value());
      } else if (const auto* gauge = std::get_if<Gauge>(&metric)) {
        collected.values[labels] = gauge->value();
      } else {
        collected.histograms.emplace_back(labels, std::get<Histogram>(metric).Read());
      }
    }
  }
  return all;
}

void Metrics::Run(MetricCallback::Entry& entry, Collected* collected) {
  {
    MutexLock lock(mutex_);
    if (entry.is_removed) return;
    ++entry.runs;
  }
  const Samples samples = entry.read();
  {
    MutexLock lock(mutex_);
    --entry.runs;
  }
  callback_ended_.NotifyAll();
  for (const Sample& sample : samples) {
    if (collected->values.size() >= kSeriesMax && !collected->values.contains(sample.labels)) {
      if (NoteFull()) {
        Log(LogLevel::kWarning, "too many values of a metric: some are not shown",
            {{"metric", collected->name}, {"series_max", kSeriesMax}});
      }
      continue;
    }
    collected->values[sample.labels] += sample.value;
  }
}

bool Metrics::NoteFull() {
  MutexLock lock(mutex_);
  return !std::exchange(is_full_, true);
}

std::string Metrics::Text() {
  PrometheusText text;
  for (Collected& family : Collect()) {
    for (const auto& callback : family.callbacks) Run(*callback, &family);
    text.BeginFamily(family.name, family.help, TypeText(family.kind));
    for (const auto& [labels, value] : family.values) text.Add(labels, value);
    for (const auto& [labels, reading] : family.histograms) text.Add(labels, reading);
  }
  return text.Take();
}

}  // namespace hearth
