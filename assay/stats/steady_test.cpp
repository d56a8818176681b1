#include "assay/stats/steady.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay::stats {
namespace {

constexpr double kStepNs = 5e6;

/// A run with noise that remembers (AR .3), 2 % of it, and an outlier of 1.5 to 3 times in 100 samples.
struct Planted {
  std::mt19937_64 random;
  std::vector<double> samples;

  Planted(std::uint64_t seed, std::size_t n) : random(seed) {
    std::normal_distribution<double> noise(0, 1);
    double before = 0;
    for (std::size_t i = 0; i < n; ++i) {
      before = 0.3 * before + std::sqrt(1 - 0.09) * noise(random);
      samples.push_back(kStepNs * std::exp(0.02 * before));
    }
    for (std::size_t k = 0; k < n / 100; ++k) samples[random() % n] *= uniform(1.5, 3);
  }

  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); }
  std::size_t between(std::size_t low, std::size_t high) { return low + random() % (high - low + 1); }

  void scale(std::size_t begin, std::size_t end, double factor) {
    for (std::size_t i = begin; i < std::min(end, samples.size()); ++i) samples[i] *= factor;
  }
};

std::size_t length(std::uint64_t seed) {
  return 60 + (seed * 7919) % 1500;
}

void expect_share(SteadyKind kind, Planted (*make)(std::uint64_t)) {
#ifdef ASSAY_SANITIZED
  constexpr std::uint64_t kSeries = 100;
#else
  constexpr std::uint64_t kSeries = 1000;
#endif
  std::uint64_t right = 0;
  for (std::uint64_t seed = 0; seed < kSeries; ++seed) {
    const auto found = steady_state(make(seed).samples);
    right += found.has_value() && found->kind == kind ? 1 : 0;
  }
  EXPECT_GE(right, kSeries * 95 / 100) << name_of(kind);
  std::printf("%s: %d of %d\n", name_of(kind), static_cast<int>(right), static_cast<int>(kSeries));
}

TEST(Steady, FlatSeriesAreFlat) {
  expect_share(SteadyKind::flat, [](std::uint64_t seed) { return Planted(seed, length(seed)); });
}

TEST(Steady, WarmUpIsFound) {
  expect_share(SteadyKind::warm_up, [](std::uint64_t seed) {
    Planted p(seed, length(seed));
    const std::size_t n = p.samples.size();
    const std::size_t steps = p.between(std::max<std::size_t>(6, n / 20), n / 2);
    const double extra = p.uniform(0.15, 1);
    for (std::size_t i = 0; i < steps; ++i) {
      // Half of them end at once, half fade away.
      const double fade = std::exp(-4 * static_cast<double>(i) / static_cast<double>(steps));
      p.samples[i] *= 1 + extra * (seed % 2 == 0 ? 1 : fade);
    }
    return p;
  });
}

TEST(Steady, SlowDownIsFound) {
  expect_share(SteadyKind::slow_down, [](std::uint64_t seed) {
    Planted p(seed, length(seed));
    const std::size_t n = p.samples.size();
    p.scale(p.between(std::max<std::size_t>(6, n / 10), n / 2), n, p.uniform(1.08, 1.5));
    return p;
  });
}

TEST(Steady, WhatStillChangesHasNoSteadyState) {
  expect_share(SteadyKind::no_steady_state, [](std::uint64_t seed) {
    Planted p(seed, length(seed));
    const std::size_t n = p.samples.size();
    const double factor = seed % 2 == 0 ? p.uniform(1.1, 1.5) : 1 / p.uniform(1.1, 1.5);
    if (seed % 3 == 0) {  // to and fro until the end
      const std::size_t period = n / 6;
      for (std::size_t begin = 0; begin < n; begin += 2 * period) p.scale(begin, begin + period, factor);
    } else {  // a new level in the last third
      p.scale(p.between(n * 3 / 4, n * 9 / 10), n, factor);
    }
    return p;
  });
}

TEST(Steady, BeginsWhereTheWarmUpEnds) {
  Planted p(3, 400);
  p.scale(0, 90, 1.4);
  const auto found = steady_state(p.samples).value();
  EXPECT_EQ(found.kind, SteadyKind::warm_up);
  EXPECT_NEAR(static_cast<double>(found.from), 90, 3);
}

TEST(Steady, FewSamplesTellNothing) {
  EXPECT_FALSE(steady_state({}).has_value());
  EXPECT_FALSE(steady_state(std::vector<double>(11, 1e6)).has_value());
}

TEST(Steady, EqualSamplesAreFlat) {
  EXPECT_EQ(steady_state(std::vector<double>(300, 1e6)).value().kind, SteadyKind::flat);
}

TEST(Steady, StillWarmingIsWhatGetsFasterAtTheEnd) {
  Planted falling(1, 200);
  falling.scale(0, 170, 1.3);
  EXPECT_TRUE(still_warming(falling.samples));
  Planted rising(1, 200);
  rising.scale(170, 200, 1.3);
  EXPECT_FALSE(still_warming(rising.samples));
  EXPECT_FALSE(still_warming(Planted(1, 200).samples));
}

}  // namespace
}  // namespace assay::stats
