#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "assay/core/workloads/learning.hpp"
#include "assay/report/document_fixture.hpp"
#include "assay/report/pictures/naming.hpp"

namespace assay::report {
namespace {

Result result_of(const std::string& id, std::int64_t batch, double rate, const std::string& worker = "w") {
  Result result;
  result.trial_id = id;
  result.trial.workload.network = "net";
  result.trial.workload.batch = batch;
  result.trial.worker = {worker, "1.0"};
  result.platform = "p";
  result.runs = result.ok = 6;
  result.samples_per_second = rate;
  result.median_ns = 1e9 * static_cast<double>(batch) / rate;
  result.median_interval = stats::Interval{*result.median_ns * 0.8, *result.median_ns * 1.25};
  return result;
}

store::RunRow run_of(const std::string& trial, std::int64_t median_ns, const std::string& at, bool trusted = true) {
  store::RunRow row;
  row.trial = trial;
  row.platform = "p";
  row.campaign = at.substr(0, 10);
  row.started_utc = at;
  row.summary.median_ns = median_ns;
  row.trusted = trusted;
  if (!trusted) row.digest.reasons.push_back({"steal", "", true});
  return row;
}

TEST(Pictures, AnEmptyStoreHasNone) {
  EXPECT_TRUE(pictures_of({}).empty());
  EXPECT_EQ(headline({}), nullptr);
}

TEST(Pictures, TheWaterfallEndsAtTheMeasuredStep) {
  Evidence evidence;
  // 10 samples/s at batch 4: a step takes 400 ms. A quarter of the peak: 100 ms of arithmetic. At the memory's rate a
  // step's bytes take .3 of it: 120 ms, 20 beyond arithmetic. A tenth is the update: 40 ms. 240 ms are left.
  auto result = result_of("a", 4, 10);
  result.share_of_peak = 0.25;
  result.flops_per_second = 25;
  result.bytes_per_second = 30;
  result.details.phases = Phases{{{"forward", 0.27}, {"backward", 0.09}, {"update", 0.04}}, 1.0};
  evidence.results.push_back(result);
  evidence.roofline.bandwidths.push_back({"p", 100, "t"});
  const auto pictures = waterfall_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  const std::vector<std::pair<double, double>> expected{{0, 100}, {100, 120}, {120, 160}, {160, 400}, {0, 400}};
  ASSERT_EQ(pictures[0].series.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(*pictures[0].series[i].marks[0].low, expected[i].first, 1e-9);
    EXPECT_NEAR(*pictures[0].series[i].marks[0].high, expected[i].second, 1e-9);
  }
}

TEST(Pictures, AThroughputsIntervalIsThatOfTheTimeTurnedRound) {
  Evidence evidence;
  evidence.results = {result_of("a", 1, 10), result_of("b", 2, 40)};
  const auto pictures = batch_pictures(evidence);
  ASSERT_EQ(pictures.size(), 2u);
  const auto& mark = pictures[0].series[0].marks[1];
  EXPECT_DOUBLE_EQ(mark.x, 1);
  EXPECT_DOUBLE_EQ(mark.y, 40);
  EXPECT_NEAR(*mark.low, 40 / 1.25, 1e-9);
  EXPECT_NEAR(*mark.high, 40 / 0.8, 1e-9);
  EXPECT_EQ(pictures[0].x.categories, (std::vector<std::string>{"1", "2"}));
  // 2 samples at 40 a second take 50 ms.
  EXPECT_NEAR(pictures[1].series[0].marks[1].y, 50, 1e-9);
}

TEST(Pictures, RatesOfOneServerAreACurve) {
  Evidence evidence;
  for (const double rate : {20.0, 5.0, 10.0}) {
    auto result = result_of(std::to_string(rate), 1, rate == 20 ? 12 : rate);
    result.trial.workload.load = ServerLoad{};
    result.trial.workload.load->rate_per_second = rate;
    result.median_ns = rate == 20 ? 900e6 : 100e6;
    evidence.results.push_back(result);
  }
  evidence.results.push_back(result_of("other", 1, 7));  // is not a load
  const auto pictures = load_pictures(evidence);
  ASSERT_EQ(pictures.size(), 2u);
  const auto& answered = pictures[0].series[0].marks;
  ASSERT_EQ(answered.size(), 3u);
  EXPECT_DOUBLE_EQ(answered[2].x, 20);
  EXPECT_DOUBLE_EQ(answered[2].y, 12);
  EXPECT_DOUBLE_EQ(pictures[1].series[0].marks[2].y, 900);
  EXPECT_NE(pictures[0].answer.find("From 20/s on"), std::string::npos);
}

TEST(Pictures, MemoryLimitsLeftOfTheRidge) {
  Evidence evidence;
  for (const double bytes : {100.0, 1.0}) {
    auto result = result_of(bytes > 10 ? "a" : "b", bytes > 10 ? 1 : 2, 10);
    result.flops_per_second = 50;
    result.bytes_per_second = bytes;
    evidence.results.push_back(result);
  }
  evidence.roofline = {{{"p", "fp32", 1000, "g"}}, {{"p", 100, "t"}}};
  const auto pictures = roofline_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  // The ridge lies at 1000 / 100 = 10 FLOP/byte; the results at .5 and 50.
  EXPECT_DOUBLE_EQ(pictures[0].series[0].marks[1].x, 10);
  EXPECT_NE(pictures[0].answer.find("1 of 2 results are left of the ridge at 10"), std::string::npos);
}

TEST(Pictures, TheMapRingsTheBestAndHatchesWhatIsTooMuch) {
  Evidence evidence;
  for (const std::int64_t threads : {1, 2, 4}) {
    auto result = result_of(std::to_string(threads), 8, threads == 2 ? 100 : 80);
    result.trial.settings.intra_op = threads;
    if (threads == 4) result.details.reasons.push_back({"oversubscribed", false, 6, ""});
    evidence.results.push_back(result);
  }
  const auto pictures = settings_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  const auto& cells = pictures[0].series[0].marks;
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[0].text, "1.25");
  EXPECT_TRUE(cells[1].ringed);
  EXPECT_FALSE(cells[0].ringed);
  EXPECT_TRUE(cells[2].hatched);
  EXPECT_FALSE(cells[1].hatched);
}

TEST(Pictures, EfficiencyIsWorkOverThatOfAsManyAlone) {
  Evidence evidence;
  evidence.results = {result_of("a", 8, 10), result_of("b", 8, 30)};
  evidence.results[1].trial.placement.ranks = 4;
  const auto pictures = nodes_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_DOUBLE_EQ(pictures[0].series[0].marks[1].y, 75);  // 30 / (4 x 10)
}

TEST(Pictures, TheBandOfAnEfficiencyHoldsEachEndToTheSameEndOfOneDevice) {
  Evidence evidence;
  auto& said = evidence.predictions.emplace_back();
  said.points.resize(2);
  // One device takes 10 s, 5 to 20; two take 12.5, 8 to 24: an efficiency of 80 %, from 5/8 to 20/24.
  const std::vector<std::vector<double>> seconds{{10, 5, 20}, {12.5, 8, 24}};
  for (std::size_t i = 0; i < 2; ++i) {
    said.points[i].devices = static_cast<std::int64_t>(i) + 1;
    said.points[i].step.seconds = seconds[i][0];
    said.points[i].low_seconds = seconds[i][1];
    said.points[i].high_seconds = seconds[i][2];
    said.points[i].efficiency = 10 / seconds[i][0];
  }
  const auto pictures = nodes_pictures(evidence);
  const auto& mark = pictures.at(0).series[0].marks[1];
  EXPECT_NEAR(mark.y, 80, 1e-9);
  EXPECT_NEAR(*mark.low, 62.5, 1e-9);
  EXPECT_NEAR(*mark.high, 100 * 20.0 / 24, 1e-9);
}

TEST(Pictures, RunsStandInTheOrderOfTimeAgainstTheirMedian) {
  Evidence evidence;
  evidence.runs = {run_of("a", 110, "2026-11-02T10:00:03Z", false), run_of("a", 100, "2026-11-02T10:00:01Z"),
                   run_of("a", 90, "2026-11-02T10:00:02Z")};
  evidence.runs[0].counted = false;
  const auto pictures = run_order_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  ASSERT_EQ(pictures[0].series.size(), 2u);
  // The median is 100: the first run lies at 0 %, the second 10 % below, the disturbed one 10 % above.
  EXPECT_DOUBLE_EQ(pictures[0].series[0].marks[0].y, 0);
  EXPECT_NEAR(pictures[0].series[0].marks[1].y, -10, 1e-9);
  EXPECT_DOUBLE_EQ(pictures[0].series[1].marks[0].x, 3);
  EXPECT_NEAR(pictures[0].series[1].marks[0].y, 10, 1e-9);
  EXPECT_NE(pictures[0].answer.find("Of 3 runs 1 were disturbed: 1 were measured again"), std::string::npos);
}

TEST(Pictures, MarksAreThinnedAndTheCountIsNot) {
  Evidence evidence;
  for (int i = 0; i < 5000; ++i) evidence.runs.push_back(run_of("a", 100, fmt::format("2026-11-02T{:08}", i)));
  const auto pictures = run_order_pictures(evidence);
  EXPECT_LE(pictures[0].series[0].marks.size(), 500u);
  EXPECT_DOUBLE_EQ(pictures[0].series[0].marks.back().x, 5000);
  EXPECT_EQ(pictures[0].answer, "None of 5000 runs was disturbed.");
}

TEST(Pictures, NamesSayOnlyWhatTellsThemApart) {
  const auto a = result_of("a", 1, 10, "torch");
  const auto b = result_of("b", 1, 10, "onnx");
  EXPECT_EQ(distinct_names({{&a.trial, "p"}, {&b.trial, "p"}}), (std::vector<std::string>{"torch", "onnx"}));
  EXPECT_EQ(distinct_names({{&a.trial, "p"}}), (std::vector<std::string>{"net torch"}));
  EXPECT_EQ(common_name({{&a.trial, "p"}, {&b.trial, "p"}}), "net infer b1 1.0");
}

TEST(Pictures, ARuntimeIsFastestOnlyWhereIntervalsSaySo) {
  Evidence evidence;
  // Steps of 100 and 10 ms, whose intervals are apart: 80 to 125 and 8 to 12.5.
  evidence.results = {result_of("a", 1, 10, "torch"), result_of("b", 1, 100, "onnx"), result_of("c", 1, 1, "alone")};
  evidence.results[2].trial.workload.network = "other";
  auto pictures = fastest_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].answer, "onnx 1.0 is fastest in 1 of 1 workloads, proved against torch 1.0.");
  EXPECT_EQ(pictures[0].x.categories, (std::vector<std::string>{"onnx 1.0", "torch 1.0"}));
  EXPECT_EQ(pictures[0].y.categories, std::vector<std::string>{"net infer b1"}) << "one runtime is not a contest";
  const auto& marks = pictures[0].series[0].marks;
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_TRUE(marks[0].ringed && !marks[1].ringed);
  EXPECT_EQ(marks[1].text, "10.00");
  EXPECT_EQ(marks[1].note, "100 ms, 6.40 to 15.62 times");  // 80 / 12.5 and 125 / 8
  const auto words = fastest_document(evidence);
  EXPECT_EQ(paragraphs_of(words).at(0), pictures[0].answer);
  const auto table = blocks_of<Matrix>(words).at(0).table;
  EXPECT_EQ(titles_of(table), (std::vector<std::string>{"workload", "onnx 1.0", "torch 1.0"}));
  EXPECT_EQ(table.rows().at(0),
            (std::vector<std::string>{"net infer b1", "1 (10 ms), proved", "10.00 (6.40 to 15.62)"}));
  // 10 % faster, within the intervals.
  evidence.results[1] = result_of("b", 1, 11, "onnx");
  pictures = fastest_pictures(evidence);
  EXPECT_EQ(pictures[0].answer, "In 1 of 1 no runtime is proved to be the fastest.");
  EXPECT_FALSE(pictures[0].series[0].marks[0].ringed);
  evidence.results.resize(1);
  EXPECT_THAT(paragraphs_of(fastest_document(evidence)).at(0),
              testing::HasSubstr("No workload here has results of two"));
}

