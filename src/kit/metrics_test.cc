#include "kit/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hearth::kit {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsTest, TheSameNameAndLabelsAreTheSameMetric) {
  Metrics metrics;
  metrics.GetCounter("requests_total", "Requests.", {{"app", "a"}}).Add();
  metrics.GetCounter("requests_total", "Requests.", {{"app", "a"}}).Add(2);
  metrics.GetCounter("requests_total", "Requests.", {{"app", "b"}}).Add();
  metrics.GetGauge("open", "Open\nones.").Set(1.5);
  EXPECT_EQ(metrics.Text(),
            "# HELP requests_total Requests.\n"
            "# TYPE requests_total counter\n"
            "requests_total{app=\"a\"} 3\n"
            "requests_total{app=\"b\"} 1\n"
            "# HELP open Open\\nones.\n"
            "# TYPE open gauge\n"
            "open 1.5\n");
}

TEST(MetricsTest, LabelsAreEscaped) {
  Metrics metrics;
  metrics.GetCounter("c", "C.", {{"l", "a\"b\\c\nd"}}).Add();
  EXPECT_THAT(metrics.Text(), HasSubstr("c{l=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(MetricsTest, BucketsIncludeTheirBound) {
  Metrics metrics;
  Histogram& histogram = metrics.GetHistogram("seconds", "Seconds.", {0.1, 1}, {{"app", "a"}});
  for (const double value : {0.05, 0.1, 0.5, 1.0, 7.0}) histogram.Observe(value);
  EXPECT_THAT(metrics.Text(), HasSubstr("seconds_bucket{app=\"a\",le=\"0.1\"} 2\n"
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
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("more")));
  metrics.GetCounter("c", "C.", {{"n", "0"}}).Add();
  EXPECT_THAT(metrics.Text(), HasSubstr("c{n=\"0\"} 2\n"));
}

}  // namespace
}  // namespace hearth::kit
