#include "assay/report/results/result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/markdown.hpp"
#include "assay/report/renderers/terminal.hpp"
#include "assay/report/report.hpp"

namespace assay::report {
namespace {

store::RunRow row(const std::string& trial, const std::string& platform, std::int64_t median_ns) {
  store::RunRow out;
  out.trial = trial;
  out.platform = platform;
  out.summary.median_ns = median_ns;
  out.summary.steady_samples = 64;
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
  EXPECT_EQ(results[0].p90.ns, 22);
  EXPECT_EQ(results[0].ok, 3);
}

TEST(Result, a_quantile_needs_64_samples_in_a_run_and_says_so_below) {
  auto few = row("t", "p", 10);
  few.summary.steady_samples = 63;
  auto older = row("t", "p", 11);  // before the number of samples was kept: 100 in all, from the 40th on
  older.summary.steady_samples.reset();
  older.summary.n = 100;
  older.summary.steady_from = 40;
  const auto none = results_of({trial("t")}, {few, older});
  EXPECT_FALSE(none[0].p90.ns);
  EXPECT_EQ(none[0].p90.reason,
            "2 runs have 60 to 63 steady samples; a p90 needs 64 in a run: --seconds asks for more");
  EXPECT_THAT(*none[0].p99.reason, testing::HasSubstr("a p99 needs 662 in a run"));
  Record kept;
  kept.summary = few.summary;
  EXPECT_THAT(csv_row(kept, trial("t").trial), testing::HasSubstr(",10,,,"));
  // One that has enough is the answer alone; of six there is an interval, their extremes.
  std::vector<store::RunRow> rows{few, row("t", "p", 20)};
  EXPECT_EQ(results_of({trial("t")}, rows)[0].p90.ns, 40);
  EXPECT_EQ(results_of({trial("t")}, rows)[0].p90.reason, "1 good runs with a p90; a 95 % interval needs 6");
  for (std::int64_t i = 21; i <= 25; ++i) rows.push_back(row("t", "p", i));
  const auto enough = results_of({trial("t")}, rows)[0].p90;
  ASSERT_TRUE(enough.interval);
  EXPECT_EQ(enough.interval->low, 40);
  EXPECT_EQ(enough.interval->high, 50);
  EXPECT_FALSE(enough.reason);
}

TEST(Result, a_column_of_quantiles_is_there_only_where_one_is_known) {
  auto few = row("t", "p", 10);
  few.summary.steady_samples = 63;
  EXPECT_THAT(as_terminal(results_document({{}, results_of({trial("t")}, {few}), {}}), {}),
              testing::Not(testing::HasSubstr("p90")));
  EXPECT_THAT(as_terminal(results_document({{}, results_of({trial("t")}, {row("t", "p", 10)}), {}}), {}),
              testing::HasSubstr("p90"));
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

TEST(Result, disturbed_runs_are_left_out_while_enough_others_remain) {
  std::vector<store::RunRow> rows{row("t", "p", 10), row("t", "p", 90)};
  rows[1].trusted = false;
  rows[1].digest.reasons.push_back({"steal", "", true});
  const auto two = results_of({trial("t")}, rows);
  EXPECT_EQ(two[0].median_ns, 10);
  EXPECT_EQ(two[0].ok, 2);
  EXPECT_EQ(two[0].untrusted, 1);
  EXPECT_EQ(two[0].left_out, 1);
  EXPECT_EQ(two[0].details.reasons.size(), 1u);  // told all the same
  for (std::int64_t i = 11; i <= 14; ++i) rows.push_back(row("t", "p", i));
  const auto six = results_of({trial("t")}, rows);  // 10 to 14 and 90: five are too few for an interval, so all count
  EXPECT_EQ(six[0].median_ns, 12.5);
  EXPECT_EQ(six[0].left_out, 0);
  EXPECT_EQ(six[0].median_interval->high, 90);
  rows.push_back(row("t", "p", 15));
  const auto seven = results_of({trial("t")}, rows);
  EXPECT_EQ(seven[0].median_ns, 12.5);
  EXPECT_EQ(seven[0].left_out, 1);
  EXPECT_EQ(seven[0].median_interval->high, 15);
}

TEST(Result, where_all_runs_were_disturbed_all_count) {
  auto only = row("t", "p", 10);
  only.trusted = false;
  const auto results = results_of({trial("t")}, {only});
  EXPECT_EQ(results[0].median_ns, 10);
  EXPECT_EQ(results[0].left_out, 0);
}

TEST(Result, where_every_run_is_still_to_be_measured_again_the_disturbed_ones_are_shown_as_such) {
  auto aside = row("t", "p", 20);
  aside.counted = false;
  aside.trusted = false;
  auto broken = aside;
  broken.outcome = OutcomeKind::interrupted;
  const auto results = results_of({trial("t")}, {aside, broken});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].median_ns, 20);
  EXPECT_EQ(results[0].ok, 1);
  EXPECT_EQ(disturbed_text(results[0]), " (1 disturbed)");
  // Once one counts, what was set aside is past.
  EXPECT_EQ(results_of({trial("t")}, {aside, row("t", "p", 10)})[0].median_ns, 10);
}

TEST(Result, a_trial_without_runs_has_no_result) {
  EXPECT_TRUE(results_of({trial("t")}, {}).empty());
}

TEST(Result, trials_that_differ_only_in_their_ranks_look_different) {
  auto together = trial("u");
  together.trial.placement.ranks = 4;
  const auto results = results_of({trial("t"), together}, {row("t", "p", 10), row("u", "p", 10)});
  for (const std::size_t width : {0, 70}) {
    const std::string text = as_terminal(results_document({{}, results, {}}), {width, true, false});
    EXPECT_THAT(text, testing::ContainsRegex("\nt .* default "));
    EXPECT_THAT(text, testing::ContainsRegex("\nu .* 4 ranks "));
  }
  EXPECT_THAT(csv_header(), testing::HasSubstr(",ranks,device,watts,samples_per_joule,"));
  EXPECT_THAT(csv_row(Record{}, together.trial), testing::HasSubstr(",4,cpu,,,"));
}

store::RunRow row_at(const std::string& started_utc, std::int64_t median_ns) {
  auto out = row("t", "p", median_ns);
  out.started_utc = started_utc;
  return out;
}

TEST(Terminal, runs_are_a_curve_in_the_order_of_time) {
  const ReportData data{
      {}, results_of({trial("t")}, {row_at("2026-03", 200), row_at("2026-01", 100), row_at("2026-02", 100)}), {}};
  // 100 is the lowest of eight levels, 200 the highest.
  EXPECT_THAT(as_terminal(results_document(data), {200, true, false}), testing::HasSubstr("  ▁▁█\n"));
  EXPECT_THAT(as_terminal(results_document(data), {200, false, false}), testing::Not(testing::HasSubstr("in time")));
  // Not a terminal: what reads it is a program.
  EXPECT_THAT(as_terminal(results_document(data), {0, true, false}), testing::Not(testing::HasSubstr("in time")));
}

TEST(Terminal, what_there_is_no_room_for_is_named) {
  const ReportData data{{}, results_of({trial("t")}, {row("t", "p", 10)}), {}};
  const auto text = as_terminal(results_document(data), {80, true, false});
  EXPECT_THAT(text, testing::HasSubstr("No room for: "));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("^[^\n]*in time")));
  EXPECT_THAT(as_terminal(results_document(data), {300, true, false}), testing::Not(testing::HasSubstr("No room for")));
}