TEST(Pictures, ATableOfTheFastestHasEveryWorkload) {
  Evidence evidence;
  for (int i = 0; i < 41; ++i) {
    for (const char* worker : {"torch", "onnx"}) {
      evidence.results.push_back(result_of(fmt::format("{}{}", worker, i), 1, 10, worker));
      evidence.results.back().trial.workload.network = fmt::format("net{}", i);
    }
  }
  EXPECT_EQ(blocks_of<Matrix>(fastest_document(evidence)).at(0).table.rows().size(), 41u);
}

// The host is 1, 2, 3 … times as slow from group to group, so that intervals of independent runs are wide and meet. In
// every group onnx takes 1.1 times as long as torch, but for .1 % up and down.
TEST(Pictures, GroupsProveWhatIndependentRunsCannot) {
  Evidence evidence;
  evidence.results = {result_of("a", 1, 10, "torch"), result_of("b", 1, 9, "onnx")};
  store::CampaignRow campaign;
  campaign.id = "c";
  campaign.lockstep = true;
  evidence.campaigns = {campaign};
  for (std::int64_t group = 1; group <= 10; ++group) {
    for (const auto side : {PairSide::a, PairSide::b}) {
      auto row = run_of(side == PairSide::a ? "a" : "b", group * 100'000, "c");
      row.pair = Pair{std::to_string(group), side};
      row.digest.pair_log_ratio = std::log(group % 2 == 0 ? 1.1 * 1.001 : 1.1 / 1.001);
      evidence.runs.push_back(std::move(row));
    }
  }
  const auto by_groups = fastest_pictures(evidence);
  ASSERT_EQ(by_groups.size(), 1u);
  EXPECT_EQ(by_groups[0].answer, "torch 1.0 is fastest in 1 of 1 workloads, proved against onnx 1.0.");
  const auto& marks = by_groups[0].series[0].marks;  // onnx, torch
  EXPECT_TRUE(marks[1].ringed && !marks[0].ringed);
  EXPECT_EQ(marks[0].text, "1.10");
  EXPECT_EQ(marks[0].note, "111.1 ms, 1.10 to 1.10 times in 10 groups");
  EXPECT_EQ(blocks_of<Matrix>(fastest_document(evidence)).at(0).table.rows().at(0).at(1), "1.10 (1.10 to 1.10)");
  evidence.campaigns[0].lockstep = false;  // the same numbers of a campaign that took no turns
  EXPECT_EQ(fastest_pictures(evidence)[0].answer, "In 1 of 1 no runtime is proved to be the fastest.");
}

TEST(Pictures, DisturbedRunsAloneProveNothing) {
  Evidence evidence;
  evidence.results = {result_of("a", 1, 10, "torch"), result_of("b", 1, 100, "onnx")};
  evidence.results[0].untrusted = evidence.results[0].ok;
  const auto pictures = fastest_pictures(evidence);
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_EQ(pictures[0].answer, "In 1 of 1 no runtime is proved to be the fastest.");
  EXPECT_TRUE(pictures[0].series[0].marks[1].hatched && !pictures[0].series[0].marks[0].hatched);
}

TEST(Pictures, DisturbanceIsToldFirstWhereThereWasMuch) {
  Evidence evidence;
  evidence.results = {result_of("a", 1, 10), result_of("b", 2, 40)};
  evidence.runs = {run_of("a", 100, "2026-11-02T10:00:01Z", false)};
  EXPECT_EQ(page_of(evidence).verdict->findings[0].find("Batch 2 reaches 40 samples/s"), 0u);
  evidence.results[0].untrusted = 2;  // of 12
  EXPECT_EQ(page_of(evidence).verdict->findings[0].find("Of 1 runs 1 were disturbed"), 0u);
}

TEST(Pictures, TheHeadlineIsTheFastestOfTheNewestWorkload) {
  Evidence evidence;
  evidence.results = {result_of("a", 1, 1000), result_of("b", 1, 10), result_of("c", 8, 30), result_of("d", 1, 5000)};
  evidence.results[0].trial.workload.network = "older";
  evidence.results[3].trial.workload.network = "gemm";
  ASSERT_NE(headline(evidence), nullptr);
  EXPECT_EQ(headline(evidence)->trial_id, "c");
  const auto page = page_of(evidence);
  EXPECT_EQ(page.verdict->number, "30 samples/s");
  EXPECT_EQ(page.verdict->interval, "24 to 37.5 (95 %)");
}

TEST(Pictures, OfGeneratedTextAreTheCurveTheFirstTokenByPromptAndTokensBySequences) {
  Evidence evidence;
  const auto add = [&](const std::string& id, std::int64_t prompt, std::int64_t sequences, std::int64_t first_ns) {
    auto result = result_of(id, 1, 1);
    result.trial.workload.mode = Mode::generate;
    result.trial.workload.generate =
        Generation{.prompt_tokens = prompt, .output_tokens = 3, .sequences = sequences, .cache_precision = {}};
    result.generated.emplace();
    result.generated->first_token_ns = first_ns;
    result.generated->curve_ns = {2'000'000, 3'000'000};
    result.generated->output_tokens_per_second = 10.0 * static_cast<double>(sequences);
    evidence.results.push_back(result);
  };
  add("a", 100, 1, 5'000'000);
  add("b", 200, 1, 9'000'000);
  add("c", 100, 4, 6'000'000);
  const auto pictures = generated_pictures(evidence);
  ASSERT_EQ(pictures.size(), 3u);
  EXPECT_EQ(pictures[0].id, "token-context-1");
  ASSERT_EQ(pictures[0].series.size(), 3u);  // contexts of 101 and 102 tokens, of 201 and 202
  EXPECT_EQ(pictures[0].series[1].marks[1].x, 202);
  EXPECT_EQ(pictures[0].series[1].marks[1].y, 3);
  EXPECT_EQ(pictures[1].id, "first-token-1");
  ASSERT_EQ(pictures[1].series.size(), 1u);  // of one sequence; four have one prompt alone
  EXPECT_EQ(pictures[1].series[0].marks[0].x, 100);
  EXPECT_EQ(pictures[1].series[0].marks[1].y, 9);
  EXPECT_NE(pictures[1].answer.find("5 ms at 100, 9 ms at 200."), std::string::npos) << pictures[1].answer;
  EXPECT_EQ(pictures[2].id, "tokens-1");
  ASSERT_EQ(pictures[2].series.size(), 1u);  // of prompts of 100 tokens
  EXPECT_EQ(pictures[2].series[0].marks[1].x, 4);
  EXPECT_EQ(pictures[2].series[0].marks[1].y, 40);
}

void add_training(Result& result, std::int64_t ns, std::vector<std::int64_t> correct, bool reached = true) {
  Learned learned;
  learned.reached = reached;
  learned.ns = ns;
  learned.epochs = std::ssize(correct);
  learned.held_out = 360;
  learned.correct = std::move(correct);
  result.details.effective[kLearned].push_back({to_json(learned), 1});
}

// Three runs of 2, 4 and 6 s, of 1, 2 and 2 epochs: an epoch takes 2, 2 and 3 s, 2 in the middle. After the first 90,
// 50 and 60 % are right, after the second 90 (it has ended), 100 and 80 %.
TEST(Pictures, AccuracyOverTimeHasALineForEachFramework) {
  Evidence evidence;
  auto first = result_of("a", 32, 100, "one");
  add_training(first, 2'000'000'000, {324});
  add_training(first, 4'000'000'000, {180, 360});
  add_training(first, 6'000'000'000, {216, 288}, false);
  auto second = result_of("b", 32, 100, "two");
  add_training(second, 5'000'000'000, {36, 72, 108, 144, 180});
  auto third = result_of("c", 64, 100, "one");  // another batch: not the same training
  add_training(third, 1'000'000'000, {324});
  evidence.results = {first, second, third, result_of("d", 32, 100, "three")};  // the last learns nothing
  const auto pictures = accuracy_pictures(evidence);
  ASSERT_EQ(pictures.size(), 2u);
  ASSERT_EQ(pictures[0].series.size(), 2u);
  ASSERT_EQ(pictures[1].series.size(), 1u);
  const auto& marks = pictures[0].series[0].marks;
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_NEAR(marks[0].x, 2, 1e-9);
  EXPECT_NEAR(marks[1].x, 4, 1e-9);
  EXPECT_NEAR(marks[0].y, 60, 1e-9);
  EXPECT_NEAR(marks[1].y, 90, 1e-9);
  EXPECT_NEAR(*marks[1].low, 80, 1e-9);
  EXPECT_NEAR(*marks[1].high, 100, 1e-9);
  EXPECT_NEAR(pictures[0].series[1].marks[4].x, 5, 1e-9);
  EXPECT_NE(pictures[0].answer.find("90 % after 4 s; 2 of 3 runs ended with the accuracy."), std::string::npos)
      << pictures[0].answer;
}

}  // namespace
}  // namespace assay::report
