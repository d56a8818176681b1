#include "assay/report/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/report.hpp"

namespace assay::report {
namespace {

store::RunRow row(const std::string& trial, const std::string& platform, std::int64_t median_ns) {
  store::RunRow out;
  out.trial = trial;
  out.platform = platform;
  out.summary.median_ns = median_ns;
  out.summary.p90_ns = 2 * median_ns;
  return out;
}

store::TrialRow trial(const std::string& id) {
  store::TrialRow out;
  out.id = id;
  out.trial.workload.network = "toy";
  return out;
}

TEST(Result, every_process_counts_once) {
  const auto results = results_of({trial("t")}, {row("t", "p", 10), row("t", "p", 30), row("t", "p", 11)});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].median_ns, 11);
  EXPECT_EQ(results[0].p90_ns, 22);
  EXPECT_EQ(results[0].ok, 3);
}

TEST(Result, runs_of_different_platforms_are_never_pooled) {
  const auto results = results_of({trial("t")}, {row("t", "p", 10), row("t", "q", 30)});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].median_ns, 10);
  EXPECT_EQ(results[1].median_ns, 30);
}

TEST(Result, an_interval_needs_six_runs_and_says_so_below) {
  std::vector<store::RunRow> rows;
  for (std::int64_t i = 1; i <= 5; ++i) rows.push_back(row("t", "p", i));
  const auto few = results_of({trial("t")}, rows);
  EXPECT_FALSE(few[0].median_interval.has_value());
  EXPECT_THAT(*few[0].interval_reason, testing::HasSubstr("5 good runs"));
  rows.push_back(row("t", "p", 6));
  const auto enough = results_of({trial("t")}, rows);
  // n = 6 at 95 %: P(Bin(6, 1/2) <= 0) = 1/64 <= .025, so the extremes.
  EXPECT_EQ(enough[0].median_interval->low, 1);
  EXPECT_EQ(enough[0].median_interval->high, 6);
}

TEST(Result, failed_and_set_aside_runs_give_no_number) {
  auto failed = row("t", "p", 1000);
  failed.outcome = OutcomeKind::crashed;
  failed.message = "ended by signal 11";
  auto aside = row("t", "p", 2000);
  aside.counted = false;
  const auto results = results_of({trial("t")}, {row("t", "p", 10), failed, aside});
  EXPECT_EQ(results[0].median_ns, 10);
  EXPECT_EQ(results[0].runs, 2);
  EXPECT_EQ(results[0].ok, 1);
  EXPECT_EQ(results[0].failures.at(OutcomeKind::crashed).message, "ended by signal 11");
}

TEST(Result, a_trial_without_runs_has_no_result) {
  EXPECT_TRUE(results_of({trial("t")}, {}).empty());
}

TEST(Result, trials_that_differ_only_in_their_ranks_look_different) {
  auto together = trial("u");
  together.trial.placement.ranks = 4;
  const auto results = results_of({trial("t"), together}, {row("t", "p", 10), row("u", "p", 10)});
  for (const std::size_t width : {0, 60}) {
    const std::string text = terminal_report({{}, results, {}}, width);
    EXPECT_THAT(text, testing::ContainsRegex("\nt .* default "));
    EXPECT_THAT(text, testing::ContainsRegex("\nu .* 4 ranks "));
  }
  EXPECT_THAT(csv_header(), testing::EndsWith(",ranks,device\r\n"));
  EXPECT_THAT(csv_row(Record{}, together.trial), testing::EndsWith(",4,cpu\r\n"));
}

TEST(Csv, text_with_commas_quotes_and_line_ends_stays_one_cell) {
  Record failed;
  failed.outcome.message = "a \"b\", c\nd";
  EXPECT_THAT(csv_row(failed, trial("t").trial), testing::HasSubstr(",\"a \"\"b\"\", c\nd\","));
}

TEST(Csv, a_row_has_as_many_cells_as_the_header) {
  const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
  EXPECT_EQ(commas(csv_row(Record{}, trial("t").trial)), commas(csv_header()));
}

TEST(Json, what_is_not_known_is_null) {
  ReportData data;
  data.results = results_of({trial("t")}, {row("t", "p", 1)});
  const json result = json_report(data).at("results").at(0);
  EXPECT_TRUE(result.at("samples_per_second").is_null());
  EXPECT_TRUE(result.at("median_interval").is_null());
  EXPECT_EQ(result.at("median_ns"), 1.0);
}

}  // namespace
}  // namespace assay::report
