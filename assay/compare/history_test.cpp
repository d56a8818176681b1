#include "assay/compare/history.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::compare {
namespace {

store::TrialRow trial_of(const std::string& release, std::int64_t batch = 8) {
  store::TrialRow out;
  out.trial.workload.network = "toy";
  out.trial.workload.batch = batch;
  out.trial.worker = {"fake", release};
  out.id = trial_id(out.trial);
  return out;
}

/// A run of campaign `day`, begun on that day of November.
store::RunRow run_of(const store::TrialRow& trial, int day, std::int64_t median_ns) {
  store::RunRow out;
  out.trial = trial.id;
  out.campaign = fmt::format("campaign{:02}", day);
  out.platform = "here";
  out.started_utc = fmt::format("2026-11-{:02}T10:00:00.000Z", day);
  out.summary.median_ns = median_ns;
  return out;
}

/// A run a day, the first on the 1st.
std::vector<store::RunRow> runs_of(const store::TrialRow& trial, const std::vector<std::int64_t>& medians_ns) {
  std::vector<store::RunRow> out;
  for (std::size_t i = 0; i < medians_ns.size(); ++i) {
    out.push_back(run_of(trial, static_cast<int>(i) + 1, medians_ns[i]));
  }
  return out;
}

std::vector<double> medians(const HistorySeries& series) {
  std::vector<double> out;
  for (const auto& point : series.points) out.push_back(point.median_ns);
  return out;
}

TEST(History, APointIsTheMedianOfACampaignAndPointsFollowTheDates) {
  const auto trial = trial_of("1.0");
  const auto history =
      history_of({trial}, {run_of(trial, 2, 50), run_of(trial, 1, 10), run_of(trial, 1, 30), run_of(trial, 1, 11)}, {});
  ASSERT_EQ(history.series.size(), 1u);
  EXPECT_THAT(medians(history.series[0]), testing::ElementsAre(11, 50));
  EXPECT_EQ(history.series[0].points[0].runs, 3);
  EXPECT_EQ(history.series[0].points[0].campaign, "campaign01");
  EXPECT_FALSE(history.series[0].points[0].low_ns.has_value());  // an interval needs 6 runs
}

TEST(History, PlatformsTrialsAndReleasesAreSeriesOfTheirOwn) {
  const auto one = trial_of("1.0");
  const auto other_batch = trial_of("1.0", 16);
  const auto other_release = trial_of("2.0");
  auto elsewhere = run_of(one, 1, 10);
  elsewhere.platform = "there";
  const auto history =
      history_of({one, other_batch, other_release},
                 {run_of(one, 1, 10), elsewhere, run_of(other_batch, 1, 10), run_of(other_release, 1, 10)}, {});
  EXPECT_EQ(history.series.size(), 4u);
}

TEST(History, FailedUncountedAndEarlierRunsGiveNoPoint) {
  const auto trial = trial_of("1.0");
  auto failed = run_of(trial, 2, 10);
  failed.outcome = OutcomeKind::crashed;
  auto uncounted = run_of(trial, 3, 10);
  uncounted.counted = false;
  auto empty = run_of(trial, 4, 10);
  empty.summary.median_ns.reset();
  const std::vector<store::RunRow> rows{run_of(trial, 1, 10), failed, uncounted, empty, run_of(trial, 5, 20)};
  EXPECT_THAT(medians(history_of({trial}, rows, {}).series[0]), testing::ElementsAre(10, 20));
  EXPECT_THAT(medians(history_of({trial}, rows, {.since_utc = "2026-11-05"}).series[0]), testing::ElementsAre(20));
  EXPECT_TRUE(history_of({trial}, rows, {.since_utc = "2026-11-06"}).series.empty());
}

TEST(History, BelowEightPointsNothingIsJudged) {
  const auto trial = trial_of("1.0");
  const auto few = history_of({trial}, runs_of(trial, {100, 100, 100, 100, 200, 200, 200}), {}).series[0];
  EXPECT_EQ(few.missing, 1);
  EXPECT_TRUE(few.changes.empty());
  const auto enough = history_of({trial}, runs_of(trial, {100, 100, 100, 100, 200, 200, 200, 200}), {}).series[0];
  EXPECT_EQ(enough.missing, 0);
  ASSERT_EQ(enough.changes.size(), 1u);
  EXPECT_EQ(enough.changes[0].first, 4);
  EXPECT_EQ(enough.changes[0].before, 3);
  EXPECT_NEAR(enough.changes[0].ratio, 2, 1e-12);
}

// 999, 1000, 1001 in turn, 1040 on average from the 11th point on: the ratio of the geometric means is close to 1.04.
TEST(History, OutliersAreSetAsideAndTheChangeIsNamedBesideThem) {
  const auto trial = trial_of("1.0");
  std::vector<std::int64_t> times;
  for (int i = 0; i < 20; ++i) times.push_back((i < 10 ? 999 : 1039) + i % 3);
  times[3] = 5000;
  times[9] = 3000;  // the last point of the old level
  const auto series = history_of({trial}, runs_of(trial, times), {}).series[0];
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(series.points[i].set_aside, i == 3 || i == 9) << i;
  ASSERT_EQ(series.changes.size(), 1u);
  EXPECT_EQ(series.changes[0].first, 10);
  EXPECT_EQ(series.changes[0].before, 8);
  EXPECT_NEAR(series.changes[0].ratio, 1.04, 0.001);
  EXPECT_LT(series.changes[0].low, series.changes[0].ratio);
  EXPECT_GT(series.changes[0].high, series.changes[0].ratio);
}

TEST(History, OverReleasesAPointIsAReleaseInTheOrderOfVersions) {
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> rows;
  int day = 20;
  // Measured from the newest to the oldest; 1.10 is newer than 1.9.
  for (const char* release : {"1.13", "1.12", "1.11", "1.10", "1.9", "1.8", "1.7", "1.6"}) {
    trials.push_back(trial_of(release));
    rows.push_back(run_of(trials.back(), day, day > 16 ? 1100 : 1000));
    rows.push_back(run_of(trials.back(), day + 1, day > 16 ? 1102 : 1002));
    --day;
  }
  const auto history = history_of(trials, rows, {.over = Over::releases});
  ASSERT_EQ(history.series.size(), 1u);
  const auto& series = history.series[0];
  ASSERT_EQ(series.points.size(), 8u);
  EXPECT_EQ(series.points[0].release, "1.6");
  EXPECT_EQ(series.points[0].runs, 2);
  EXPECT_EQ(series.points[4].release, "1.10");
  EXPECT_EQ(series.trial.worker.release, "1.13");
  ASSERT_EQ(series.changes.size(), 1u);
  EXPECT_EQ(series.changes[0].first, 4);
}

// Four releases in one campaign of 10 runs: too few points, but 40 runs that took turns.
TEST(History, FewReleasesAreJudgedByRunsThatTookTurns) {
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> rows;
  for (const char* release : {"1.1", "1.2", "1.3", "1.4"}) trials.push_back(trial_of(release));
  for (int i = 0; i < 10; ++i) {
    for (std::size_t release = 0; release < 4; ++release) {
      rows.push_back(run_of(trials[release], 1, (release < 2 ? 1000 : 1050) + i % 4));
    }
  }
  rows[2].summary.median_ns = 4000;  // an outlier where the new level begins
  const auto judged = history_of(trials, rows, {.over = Over::releases}).series[0];
  EXPECT_TRUE(judged.by_runs);
  EXPECT_EQ(judged.missing, 0);
  ASSERT_EQ(judged.changes.size(), 1u);
  EXPECT_EQ(judged.changes[0].first, 2);
  EXPECT_EQ(judged.changes[0].before, 1);
  EXPECT_NEAR(judged.changes[0].ratio, 1.05, 0.001);

  // The same numbers, each release on a day of its own: what the machine did then cannot be told from the release.
  for (auto& row : rows) row.campaign = "campaign of " + row.trial;
  const auto apart = history_of(trials, rows, {.over = Over::releases}).series[0];
  EXPECT_FALSE(apart.by_runs);
  EXPECT_EQ(apart.missing, 4);
  EXPECT_TRUE(apart.changes.empty());
}

TEST(History, ASlowdownStandsUntilSomethingMakesUpForIt) {
  const auto trial = trial_of("1.0");
  const std::vector<std::int64_t> slower{100, 100, 100, 100, 150, 150, 150, 150};
  EXPECT_NE(standing_slowdown(history_of({trial}, runs_of(trial, slower), {}).series[0]), nullptr);
  auto mended = slower;
  mended.insert(mended.end(), {100, 100, 100, 100});
  const auto series = history_of({trial}, runs_of(trial, mended), {}).series[0];
  EXPECT_EQ(series.changes.size(), 2u);
  EXPECT_EQ(standing_slowdown(series), nullptr);
  EXPECT_EQ(standing_slowdown(HistorySeries{}), nullptr);
}

}  // namespace
}  // namespace assay::compare
