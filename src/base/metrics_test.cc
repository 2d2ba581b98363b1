#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <thread>

#include "base/testing/gate.h"

namespace hearth {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsTest, TheSameNameAndLabelsAreTheSameMetric) {
  Metrics metrics;
  metrics.GetCounter("requests_total", "Requests.", {{"app", "b"}}).Add();
  metrics.GetCounter("requests_total", "Requests.", {{"app", "a"}}).Add();
  metrics.GetCounter("requests_total", "Requests.", {{"app", "a"}}).Add(2);
  metrics.GetGauge("open", "Open\nones.").Set(1.5);
  EXPECT_EQ(metrics.Text(),
            "# HELP open Open\\nones.\n"
            "# TYPE open gauge\n"
            "open 1.5\n"
            "# HELP requests_total Requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{app=\"a\"} 3\n"
            "requests_total{app=\"b\"} 1\n");
}

TEST(MetricsTest, LabelsAreEscapedAndStayInTheirOrder) {
  Metrics metrics;
  metrics.GetCounter("c", "Say \"C\\\".", {{"l", "a\"b\\c\nd"}, {"a", ""}}).Add();
  EXPECT_EQ(metrics.Text(),
            "# HELP c Say \"C\\\\\".\n"
            "# TYPE c counter\n"
            "c{l=\"a\\\"b\\\\c\\nd\",a=\"\"} 1\n");
}

TEST(MetricsTest, NumbersAreWhatPrometheusReads) {
  Metrics metrics;
  Gauge& gauge = metrics.GetGauge("g", "G.");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [number, text] : std::vector<std::pair<double, std::string>>{
           {1'000'000, "1000000"},
           {-3, "-3"},
           {0.25, "0.25"},
           {1e300, "1e+300"},
           {infinity, "+Inf"},
           {-infinity, "-Inf"},
           {std::numeric_limits<double>::quiet_NaN(), "NaN"}}) {
    gauge.Set(number);
    EXPECT_THAT(metrics.Text(), HasSubstr("\ng " + text + "\n"));
  }
}

TEST(MetricsTest, BucketsIncludeTheirBound) {
  Metrics metrics;
  Histogram& histogram = metrics.GetHistogram("seconds", "Seconds.", {0.1, 1}, {{"app", "a"}});
  for (const double value : {0.05, 0.1, 0.5, 1.0, 7.0}) histogram.Observe(value);
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE seconds histogram\n"
                                        "seconds_bucket{app=\"a\",le=\"0.1\"} 2\n"
                                        "seconds_bucket{app=\"a\",le=\"1\"} 4\n"
                                        "seconds_bucket{app=\"a\",le=\"+Inf\"} 5\n"
                                        "seconds_sum{app=\"a\"} 8.65\n"
                                        "seconds_count{app=\"a\"} 5\n"));
}

TEST(MetricsTest, WhatIsTooMuchIsCountedAndNotShown) {
  Metrics metrics;
  for (size_t i = 0; i < Metrics::kSeriesMax; ++i) {
    metrics.GetCounter("c", "C.", {{"n", std::to_string(i)}}).Add();
  }
  EXPECT_THAT(metrics.Text(),
              HasSubstr("{n=\"" + std::to_string(Metrics::kSeriesMax - 1) + "\"} 1\n"));
  Counter& hidden = metrics.GetCounter("c", "C.", {{"n", "one more"}});
  hidden.Add();
  EXPECT_EQ(&hidden, &metrics.GetCounter("c", "C.", {{"n", "and another"}}));
  metrics.GetGauge("late", "Late.").Set(1);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("more")));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("late")));
  metrics.GetCounter("c", "C.", {{"n", "0"}}).Add();
  EXPECT_THAT(metrics.Text(), HasSubstr("c{n=\"0\"} 2\n"));
}