store::TrialRow trial_with(const std::string& id, std::optional<std::int64_t> instances,
                           std::optional<std::int64_t> inter_op, std::int64_t intra_op) {
  auto out = trial(id);
  out.trial.settings.instances = instances;
  out.trial.settings.inter_op = inter_op;
  out.trial.settings.intra_op = intra_op;
  return out;
}

TEST(SettingsMap, shows_two_settings_that_vary_together) {
  const auto results = results_of(
      {trial_with("a", {}, 1, 1), trial_with("b", {}, 1, 2), trial_with("c", {}, 2, 1), trial_with("d", {}, 2, 2)},
      {row("a", "p", 4000), row("b", "p", 2000), row("c", "p", 3000), row("d", "p", 2200)});
  const auto text = as_terminal(settings_maps(results), {});
  EXPECT_THAT(text, testing::StartsWith("\nTime of a step relative to the least"));
  EXPECT_THAT(text, testing::EndsWith("\n"
                                      "instances  inter_op        1        2   intra_op\n"
                                      "        1         1     2.00     1.00\n"
                                      "        1         2     1.50     1.10\n"));
}

TEST(SettingsMap, of_instances_is_about_samples) {
  auto results = results_of({trial_with("a", 1, {}, 1), trial_with("b", 1, {}, 2), trial_with("c", 2, {}, 1)},
                            {row("a", "p", 10), row("b", "p", 10), row("c", "p", 10)});
  results[0].samples_per_second = 100;
  results[1].samples_per_second = 125;
  results[2].samples_per_second = 160;  // the most: 160 / 100 and 160 / 125 stand beside it
  const auto text = as_terminal(settings_maps(results), {});
  EXPECT_THAT(text, testing::StartsWith("\nTime for a sample relative to the least"));
  EXPECT_THAT(text, testing::EndsWith("\n"
                                      "instances        1        2   intra_op\n"
                                      "        1     1.60     1.28\n"
                                      "        2     1.00        .\n"));
}

