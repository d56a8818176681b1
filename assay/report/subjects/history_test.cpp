#include "assay/report/subjects/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Eight points, a day each; slower from the 5th on.
compare::History history_with(double ratio, double low, double high) {
  compare::HistorySeries series;
  series.trial.workload.network = "toy";
  series.trial.worker = {"fake", "1.1"};
  series.platform = "0123456789abcdef";
  for (int i = 0; i < 8; ++i) {
    compare::HistoryPoint point;
    point.campaign = fmt::format("{}{}{}{}aaaaaaaa", i, i, i, i);
    point.release = i < 4 ? "1.0" : "1.1";
    point.started_utc = fmt::format("2026-11-0{}T10:00:00.000Z", i + 1);
    point.median_ns = i < 4 ? 1e6 : 1e6 * ratio;
    series.points.push_back(point);
  }
  series.changes.push_back({4, 3, ratio, low, high, 1e-5});
  compare::History out;
  out.series.push_back(series);
  return out;
}

TEST(SparkLine, HeightsFollowTheValues) {
  EXPECT_EQ(spark_line({0, 1, 2, 3, 4, 5, 6, 7}, 60, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(spark_line({0, 1, 2, 3}, 60, false), "_.-^");
  EXPECT_EQ(spark_line({5, 5}, 60, true), "▁▁");
  // 1 and 2 percent of a span of 5: levels 8 * 1/5 and 8 * 2/5, rounded down.
  EXPECT_EQ(spark_line({100, 101, 102}, 60, true), "▁▂▄");
  EXPECT_EQ(spark_line({}, 60, true), "");
}

TEST(SparkLine, NeighboursShareAColumnByTheirMedian) {
  EXPECT_EQ(spark_line({0, 0, 90, 9, 9, 9}, 2, false), "_^");
}

TEST(HistoryReport, NamesTheFirstBadCampaignAndTheOneBefore) {
  const std::string text = as_terminal(history_document(history_with(1.041, 1.032, 1.05)), {});
  EXPECT_THAT(text, HasSubstr("slower by 4.1 % (3.2 to 5.0) from 2026-11-05 on (before: campaign 3333aaaa of "
                              "2026-11-04); first bad: campaign 4444aaaa of 2026-11-05\n"));
  EXPECT_THAT(text, HasSubstr("▁▁▁▁▇▇▇▇"));
  EXPECT_THAT(text, HasSubstr("1 ms to 1.041 ms"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(HistoryReport, OfReleasesNamesThem) {
  auto history = history_with(1.041, 1.032, 1.05);
  history.over = compare::Over::releases;
  EXPECT_THAT(as_terminal(history_document(history), {}),
              HasSubstr("from release 1.1 on (before: 1.0); first bad: campaign 4444aaaa of 2026-11-05\n"));
}

TEST(HistoryReport, AnImprovementIsToldWithItsEndsInOrder) {
  EXPECT_THAT(as_terminal(history_document(history_with(0.9, 0.88, 0.92)), {}),
              HasSubstr("faster by 10.0 % (8.0 to 12.0) from"));
}

TEST(HistoryReport, ColourAndBlocksOnlyWhereTheyAreWanted) {
  EXPECT_THAT(as_terminal(history_document(history_with(1.1, 1.05, 1.15)), {0, true, true}),
              HasSubstr("\x1b[31mslower"));
  EXPECT_THAT(as_terminal(history_document(history_with(1.1, 1.05, 1.15)), {0, false, false}),
              HasSubstr("  ____^^^^  8 points"));
}

TEST(HistoryReport, OutliersAreCountedAndNamed) {
  auto history = history_with(1.1, 1.05, 1.15);
  history.series[0].changes.clear();
  for (auto& point : history.series[0].points) point.median_ns = 1e6;
  history.series[0].points[2].median_ns = 1.5e6;
  history.series[0].points[2].set_aside = true;
  const std::string text = as_terminal(history_document(history), {});
  EXPECT_THAT(text, HasSubstr("no change of 2 % or more in 8 points\n"));
  EXPECT_THAT(text, HasSubstr("1 point set aside as an outlier: 2026-11-03 in campaign 2222aaaa (+50 %)\n"));
}

TEST(HistoryReport, SeriesMeasuredOnceDoNotHideTheOthers) {
  auto history = history_with(1.1, 1.05, 1.15);
  auto once = history.series[0];
  once.changes.clear();
  once.points.resize(1);
  once.missing = 7;
  history.series.insert(history.series.begin(), 12, once);
  const std::string text = as_terminal(history_document(history), {});
  EXPECT_THAT(text, HasSubstr("slower by 10.0 %"));
  EXPECT_THAT(text, HasSubstr("\n2 more series have too few points to be judged"));
}

TEST(HistoryChecks, FailOnAStandingSlowdownAlone) {
  EXPECT_EQ(history_checks(history_with(1.1, 1.05, 1.15))[0].status, CheckStatus::failed);
  EXPECT_EQ(history_checks(history_with(0.9, 0.85, 0.95))[0].status, CheckStatus::passed);
  auto few = history_with(1.1, 1.05, 1.15);
  few.series[0].changes.clear();
  few.series[0].missing = 3;
  EXPECT_EQ(history_checks(few)[0].status, CheckStatus::undecided);
  EXPECT_THAT(history_checks(few)[0].message, HasSubstr("measure 3 more rounds"));
}

}  // namespace
}  // namespace assay::report
