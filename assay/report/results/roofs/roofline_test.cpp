#include "assay/report/results/roofs/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/network.hpp"
#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::HasSubstr;

Result result(const std::string& network, double samples_per_second, const std::string& platform = "here") {
  Result out;
  out.trial_id = network;
  out.trial.workload.network = network;
  out.platform = platform;
  out.samples_per_second = samples_per_second;
  return out;
}

// 2 x 1024^3 = 2.147 GFLOP a step; ten a second are 21.47 GFLOP/s.
TEST(Peak, IsTheFastestGemmOfThePlatformAndPrecision) {
  auto small = result("gemm", 80);
  small.trial.workload.options = {{"m", std::int64_t{512}}, {"n", std::int64_t{512}}, {"k", std::int64_t{512}}};
  auto half = result("gemm", 40);
  half.trial.workload.precision = "bf16";
  const auto peaks = roofline_of({result("gemm", 10), result("gemm", 11), small, half, result("gemm", 99, "elsewhere"),
                                  result("triad", 1000)})
                         .peaks;
  ASSERT_EQ(peaks.size(), 3u);
  const auto& here = *std::find_if(peaks.begin(), peaks.end(),
                                   [](const Peak& p) { return p.platform == "here" && p.precision == "fp32"; });
  EXPECT_DOUBLE_EQ(here.flops_per_second, 11 * 2.0 * 1024 * 1024 * 1024);  // 80 x 512^3 are as many as 10 x 1024^3
}

TEST(Peak, ShareIsOfTheSamePlatformAndPrecision) {
  auto resnet = result("resnet50", 4);
  resnet.trial.workload.graph = network::graph_hash(network::build("resnet50"));
  auto training = resnet;
  training.trial.workload.mode = Mode::train;
  auto elsewhere = resnet;
  elsewhere.platform = "elsewhere";
  std::vector<Result> results{resnet, training, elsewhere, result("unknown", 4)};
  add_shares(results, roofline_of({result("gemm", 20)}));
  const double forward = 8.178e9;  // of ResNet-50, see assay/network/network_test.cpp
  const double peak = 20 * 2.0 * 1024 * 1024 * 1024;
  ASSERT_TRUE(results[0].share_of_peak);
  EXPECT_NEAR(*results[0].share_of_peak, 4 * forward / peak, 1e-3);
  EXPECT_NEAR(*results[1].share_of_peak, 3 * 4 * forward / peak, 1e-3);
  EXPECT_FALSE(results[2].share_of_peak);
  EXPECT_THAT(*results[2].share_reason, HasSubstr("no gemm"));
  EXPECT_TRUE(results[2].flops_per_second);
  EXPECT_FALSE(results[3].flops_per_second);
  EXPECT_THAT(*results[3].share_reason, HasSubstr("not known"));
}

TEST(Peak, AnotherGraphUnderTheSameNameHasNoFlops) {
  auto other = result("resnet50", 4);
  other.trial.workload.graph = "00000000000000000000000000000000";
  std::vector<Result> results{other};
  add_shares(results, {});
  EXPECT_FALSE(results[0].flops_per_second);
}

Result gemm_of(std::int64_t size, std::int64_t good_runs, double samples_per_second) {
  auto out = result("gemm", samples_per_second);
  out.trial.workload.options = {{"m", size}, {"n", size}, {"k", size}};
  out.ok = good_runs;
  return out;
}

// Three sizes, two good runs of each, by one worker. Then even another size may be the fastest: 2 x 512^3 = .27 GFLOP.
TEST(Peak, IsKnownWhereAllSizesHaveTheirRuns) {
  const auto known = [](const std::vector<Result>& results) { return whole_roofline_of(results).peaks.size() == 1; };
  std::vector<Result> all{gemm_of(1024, 2, 10), gemm_of(2048, 2, 1), gemm_of(4096, 2, .1)};
  auto own = gemm_of(512, 9, 1000);
  EXPECT_TRUE(known(all));
  EXPECT_FALSE(known({own}));
  EXPECT_FALSE(known({all[0], all[1], own}));
  auto by_default = all;
  by_default[0].trial.workload.options.clear();  // 1024 is the default of each
  EXPECT_TRUE(known(by_default));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto one_run = all;
    one_run[i].ok = 1;
    EXPECT_FALSE(known(one_run)) << i;
    auto by_two_workers = all;
    by_two_workers[i].trial.worker.name = "another";
    EXPECT_FALSE(known(by_two_workers)) << i;
    auto at_two_precisions = all;
    at_two_precisions[i].trial.workload.precision = "bf16";
    EXPECT_FALSE(known(at_two_precisions)) << i;
    auto oblong = all;
    oblong[i].trial.workload.options["n"] = std::int64_t{64};
    EXPECT_FALSE(known(oblong)) << i;
  }
  all.push_back(own);
  EXPECT_DOUBLE_EQ(whole_roofline_of(all).peaks.at(0).flops_per_second, 1000 * 2.0 * 512 * 512 * 512);
}

TEST(Bandwidth, IsKnownAfterTwoRunsOfALargeTriad) {
  auto triad = result("triad", 50);
  triad.ok = 1;
  EXPECT_TRUE(whole_roofline_of({triad}).bandwidths.empty());
  triad.ok = 2;
  EXPECT_EQ(whole_roofline_of({triad}).bandwidths.size(), 1u);
}