TEST(SettingsMap, is_none_where_one_setting_varies_or_platforms_differ) {
  const std::vector<store::TrialRow> trials{trial_with("a", {}, 1, 1), trial_with("b", {}, 1, 2)};
  EXPECT_TRUE(settings_maps(results_of(trials, {row("a", "p", 1), row("b", "p", 2)})).empty());
  const std::vector<store::TrialRow> others{trial_with("a", {}, 1, 1), trial_with("b", {}, 2, 2)};
  EXPECT_TRUE(settings_maps(results_of(others, {row("a", "p", 1), row("b", "q", 2)})).empty());
}

TEST(Markdown, results_are_a_table_in_which_names_are_no_markup) {
  auto hostile = trial("t");
  hostile.trial.workload.network = "a|b\n[x](y)";
  const auto text = as_markdown(results_document({{}, results_of({hostile}, {row("t", "p", 10)}), {}}));
  EXPECT_THAT(text, testing::HasSubstr("| trial | workload | worker | settings | median | 95 % interval | p90 | "
                                       "samples/s | runs |\n"
                                       "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n"));
  // 124 is |, 91 and 93 are brackets, 40 and 41 parentheses; a line end was made visible when the cell was added.
  EXPECT_THAT(text, testing::HasSubstr("a&#124;b"));
  EXPECT_THAT(text, testing::HasSubstr("&#91;x&#93;&#40;y&#41;"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("[x]")));
  EXPECT_THAT(text, testing::EndsWith("\n\nAn interval needs 6 good runs of a trial; ask for more with --runs.\n"));
}

TEST(Csv, text_with_commas_quotes_and_line_ends_stays_one_cell) {
  Record failed;
  failed.outcome.message = "a \"b\", c\nd";
  EXPECT_THAT(csv_row(failed, trial("t").trial), testing::HasSubstr(",\"a \"\"b\"\", c\nd\","));
}

TEST(Csv, no_text_is_a_formula_and_negative_numbers_stay_numbers) {
  Record hostile;
  for (auto* text :
       {&hostile.campaign, &hostile.trial, &hostile.outcome.message, &hostile.platform, &hostile.started_utc})
    *text = "=1";
  hostile.duration_ns = -5;
  hostile.pair = Pair{};
  hostile.pair->id = "@pair";
  auto tested = trial("t").trial;
  tested.workload.network = "-net";
  tested.workload.precision = "+p";
  tested.worker.name = "@w";
  tested.worker.release = "\tr";
  tested.placement.device = "=d";
  std::size_t marked = 0;
  std::string cells = "," + csv_row(hostile, tested);
  for (std::size_t at = 0; (at = cells.find(',', at)) != std::string::npos; ++at) {
    EXPECT_TRUE(cells[at + 1] != '=' && cells[at + 1] != '+' && cells[at + 1] != '@' && cells[at + 1] != '\t') << cells;
    marked += cells[at + 1] == '\'' ? 1 : 0;
  }
  EXPECT_EQ(marked, 5u + 1 + 5);  // of the record, of its pair, of its trial
  EXPECT_THAT(cells, testing::HasSubstr(",-5,"));
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
