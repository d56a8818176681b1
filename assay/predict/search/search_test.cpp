#include "assay/predict/search/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "assay/core/clock.hpp"
#include "assay/predict/models/catalogue.hpp"

namespace assay::predict {
namespace {

SplitQuestion question_of(const std::string& model, std::int64_t devices, std::int64_t batch) {
  SplitQuestion q;
  q.model = model_named(model);
  q.device = step_device("h100");
  q.devices = devices;
  q.global_batch = batch;
  q.practice.sequence = 8192;
  return q;
}

/// The rules of docs/plan.md, written apart from the search.
bool is_valid(const SplitQuestion& q, const Split& s) {
  const auto& m = q.model;
  const auto divides = [](std::int64_t a, std::int64_t b) { return b % a == 0; };
  if (s.tensor * s.pipeline * s.context * s.data != q.devices) return false;
  if (s.data * s.microbatch * s.microbatches != q.global_batch) return false;
  if (!divides(s.tensor, m.heads)) return false;
  if (!divides(s.tensor, m.kv_heads) && !divides(m.kv_heads, s.tensor)) return false;
  if (m.feedforward > 0 && !divides(s.tensor, m.feedforward)) return false;
  if (s.context > 1 && !divides(2 * s.context, q.practice.sequence)) return false;
  const bool zero_bubble = s.schedule == PipelineSchedule::zero_bubble;
  if (s.pipeline == 1 && (s.interleaving > 1 || zero_bubble)) return false;
  const auto parts = s.pipeline * s.interleaving;
  if (s.pipeline > 1 && !divides(parts, m.layers) && !divides(parts, m.layers + 2)) return false;
  if (s.interleaving > 1 && (zero_bubble || !divides(s.pipeline, s.microbatches))) return false;
  if (s.experts > 1 && (m.experts.count == 0 || !divides(s.experts, m.experts.count))) return false;
  if (!divides(s.experts, s.data)) return false;
  if (s.shard == 1 || (s.shard > 1 && (s.sharded_optimizer || !divides(s.shard, s.data / s.experts)))) return false;
  if (s.sharded_optimizer && s.data * s.context == 1) return false;
  return s.recompute != (q.practice.flash_attention ? Recomputing::attention : Recomputing::selective);
}

/// Calls `see` for every combination of sizes up to the question's own.
template <typename See>
void each_combination(const SplitQuestion& q, const See& see) {
  Split s;
  for (s.tensor = 1; s.tensor <= q.devices; ++s.tensor) {
    for (s.pipeline = 1; s.tensor * s.pipeline <= q.devices; ++s.pipeline) {
      for (s.context = 1; s.tensor * s.pipeline * s.context <= q.devices; ++s.context) {
        s.data = q.devices / (s.tensor * s.pipeline * s.context);
        for (s.experts = 1; s.experts <= s.data; ++s.experts) {
          for (s.interleaving = 1; s.interleaving <= q.model.layers + 2; ++s.interleaving) {
            for (s.shard = 0; s.shard <= s.data; ++s.shard) {
              for (s.microbatch = 1; s.data * s.microbatch <= q.global_batch; ++s.microbatch) {
                s.microbatches = q.global_batch / (s.data * s.microbatch);
                see(s);
              }
            }
          }
        }
      }
    }
  }
}

struct BruteForce {
  std::int64_t valid = 0;
  std::int64_t fitting = 0;
  std::vector<double> seconds;  ///< of those that fit, in ascending order
};

BruteForce brute_force(const SplitQuestion& q, const StepConstants& constants) {
  BruteForce found;
  each_combination(q, [&](Split s) {
    for (const auto schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::zero_bubble}) {
      for (const auto recompute :
           {Recomputing::none, Recomputing::attention, Recomputing::selective, Recomputing::full}) {
        for (const bool sharded : {false, true}) {
          s.schedule = schedule;
          s.recompute = recompute;
          s.sharded_optimizer = sharded;
          if (!is_valid(q, s)) continue;
          ++found.valid;
          const auto job = job_of(q, s);
          if (!fits(step_memory(job), q.device)) continue;
          ++found.fitting;
          found.seconds.push_back(step_time(step_work(job), job.plan, constants).seconds);
        }
      }
    }
  });
  std::sort(found.seconds.begin(), found.seconds.end());
  return found;
}

/// A small model on a few devices, drawn from a seed.
SplitQuestion small_case(unsigned seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  SplitQuestion q;
  q.device = step_device(random() % 2 == 0 ? "h100" : "a100-80");
  q.model.name = "small";
  q.model.head_dim = 64;
  q.model.heads = one_of({8, 12, 16});
  q.model.kv_heads = random() % 2 == 0 ? q.model.heads : 4;
  q.model.hidden = q.model.heads * 64;
  q.model.layers = one_of({2, 4, 6});
  q.model.feedforward = 4 * q.model.hidden;
  q.model.vocabulary = 32000;
  if (random() % 3 == 0) {
    q.model.experts.count = 8;
    q.model.experts.per_token = 2;
    q.model.experts.feedforward = q.model.hidden;
  }
  q.devices = one_of({1, 2, 4, 6, 8, 12});
  q.global_batch = one_of({4, 8, 12});
  q.practice.sequence = one_of({1024, 4096});
  q.practice.flash_attention = random() % 4 != 0;
  q.device.sheet.memory_bytes = 1e9 * static_cast<double>(one_of({3, 4, 6, 80}));
  return q;
}

TEST(Search, FindsWhatBruteForceFindsInFiftySmallCases) {
  const StepBasis basis;
  int with_a_split = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const auto q = small_case(seed);
    const auto expected = brute_force(q, basis.constants(q.device));
    const auto found = search_splits(q, basis, 5);
    ASSERT_EQ(found.splits, expected.valid) << seed;
    ASSERT_EQ(found.fitting, expected.fitting) << seed;
    ASSERT_EQ(found.ranked.size(), std::min<std::size_t>(5, expected.seconds.size())) << seed;
    for (std::size_t i = 0; i < found.ranked.size(); ++i) {
      EXPECT_NEAR(found.ranked[i].seconds / expected.seconds[i], 1, 1e-12) << seed << " " << i;
    }
    with_a_split += found.ranked.empty() ? 0 : 1;
  }
  EXPECT_GE(with_a_split, 30);  // else the cases would show little
}

