#include "assay/report/exports/prometheus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Result scraped_result() {
  Result result;
  result.trial_id = "ab12";
  result.platform = "p";
  result.trial.workload.network = "toy";
  result.trial.worker = {"fake", "1.0.0"};
  result.ok = 6;
  result.median_ns = 2e6;
  result.median_interval = stats::Interval{1.5e6, 2.5e6};
  result.samples_per_second = 500;
  return result;
}

TEST(Prometheus, AResultHasAMedianAnIntervalAThroughputAndOutcomes) {
  auto result = scraped_result();
  result.failures[OutcomeKind::timed_out] = {2, "said nothing"};
  const auto text = prometheus_report({result});
  EXPECT_THAT(text, HasSubstr("# TYPE assay_step_median_seconds gauge\nassay_step_median_seconds{trial=\"ab12\","));
  EXPECT_THAT(text, HasSubstr("options=\"{}\"} 0.002\n"));
  EXPECT_THAT(text, HasSubstr("outcome=\"ok\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("outcome=\"timed_out\"} 2\n"));
}

TEST(Prometheus, WhatWasNotMeasuredHasNoLine) {
  auto result = scraped_result();
  result.median_interval.reset();
  const auto text = prometheus_report({result});
  EXPECT_THAT(text, Not(HasSubstr("assay_watts")));
  EXPECT_THAT(text, Not(HasSubstr("low")));
  EXPECT_EQ(prometheus_report({}), "");
}

// By the text format: backslash, quote and line feed are escaped in labels, and nothing else.
TEST(Prometheus, LabelsAreEscaped) {
  auto result = scraped_result();
  result.trial.workload.network = "a\\b\"c\nd\te";
  EXPECT_THAT(prometheus_report({result}), HasSubstr("network=\"a\\\\b\\\"c\\nd\te\","));
}

TEST(Prometheus, LabelsAreUtf8WhateverTheStoreHolds) {
  auto result = scraped_result();
  result.trial.workload.network = "a\xff";
  EXPECT_THAT(prometheus_report({result}), HasSubstr("network=\"a\\\\xff\","));
}

}  // namespace
}  // namespace assay::report