// A triad of 2^25 elements moves 402,653,184 bytes: 50 a second are 20.13 GB/s. One of 2^20 may be in a cache.
TEST(Bandwidth, IsThatOfTheFastestTriadBeyondCaches) {
  auto small = result("triad", 1e6);
  small.trial.workload.options = {{"elements", std::int64_t{1} << 20}};
  const auto roofline = roofline_of({result("triad", 49), result("triad", 50), small, result("gemm", 9)});
  ASSERT_EQ(roofline.bandwidths.size(), 1u);
  EXPECT_DOUBLE_EQ(roofline.bandwidths[0].bytes_per_second, 50 * 402'653'184.0);
}

Roofline planted() {
  return {{{"here", "fp32", 100e9, "g"}}, {{"here", 10e9, "t"}}};
}

// A gemm of 1024: 2.147 GFLOP and 12.58 MB, so that 100 GFLOP/s bind it: 21.47 ms at least. 23.28 steps a second take
// twice that.
TEST(Roofline, BindsByProductsOrByMemory) {
  auto copy = result("copy", 5);  // 268,435,456 bytes: 26.84 ms at 10 GB/s, taken in 200 ms
  std::vector<Result> results{result("gemm", 23.2830643654), copy};
  add_shares(results, planted());
  EXPECT_NEAR(*results[0].share_of_roofline, 0.5, 1e-9);
  EXPECT_NEAR(*results[0].bytes_per_second, 23.2830643654 * 12'582'912, 1);
  EXPECT_NEAR(*results[1].share_of_roofline, 0.0268435456 / 0.2, 1e-9);
  EXPECT_FALSE(results[1].flops_per_second);
  EXPECT_FALSE(results[1].share_of_peak);
  EXPECT_THAT(*results[1].share_reason, HasSubstr("memory"));
}

TEST(Roofline, NeedsBothRoofsOfThePlatform) {
  std::vector<Result> results{result("gemm", 10), result("gemm", 10, "elsewhere")};
  Roofline no_triad = planted();
  no_triad.bandwidths.clear();
  add_shares(results, no_triad);
  EXPECT_TRUE(results[0].share_of_peak);
  EXPECT_FALSE(results[0].share_of_roofline);
  EXPECT_FALSE(results[1].share_of_roofline);
}

// 16 rows from 1e9 to 1e11 are 15 steps for two decades. 2 x 1024 / 12 = 170.7 FLOP/byte is beyond the bend at 100
// / 10.
TEST(Roofline, ThePictureHasTheRoofAboveItsPoints) {
  auto slow = result("gemm", 0.4657);  // 1.0001 GFLOP/s
  std::vector<Result> results{result("gemm", 23.2830643654), slow};
  add_shares(results, planted());
  const auto text = as_terminal(roofline_document(results, planted(), 40), {});
  EXPECT_THAT(text, HasSubstr("triad 10 GB/s (trial t), gemm fp32 100 GFLOP/s (trial g)"));
  const auto line_of = [&](const std::string& mark) {
    std::size_t line = 0;
    for (std::size_t at = text.find("FLOP/s\n", text.find("Roofline of")); at < text.size(); ++at) {
      if (text.compare(at, mark.size(), mark) == 0) return line;
      line += text[at] == '\n' ? 1 : 0;
    }
    return std::size_t{999};
  };
  // Rows from the top, the first after the title: 1e11 is row 1, 5e10 lies .3 decades = 2.26 steps below, 1e9 at the
  // end.
  EXPECT_EQ(line_of("100 G |"), 1u);
  EXPECT_EQ(line_of("1 G |"), 16u);
  EXPECT_EQ(line_of("a"), 3u) << text;
  EXPECT_EQ(line_of("b"), 16u) << text;
}

TEST(Roofline, SaysWhereThereIsNone) {
  std::vector<Result> results{result("gemm", 10)};
  add_shares(results, {});
  EXPECT_THAT(as_terminal(roofline_document(results, {}, 80), {}), HasSubstr("No roofline on platform here"));
  EXPECT_THAT(as_terminal(roofline_document({result("toy", 1)}, {}, 80), {}), HasSubstr("No result here"));
}

// assay/network/step_cost_test.cpp has the FLOPs of two prompts of 10 tokens: 100 tokens a second read them 5 times. 5
// MB of weights for a token of 1 ms are 5 GB/s, half of what was measured.
TEST(Shares, OfGeneratedTextArePrefillToGemmAndDecodeToTriad) {
  auto answers = result("llama_9m", 1);
  answers.trial.workload.mode = Mode::generate;
  answers.trial.workload.precision = "q8_0";
  answers.trial.workload.generate = Generation{.prompt_tokens = 10, .sequences = 2, .cache_precision = {}};
  answers.generated.emplace();
  answers.generated->prompt_tokens_per_second = 100;
  answers.generated->token_ns = 1'000'000;
  answers.generated->weights_bytes = 5'000'000;
  auto file = answers;
  file.trial.workload.network = "mine.gguf";
  std::vector<Result> results{answers, file};
  add_shares(results, planted());
  const double flops = 2 * (10 * 9 * (1'474'560.0 + 10'240) + 2'097'152);
  EXPECT_DOUBLE_EQ(*results[0].flops_per_second, 5 * flops);
  EXPECT_DOUBLE_EQ(*results[0].share_of_peak, 5 * flops / 100e9);  // gemm in fp32 is all that was measured
  EXPECT_EQ(results[0].peak_trial, "g");
  EXPECT_DOUBLE_EQ(*results[0].share_of_roofline, 0.5);
  EXPECT_FALSE(results[1].flops_per_second || results[1].share_of_peak);
  EXPECT_THAT(*results[1].share_reason, HasSubstr("not known"));
  EXPECT_DOUBLE_EQ(*results[1].share_of_roofline, 0.5);
}

}  // namespace
}  // namespace assay::report