TEST(Search, EverySplitThatItGoesThroughIsValidByTheRulesAndNamedOnce) {
  const auto q = small_case(7);
  auto all = all_splits(q);
  for (const auto& split : all) EXPECT_TRUE(is_valid(q, split)) << text_of(split) << ": " << why_not(q, split);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) ASSERT_FALSE(all[i] == all[j]) << text_of(all[i]);
  }
}

TEST(Search, ReasonsNameTheSizesThatDoNotDivide) {
  const auto q = question_of("llama3-8b", 8, 16);
  Split s;
  s.tensor = 3;
  EXPECT_EQ(why_not(q, s), "tensor 3 x pipeline 1 x context 1 x data 1 are not 8 devices");
  s.tensor = 8;
  s.microbatches = 15;
  EXPECT_EQ(why_not(q, s), "data 1 x 15 microbatches of 1 are not the batch of 16");
  s.tensor = 1;
  s.pipeline = 8;
  s.microbatches = 16;
  s.interleaving = 3;  // 24 parts of 32 layers
  EXPECT_EQ(why_not(q, s), "8 stages of 3 parts divide neither 32 layers nor 34 with the embedding and the output");
  const auto odd = search_splits(question_of("llama3-8b", 7, 16), StepBasis(), 1);
  EXPECT_TRUE(odd.ranked.empty());
  EXPECT_NE(odd.reason.find("7 devices cannot be split"), std::string::npos) << odd.reason;
  const auto small = search_splits(question_of("llama3-405b", 8, 16), StepBasis(), 1);
  EXPECT_GT(small.splits, 0);
  EXPECT_NE(small.reason.find("no split of 8 devices fits"), std::string::npos) << small.reason;
}