TEST(MetricsTest, CallbacksShowAtMostSoManyValues) {
  Metrics metrics;
  size_t count = Metrics::kSeriesMax;
  const MetricCallback callback = metrics.AddGauges("g", "G.", [&] {
    Metrics::Samples samples;
    for (size_t i = 0; i < count; ++i) samples.push_back({{{"n", std::to_string(i)}}, 1});
    return samples;
  });
  const std::string last = "{n=\"" + std::to_string(count - 1) + "\"} 1\n";
  const std::string whole = metrics.Text();
  EXPECT_THAT(whole, HasSubstr(last));
  ++count;
  EXPECT_EQ(metrics.Text(), whole);
}

TEST(MetricsTest, CallbacksAreAskedEachTimeUntilTheyEnd) {
  Metrics metrics;
  int size = 7;
  std::optional<MetricCallback> callback = metrics.AddGauge("size", "Size.", [&] { return size; });
  EXPECT_EQ(metrics.Text(), "# HELP size Size.\n# TYPE size gauge\nsize 7\n");
  size = 8;
  EXPECT_THAT(metrics.Text(), HasSubstr("\nsize 8\n"));
  std::optional<MetricCallback> moved = std::move(callback);
  callback.reset();
  EXPECT_THAT(metrics.Text(), HasSubstr("\nsize 8\n"));
  moved.reset();
  EXPECT_EQ(metrics.Text(), "");
}

// This allows two servers to share a registry, or one server to be restarted with it.
TEST(MetricsTest, ValuesWithTheSameLabelsAreAddedUp) {
  Metrics metrics;
  metrics.GetCounter("c", "C.", {{"l", "a"}}).Add(3);
  const auto read = [] { return Metrics::Samples{{{{"l", "a"}}, 2}, {{{"l", "b"}}, 1}}; };
  const MetricCallback first = metrics.AddCounters("c", "C.", read);
  {
    const MetricCallback second = metrics.AddCounters("c", "C.", read);
    EXPECT_EQ(metrics.Text(), "# HELP c C.\n# TYPE c counter\nc{l=\"a\"} 7\nc{l=\"b\"} 2\n");
  }
  EXPECT_EQ(metrics.Text(), "# HELP c C.\n# TYPE c counter\nc{l=\"a\"} 5\nc{l=\"b\"} 1\n");
}

TEST(MetricsTest, AFamilyWithoutValuesStillSaysWhatItIs) {
  Metrics metrics;
  const MetricCallback callback = metrics.AddCounters("c", "C.", [] { return Metrics::Samples(); });
  EXPECT_EQ(metrics.Text(), "# HELP c C.\n# TYPE c counter\n");
}

TEST(MetricsTest, TheEndOfACallbackWaitsForItsRun) {
  Metrics metrics;
  Gate gate;
  gate.Close();
  std::atomic<bool> has_left = false;
  std::optional<MetricCallback> callback = metrics.AddGauge("g", "G.", [&] {
    gate.Pass();
    has_left = true;
    return 1;
  });
  std::jthread asking([&] { EXPECT_THAT(metrics.Text(), HasSubstr("\ng 1\n")); });
  gate.AwaitArrivals(1);
  metrics.GetCounter("c", "C.").Add();  // The registry holds no lock here.
  std::jthread opening([&] { gate.Open(); });
  callback.reset();
  EXPECT_TRUE(has_left);
}

TEST(MetricsTest, CountsFromManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 10'000;
  Metrics metrics;
  Counter& counter = metrics.GetCounter("c", "C.");
  Histogram& histogram = metrics.GetHistogram("h", "H.", {1});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          counter.Add();
          histogram.Observe(0.5);
        }
      });
    }
    EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE c counter\n"));
  }
  EXPECT_EQ(counter.value(), uint64_t{kThreads * kRounds});
  EXPECT_EQ(histogram.Read().count, uint64_t{kThreads * kRounds});
  EXPECT_EQ(histogram.Read().sum, kThreads * kRounds * 0.5);
}

TEST(MetricsTest, WithoutARegistryOneIsMade) {
  Metrics metrics;
  EXPECT_EQ(&MetricsOrPrivate(&metrics).get(), &metrics);
  MetricsOrPrivate(nullptr).get().GetCounter("c", "C.").Add();
  EXPECT_EQ(metrics.Text(), "");
}

}  // namespace
}  // namespace hearth
