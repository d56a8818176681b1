#include "assay/report/peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/network/network.hpp"

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
  const auto peaks = peaks_of(
      {result("gemm", 10), result("gemm", 11), small, half, result("gemm", 99, "elsewhere"), result("triad", 1000)});
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
  add_shares(results, peaks_of({result("gemm", 20)}));
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

}  // namespace
}  // namespace assay::report