TEST(Search, TenThousandSplitsOfALargeModelTakeLessThanTwoSeconds) {
  const auto q = question_of("llama3-405b", 1024, 2048);
  const auto begin_ns = monotonic_ns();
  const auto found = search_splits(q, StepBasis(), 10);
  const double seconds = 1e-9 * static_cast<double>(monotonic_ns() - begin_ns);
  EXPECT_GE(found.splits, 10'000);
  EXPECT_FALSE(found.ranked.empty());
  RecordProperty("splits", static_cast<int>(found.splits));
  RecordProperty("milliseconds", static_cast<int>(1000 * seconds));
#ifdef NDEBUG
  EXPECT_LT(seconds, 2);
#endif
}

TEST(Search, NeighboursChangeSizesTogetherAndSayWhatThatCosts) {
  const auto q = question_of("llama3-70b", 64, 256);
  const StepBasis basis;
  const auto found = search_splits(q, basis, 1);
  ASSERT_FALSE(found.ranked.empty());
  const auto all = neighbours_of(q, basis, found.ranked.front(), 12);
  ASSERT_FALSE(all.empty());
  bool two_at_once = false;
  std::size_t beyond = 0;
  for (const auto& one : all) {
    beyond += one.fits ? 0u : 1u;
    two_at_once = two_at_once || one.change.find(", ") != std::string::npos;
    // Else the best would not be the best.
    EXPECT_TRUE(!one.fits || one.ratio >= 1 - 1e-12) << one.change;
    EXPECT_FALSE(one.because.empty());
  }
  EXPECT_TRUE(two_at_once);
  EXPECT_LE(beyond, 4u);  // a third: what does not fit is not advice
  EXPECT_GT(all.size(), beyond);
}

TEST(StepBasis, WhatBothSidesShareCancelsInARatio) {
  const StepBasis basis;
  const auto q = question_of("llama3-8b", 8, 16);
  Split s;
  s.data = 8;
  s.shard = 8;
  s.microbatches = 2;
  const auto same = basis.ratio_of(job_of(q, s), job_of(q, s));
  EXPECT_DOUBLE_EQ(same.ratio, 1);  // one job twice: every error is shared
  EXPECT_DOUBLE_EQ(same.low, 1);
  EXPECT_DOUBLE_EQ(same.high, 1);
  auto slow = q;
  slow.device.inside_bytes_per_second /= 20;
  const auto other = basis.ratio_of(job_of(q, s), job_of(slow, s));
  const auto time = basis.time_of(job_of(q, s));
  EXPECT_GT(other.high / other.ratio, 1);
  EXPECT_LT(other.high / other.ratio, time.high_seconds / time.seconds);
}

TEST(StepBasis, AJobOfFewMicrobatchesIsDrawnAsLongAsItIsPredicted) {
  const StepBasis basis;
  const auto q = question_of("llama3-8b", 8, 16);
  Split s;
  s.pipeline = 4;
  s.data = s.shard = 2;
  s.microbatches = 8;
  const auto job = job_of(q, s);
  const auto drawn = basis.drawing_of(job);
  EXPECT_EQ(drawn.microbatches, 8);
  EXPECT_NEAR(drawn.schedule.seconds / basis.time_of(job).seconds, 1, 1e-9);
}

TEST(StepBasis, TwoDevicesAddTheErrorsOfTheirLaws) {
  const StepBasis basis;
  auto one = question_of("llama3-8b", 64, 64);
  auto other = one;
  other.device.sheet.name = "another";
  Split s;
  s.data = s.shard = 64;
  // Both laws are measured: each is off by a factor whose logarithm has a standard deviation of .05. All else is equal,
  // so that 90 % of a normal distribution are within 1.645 sqrt(.05^2 + .05^2).
  const double laws = std::exp(1.645 * std::sqrt(2 * .05 * .05));
  const auto equal = basis.ratio_of(job_of(one, s), job_of(other, s));
  EXPECT_DOUBLE_EQ(equal.ratio, 1);
  EXPECT_NEAR(equal.high, laws, 1e-9);
  EXPECT_NEAR(equal.low, 1 / laws, 1e-9);
  EXPECT_NE(equal.rests_on.find("The devices differ"), std::string::npos);

  // Other devices and other links: the ratio is that of the two predictions, and the range has both.
  other.device = step_device("b200");
  other.device.rail_bytes_per_second = one.device.rail_bytes_per_second / 4;
  const auto apart = basis.ratio_of(job_of(one, s), job_of(other, s));
  const double steps = basis.time_of(job_of(other, s)).seconds / basis.time_of(job_of(one, s)).seconds;
  EXPECT_NEAR(apart.ratio, steps, 1e-9 * steps);
  EXPECT_GT(apart.high / apart.ratio, laws);
  EXPECT_NEAR(apart.high / apart.ratio, apart.ratio / apart.low, 1e-9);
  // Seen from the other side it is the reciprocal, with the same width.
  const auto back = basis.ratio_of(job_of(other, s), job_of(one, s));
  EXPECT_NEAR(back.ratio * apart.ratio, 1, 1e-9);
  EXPECT_NEAR(back.low * apart.high, 1, 1e-9);
}

}  // namespace
}  // namespace assay::predict
