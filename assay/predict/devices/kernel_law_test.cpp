#include "assay/predict/devices/kernel_law.hpp"

#include <gtest/gtest.h>

#include "assay/predict/devices/device_laws.hpp"

namespace assay::predict {
namespace {

/// Round numbers: 100 multiprocessors of 1 TFLOP/s each, 1 TB/s, a cache of 1 MB.
DeviceSheet round_sheet() {
  return {"round", 100e12, 200e12, {}, 80e9, 1e12, 100, 1e6, 100e9, 500, "made up"};
}

TEST(ProductLaw, ALargeProductTakesItsFlopsAtTheShareOfThePeak) {
  // 12800 x 25600 in tiles of 128 x 256 (which alone reach the whole rate): 100 x 100 tiles over 100 multiprocessors
  // are 100 full waves. 2 m n k = 2 x 12800 x 25600 x 10000 = 6.5536e12 FLOPs, at half of 100 TFLOP/s .131072 s; 10 us
  // on top. Bytes: .98 GB take 1 ms, which a norm of 20 does not show.
  const std::vector<double> constants{0.5, 1, 10, 1e-3, 1e-9, 1, 20, 1, 1};
  const double seconds = product_seconds({12800, 25600, 10000, ProductType::bf16}, round_sheet(), constants);
  EXPECT_NEAR(seconds, 0.131072 + 10e-6, 1e-8);
}

TEST(ProductLaw, AVectorTakesTheBytesOfTheWeights) {
  // 1 x 10000 times 10000 x 10000: 2 x (1e4 + 1e8 + 1e4) bytes at 80 % of 1 TB/s are .25005 ms. In fp8 one byte a
  // weight: 1e4 + 1e8 + 2e4, and a pass of 3 x 1e4 bytes over the inputs; .1250375 ms and .00003 ms.
  const std::vector<double> constants{1, 0.8, 1e-9, 1e-9, 1e-9, 1e-3, 20, 1, 1};
  EXPECT_NEAR(product_seconds({1, 10000, 10000, ProductType::bf16}, round_sheet(), constants), 0.25005e-3, 1e-8);
  EXPECT_NEAR(product_seconds({1, 10000, 10000, ProductType::fp8}, round_sheet(), constants), 0.1250675e-3, 1e-8);
}

TEST(ProductLaw, ARowCostsItsOwnWorkWhereTilesAreOfOneRow) {
  // 2 x 6400 x 10000 FLOPs a row at 100 TFLOP/s are 1.28 us, and bytes next to nothing. Tiles of 64 rows compute all of
  // them for one.
  const std::vector<double> constants{1, 1e6, 1e-9, 1e-9, 1e-9, 1e-9, 20, 1, 1};
  auto sheet = round_sheet();
  sheet.multiprocessors = 1;
  const auto seconds = [&](double rows) {
    return product_seconds({rows, 6400, 10000, ProductType::bf16}, sheet, constants);
  };
  EXPECT_NEAR(seconds(1), 64 * 1.28e-6, 1e-9);
  EXPECT_NEAR(seconds(64), 64 * 1.28e-6, 1e-9);
  sheet.tile_rows = 1;
  EXPECT_NEAR(seconds(1), 1.28e-6, 1e-9);
  EXPECT_NEAR(seconds(3), 3 * 1.28e-6, 1e-9);
  EXPECT_NEAR(seconds(64), 64 * 1.28e-6, 1e-9);
}

TEST(ProductLaw, TheRooflineIsTheLargerOfBothAndNoLawIsBelowIt) {
  const auto sheet = round_sheet();
  // 2e12 FLOPs at 100 TFLOP/s are 20 ms; 6e8 bytes take .6 ms.
  EXPECT_DOUBLE_EQ(product_roofline({10000, 10000, 10000, ProductType::bf16}, sheet), 0.02);
  const auto law = data_sheet_product_law().values();
  for (const double m : {1.0, 100.0, 5000.0}) {
    const ProductWork work{m, 4096, 4096, ProductType::bf16};
    EXPECT_GE(product_seconds(work, sheet, law) * 1.002, product_roofline(work, sheet));
  }
}

TEST(AttentionLaw, DecodingReadsTheCacheOnce) {
  // 64 sequences of 8 heads of keys and values of 128 x 10000 elements of 2 bytes: 2 x 2 x 64 x 8 x 128 x 10000 =
  // 2.62144 GB, and 4 x 64 x 64 x 128 of queries and results: 2.097 MB. At half of 1 TB/s: 5.2470e-3 s.
  const std::vector<double> constants{0.5, 1e-9, 3, 12, 1e-9, 1e-9};
  const AttentionWork work{64, 1, 10000, 64, 8, 128, 2};
  EXPECT_NEAR(decode_seconds(work, round_sheet(), constants), 2 * (2.62144e9 + 2097152) / 1e12, 1e-7);
  // An fp8 cache has half of these bytes.
  auto narrow = work;
  narrow.cache_element_bytes = 1;
  EXPECT_NEAR(decode_seconds(narrow, round_sheet(), constants), 2 * (1.31072e9 + 2097152) / 1e12, 1e-5);
}

TEST(AttentionLaw, PrefillIsHalfOfTheSquareAndACachedPrefixTheWholeRectangle) {
  // 1 sequence, 100 heads of 128, 6400 tokens: 4 x 100 x 128 x 6400^2 / 2 = 1.048576e12 FLOPs at 100 TFLOP/s.
  const std::vector<double> constants{1, 1e-9, 1e-9, 1e9, 12, 1e-9};
  const AttentionWork first{1, 6400, 0, 100, 100, 128, 2};
  EXPECT_NEAR(prefill_seconds(first, round_sheet(), constants), 1.048576e-2, 1e-6);
  // Behind 6400 cached tokens each query looks at all of them too: three times as many pairs.
  const AttentionWork second{1, 6400, 6400, 100, 100, 128, 2};
  EXPECT_NEAR(prefill_seconds(second, round_sheet(), constants), 3 * 1.048576e-2, 1e-6);
}

TEST(CollectiveLaw, ARingMovesTwiceWhatAGatherMoves) {
  const std::vector<double> constants{1e-9, 0.5, 10, 1e-9};
  // 8 devices, 1 GB: 2 x 7/8 GB at half of 100 GB/s are 35 ms; a gather half of it.
  const CollectiveWork sum{model::Collective::all_reduce, 8, 1e9};
  EXPECT_NEAR(collective_seconds(sum, round_sheet(), constants), 0.035, 1e-9);
  const CollectiveWork gather{model::Collective::all_gather, 8, 1e9};
  EXPECT_NEAR(collective_seconds(gather, round_sheet(), constants), 0.0175, 1e-9);
  EXPECT_EQ(collective_seconds({model::Collective::all_reduce, 1, 1e9}, round_sheet(), constants), 0);
}

TEST(KernelLaw, AFitFindsTheConstantsThatMadeTheTimes) {
  const auto sheet = round_sheet();
  const std::vector<double> truth{12, 0.6, 2, 0.5};
  std::vector<CollectiveWork> works;
  std::vector<double> seconds;
  for (double bytes = 256; bytes < 1e9; bytes *= 2) {
    works.push_back({model::Collective::all_reduce, 4, bytes});
    seconds.push_back(collective_seconds(works.back(), sheet, truth));
  }
  const auto law = fit_collective(works, seconds, sheet, "made up");
  for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(law.constants[i].value / truth[i], 1, 0.02) << i;
  EXPECT_LT(law.median_error, 0.01);
  EXPECT_EQ(law.basis, LawBasis::measured);
  EXPECT_EQ(law.rows, static_cast<std::int64_t>(works.size()));
}

TEST(KernelLaw, OneWildTimeDoesNotMoveTheFit) {
  const auto sheet = round_sheet();
  const std::vector<double> truth{12, 0.6, 2, 0.5};
  std::vector<CollectiveWork> works;
  std::vector<double> seconds;
  for (double bytes = 256; bytes < 1e9; bytes *= 2) {
    works.push_back({model::Collective::all_reduce, 4, bytes});
    seconds.push_back(collective_seconds(works.back(), sheet, truth));
  }
  seconds[10] *= 50;
  EXPECT_NEAR(fit_collective(works, seconds, sheet, "made up").constants[1].value, 0.6, 0.03);
}

TEST(KernelLaw, TheConformalWidthIsTheOrderStatisticThatCovers) {
  // 9 residuals: ceil(.9 x 10) = 9, the largest; 19: ceil(.9 x 20) = 18, the second largest.
  EXPECT_DOUBLE_EQ(conformal_width({.1, .2, .3, .4, .5, .6, .7, .8, -.9}, 0.9), 0.9);
  std::vector<double> more;
  for (int i = 1; i <= 19; ++i) more.push_back(0.01 * i);
  EXPECT_DOUBLE_EQ(conformal_width(more, 0.9), 0.18);
}

}  // namespace
}  // namespace assay::predict
