#include "assay/compare/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::compare {
namespace {

using testing::HasSubstr;

constexpr double kStudent7 = 2.364624;  // quantile .975 at 7 degrees of freedom, from tables

Trial trial_of_release(const std::string& release) {
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {"fake", release};
  return trial;
}

/// Lock-step groups of the releases 1, 2, 3, …, written by hand.
struct Measured {
  Material material;

  void add(const std::string& group, const std::string& release, PairSide side, double log_ratio) {
    store::RunRow row;
    row.trial = trial_id(trial_of_release(release));
    row.platform = "p1";
    row.campaign = "c1";
    row.summary.median_ns = std::llround(1e6 * std::exp(log_ratio));
    row.pair = Pair{group, side};
    if (side == PairSide::b) row.digest.pair_log_ratio = log_ratio;
    material.rows.push_back(row);
    for (const auto& known : material.trials) {
      if (known.id == row.trial) return;
    }
    material.trials.push_back({row.trial, trial_of_release(release)});
  }

  /// One group: release 1 is the reference, the others have these ratios to it.
  void add_group(const std::vector<double>& log_ratios) {
    const auto group = "g" + std::to_string(material.rows.size());
    add(group, "1", PairSide::a, 0);
    for (std::size_t i = 0; i < log_ratios.size(); ++i) {
      add(group, std::to_string(i + 2), PairSide::b, log_ratios[i]);
    }
  }

  Families compared(std::size_t sides, FamilyReference reference = FamilyReference::first) const {
    std::vector<Selector> selectors;
    for (std::size_t i = 1; i <= sides; ++i)
      selectors.emplace_back("fake==" + std::to_string(i), rows_, material.trials);
    return compare_all(material, selectors, reference);
  }

  std::vector<store::CampaignRow> rows_;
};

/// Eight groups of three: the second takes 10 % more than the first, the third the same. They scatter by 1 %, the third
/// always the other way than the second.
Measured three_sides() {
  Measured measured;
  for (int i = 0; i < 8; ++i) {
    const double off = i % 2 == 0 ? 0.01 : -0.01;
    measured.add_group({std::log(1.1) + off, -off});
  }
  return measured;
}

TEST(Families, EverySideHasARatioToTheFirstWithStudentsIntervalOverGroups) {
  const auto found = three_sides().compared(3);
  ASSERT_EQ(found.all.size(), 1u);
  const auto& sides = found.all[0].sides;
  ASSERT_EQ(sides.size(), 3u);
  EXPECT_EQ(found.all[0].reference, 0u);
  EXPECT_EQ(sides[0].ratio, 1.0);
  EXPECT_FALSE(sides[0].ratio_interval);
  EXPECT_NEAR(*sides[1].ratio, 1.1, 1e-12);
  // Eight values .01 off their mean: variance 8 x .01^2 / 7, of their mean .01^2 / 7.
  const double half = kStudent7 * 0.01 / std::sqrt(7);
  EXPECT_NEAR(std::log(sides[1].ratio_interval->high), std::log(1.1) + half, 1e-7);
  EXPECT_NEAR(std::log(sides[2].ratio_interval->low), -half, 1e-7);
  EXPECT_EQ(sides[2].side.runs, 8);
}

TEST(Families, AnyTwoSidesAreComparedWithinTheirGroups) {
  const auto found = three_sides().compared(3);
  const auto& pairs = found.all[0].pairs;
  ASSERT_EQ(pairs.size(), 3u);
  // 1 2, 1 3, 2 3
  EXPECT_EQ(pairs[0].comparison.verdict, Verdict::slower);
  EXPECT_EQ(pairs[1].comparison.verdict, Verdict::no_difference);
  EXPECT_EQ(*pairs[1].comparison.p, 1.0) << "its mean is 0";
  EXPECT_EQ(pairs[2].first, 1u);
  EXPECT_EQ(pairs[2].second, 2u);
  const auto& c = pairs[2].comparison;
  EXPECT_EQ(c.method, Method::lockstep);
  EXPECT_EQ(c.pairs, 8);
  EXPECT_EQ(c.verdict, Verdict::faster);
  EXPECT_NEAR(*c.ratio, 1 / 1.1, 1e-12);
  // Both scatter by .01, against each other: .02.
  EXPECT_NEAR(std::log(c.ratio_interval->high), -std::log(1.1) + kStudent7 * 0.02 / std::sqrt(7), 1e-7);
  EXPECT_THAT(sentence(pairs[2], {"A", "B", "C"}), HasSubstr("C takes 9.1 % less time than B"));
  EXPECT_THAT(sentence(pairs[2], {"A", "B", "C"}), HasSubstr("8 groups"));
  EXPECT_THAT(sentence(pairs[1], {"A", "B", "C"}), HasSubstr("C and A: no difference seen"));
}

TEST(Families, RatiosMayBeToTheFastest) {
  Measured measured;
  for (int i = 0; i < 8; ++i) measured.add_group({std::log(0.8) + (i % 2 == 0 ? 0.01 : -0.01), std::log(1.2)});
  const auto family = measured.compared(3, FamilyReference::fastest).all.at(0);
  EXPECT_EQ(family.reference, 1u);
  EXPECT_NEAR(*family.sides[0].ratio, 1 / 0.8, 1e-12);
  EXPECT_EQ(family.sides[1].ratio, 1.0);
  EXPECT_NEAR(*family.sides[2].ratio, 1.5, 1e-12);
  const double half = kStudent7 * 0.01 / std::sqrt(7);
  EXPECT_NEAR(std::log(family.sides[0].ratio_interval->low), -std::log(0.8) - half, 1e-7);
  EXPECT_NEAR(std::log(family.sides[0].ratio_interval->high), -std::log(0.8) + half, 1e-7);
}

TEST(Families, VerdictsShareOneErrorRate) {
  // Eight groups, t = 4.2 at 7 degrees of freedom: p = .0040 alone. Of two sides that is a verdict, of five it is not:
  // the smallest p of ten pairs counts ten times.
  const double scatter = 0.06 * std::sqrt(7) / 4.2;
  for (const std::size_t sides : {2, 5}) {
    Measured measured;
    for (int i = 0; i < 8; ++i) {
      std::vector<double> ratios(sides - 1, 0.0);
      ratios[0] = 0.06 + (i % 2 == 0 ? scatter : -scatter);
      for (std::size_t other = 1; other < ratios.size(); ++other) {
        ratios[other] = (i + static_cast<int>(other)) % 4 < 2 ? 0.1 : -0.1;
      }
      measured.add_group(ratios);
    }
    const auto found = measured.compared(sides);
    const auto& first = found.all.at(0).pairs.at(0).comparison;
    EXPECT_EQ(first.verdict, sides == 2 ? Verdict::slower : Verdict::no_difference) << *first.p;
    EXPECT_NEAR(*first.p, sides == 2 ? 0.0040 : 0.040, sides == 2 ? 0.0001 : 0.001);
  }
}

TEST(Families, TwoGroupsGiveAnIntervalAndNoVerdict) {
  Measured measured;
  measured.add_group({0.10, 0.20});
  measured.add_group({0.12, 0.20});
  const auto family = measured.compared(3).all.at(0);
  // Two values .01 off their mean: se .01, Student's quantile at 1 degree of freedom 12.7062.
  EXPECT_NEAR(std::log(family.sides[1].ratio_interval->high), 0.11 + 12.7062 * 0.01, 1e-5);
  EXPECT_EQ(family.pairs[0].comparison.verdict, Verdict::undecided);
  EXPECT_THAT(sentence(family.pairs[0], {"A", "B", "C"}), HasSubstr("B and A: undecided, because 2 good runs"));
}

TEST(Families, TrialsThatASideLacksAreCounted) {
  auto measured = three_sides();
  EXPECT_EQ(measured.compared(3).incomplete, 0);
  auto& trials = measured.material.trials;
  trials.push_back({trial_id(trial_of_release("4")), trial_of_release("4")});
  const auto found = measured.compared(4);
  EXPECT_TRUE(found.all.empty());
  EXPECT_EQ(found.incomplete, 1);
}

}  // namespace
}  // namespace assay::compare
