#include "assay/compare/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "assay/compare/stopping.hpp"

namespace assay::compare {
namespace {

Trial trial_of(const std::string& release, std::int64_t batch = 1) {
  Trial trial;
  trial.workload.network = "toy";
  trial.workload.batch = batch;
  trial.worker = {"fake", release};
  return trial;
}

/// A store's content, written by hand.
struct Content {
  Material material;
  std::vector<store::CampaignRow> campaigns;

  std::string add_trial(const Trial& trial) {
    const auto id = trial_id(trial);
    for (const auto& row : material.trials) {
      if (row.id == id) return id;
    }
    material.trials.push_back({id, trial});
    return id;
  }

  store::RunRow& add(const Trial& trial, double median_ns, const std::string& campaign = "c1") {
    store::RunRow row;
    row.campaign = campaign;
    row.trial = add_trial(trial);
    row.index = static_cast<std::int64_t>(material.rows.size());
    row.platform = "p1";
    row.started_utc = "2026-11-15T10:00:00Z";
    row.summary.median_ns = std::llround(median_ns);
    material.rows.push_back(row);
    return material.rows.back();
  }

  void add_pair(const Trial& a, const Trial& b, double step_ns, double log_ratio) {
    const std::string id = "pair" + std::to_string(material.rows.size());
    auto& first = add(a, step_ns);
    first.pair = Pair{id, PairSide::a};
    first.digest.pair_log_ratio = log_ratio;
    auto& second = add(b, step_ns * std::exp(log_ratio));
    second.pair = Pair{id, PairSide::b};
    second.digest.pair_log_ratio = log_ratio;
  }

  Comparisons compared(const std::string& a, const std::string& b) {
    return compare(material, Selector(a, campaigns, material.trials), Selector(b, campaigns, material.trials));
  }
};

// Log-ratios ln 1.05 +- .01 in turns: mean ln 1.05, sd of 10 is .01 * sqrt(10/9), so se = .01/3.
TEST(Compare, PairsGiveARatioWithAStudentInterval) {
  Content content;
  for (int i = 0; i < 10; ++i) {
    // The host is twice as slow in half of the pairs: it is in both sides.
    content.add_pair(trial_of("1.0"), trial_of("2.0"), i % 3 == 0 ? 2e6 : 1e6,
                     std::log(1.05) + (i % 2 == 0 ? 0.01 : -0.01));
  }
  const auto out = content.compared("fake==1.0", "fake==2.0");
  ASSERT_EQ(out.all.size(), 1U);
  const auto& c = out.all[0];
  EXPECT_EQ(c.method, Method::lockstep);
  EXPECT_EQ(c.pairs, 10);
  EXPECT_NEAR(*c.ratio, 1.05, 1e-9);
  EXPECT_NEAR(c.difference->standard_error, 0.01 / 3, 1e-12);
  EXPECT_NEAR(std::log(c.ratio_interval->high), std::log(1.05) + 2.262157 * 0.01 / 3, 1e-6);  // t(.975, 9)
  EXPECT_EQ(c.verdict, Verdict::slower);
  EXPECT_TRUE(fails_gate(c, 0.03));
  EXPECT_FALSE(fails_gate(c, 0.06));
}

TEST(Compare, ThePairsTurnAroundWithTheSides) {
  Content content;
  for (int i = 0; i < 10; ++i) {
    content.add_pair(trial_of("1.0"), trial_of("2.0"), 1e6, std::log(1.05) + (i % 2 == 0 ? 0.001 : -0.001));
  }
  const auto out = content.compared("fake==2.0", "fake==1.0");
  EXPECT_NEAR(*out.all.at(0).ratio, 1 / 1.05, 1e-9);
  EXPECT_EQ(out.all[0].verdict, Verdict::faster);
  EXPECT_FALSE(fails_gate(out.all[0], 0));
}

TEST(Compare, ADifferenceBelowWhatTheHostShowsByChanceIsNoVerdict) {
  Content content;
  for (int i = 0; i < 10; ++i) {
    content.add_pair(trial_of("1.0"), trial_of("2.0"), 1e6, std::log(1.02) + (i % 2 == 0 ? 0.001 : -0.001));
  }
  EXPECT_EQ(content.compared("fake==1.0", "fake==2.0").all[0].verdict, Verdict::slower);
  // 1 of 20 comparisons of 10 such pairs differs by t(.975, 9) * .05 / sqrt(10) = 3.6 %.
  content.material.calibrations.push_back({"p1", "", {20, 0.05, 0.1, std::nullopt}});
  const auto after = content.compared("fake==1.0", "fake==2.0").all[0];
  EXPECT_NEAR(after.threshold, std::expm1(2.262157 * 0.05 / std::sqrt(10)), 1e-6);
  EXPECT_EQ(after.verdict, Verdict::no_difference);
  EXPECT_GE(*after.detectable, after.threshold);
}

// Twice the work, and any number of runs of either side disturbed, in processes that spread by a factor of 1 to 4.
TEST(Compare, WithTheWorkDoubledAndRunsDisturbedNoGatePasses) {
  std::mt19937 random(1);
  for (const double spread : {0.01, 0.2, 0.7}) {
    std::normal_distribution<double> noise(0, spread);
    for (int disturbed = 0; disturbed <= 10; ++disturbed) {
      Content content;
      for (int i = 0; i < 10; ++i) {
        content.add(trial_of("1.0"), 1e6 * std::exp(noise(random))).trusted = i >= disturbed;
        content.add(trial_of("2.0"), 2e6 * std::exp(noise(random))).trusted = i >= disturbed / 2;
      }
      const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
      EXPECT_TRUE(fails_gate(c, 0.03) || leaves_gate_open(c, 0.03)) << spread << " " << disturbed;
    }
  }
}

TEST(Compare, ATrialIsComparedWithACampaign) {
  Content content;
  store::CampaignRow later;
  later.id = "c2";
  later.name = "later";
  content.campaigns.push_back(later);
  for (int i = 0; i < 6; ++i) {
    content.add(trial_of("1.0"), 1e6, "c1");
    content.add(trial_of("2.0"), 2e6, "c2");
  }
  const auto out = content.compared("trial:" + trial_id(trial_of("1.0")), "later");
  ASSERT_EQ(out.all.size(), 1U);
  EXPECT_EQ(out.all[0].b.trial.worker.release, "2.0");
}

// The interval ends at 2.26 * .01/3 = .75 % on either side of 1.
TEST(Compare, AGateIsOpenUntilTheIntervalExcludesIt) {
  Content content;
  for (int i = 0; i < 10; ++i) content.add_pair(trial_of("1.0"), trial_of("2.0"), 1e6, i % 2 == 0 ? 0.01 : -0.01);
  const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
  EXPECT_EQ(c.verdict, Verdict::no_difference);
  EXPECT_FALSE(leaves_gate_open(c, 0.008));
  EXPECT_TRUE(leaves_gate_open(c, 0.007));
}

TEST(Compare, WhereEveryRunWasDisturbedTheirMedianIsShownAndSaidToBe) {
  Content content;
  for (int i = 0; i < 7; ++i) {
    content.add(trial_of("1.0"), 1e6 + i).trusted = false;
    content.add(trial_of("2.0"), 2e6);
  }
  const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
  EXPECT_EQ(c.verdict, Verdict::undecided);
  EXPECT_TRUE(c.a.of_disturbed);
  EXPECT_EQ(c.a.median_ns, 1e6 + 3);
  EXPECT_FALSE(c.b.of_disturbed);
}

TEST(Compare, IndependentProcessesAreComparedByTheirLogarithms) {
  Content content;
  for (int i = 0; i < 10; ++i) {
    content.add(trial_of("1.0"), 1e6 * std::exp(i % 2 == 0 ? 0.01 : -0.01));
    content.add(trial_of("2.0"), 1.1e6 * std::exp(i % 2 == 0 ? 0.01 : -0.01));
  }
  const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
  EXPECT_EQ(c.method, Method::welch);
  EXPECT_NEAR(*c.ratio, 1.1, 1e-5);
  EXPECT_NEAR(c.difference->degrees, 18, 1e-6);  // equal spreads and numbers
  EXPECT_EQ(c.verdict, Verdict::slower);
}

// The host was 20 % slower while the second side ran, and the probe saw it; steps follow the probe.
TEST(Compare, TheSpeedProbeTakesASlowHostOff) {
  Content content;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 1);
  for (int i = 0; i < 12; ++i) {
    for (const bool second : {false, true}) {
      const double host = (second ? 0.2 : 0) + 0.05 * noise(random);
      auto& row = content.add(trial_of(second ? "2.0" : "1.0"), 1e6 * std::exp(host + 0.002 * noise(random)));
      row.digest.probe_ns = 2e6 * std::exp(host);
    }
  }
  const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
  EXPECT_EQ(c.method, Method::covariate);
  EXPECT_NEAR(*c.ratio, 1, 0.01);
  EXPECT_EQ(c.verdict, Verdict::no_difference);
}

TEST(Compare, DisturbedRunsAreLeftOutAndTooFewLeaveItUndecided) {
  Content content;
  for (int i = 0; i < 10; ++i) {
    content.add(trial_of("1.0"), 1e6 + i);
    content.add(trial_of("2.0"), 2e6 + i).trusted = i < 5;
  }
  const auto c = content.compared("fake==1.0", "fake==2.0").all.at(0);
  EXPECT_EQ(c.verdict, Verdict::undecided);
  EXPECT_EQ(c.b.runs, 5);
  EXPECT_EQ(c.b.disturbed, 5);
  EXPECT_NE(c.reason.find("5 were disturbed"), std::string::npos) << c.reason;
  EXPECT_FALSE(fails_gate(c, 0));
}

TEST(Compare, FewRunsProveOnlyLargeDifferences) {
  Content content;
  for (int i = 0; i < 6; ++i) {
    content.add(trial_of("1.0"), 1e6 + i);
    content.add(trial_of("2.0"), 1.04e6 + i);
    content.add(trial_of("3.0"), 1.06e6 + i);
  }
  EXPECT_EQ(content.compared("fake==1.0", "fake==2.0").all.at(0).verdict, Verdict::no_difference);
  EXPECT_EQ(content.compared("fake==1.0", "fake==3.0").all.at(0).verdict, Verdict::slower);
}

TEST(Compare, TrialsAreMatchedByWhatTheSidesDoNotSay) {
  Content content;
  for (const std::int64_t batch : {1, 2, 3}) {
    for (int i = 0; i < 6; ++i) {
      if (batch != 3) content.add(trial_of("1.0", batch), 1e6 + i);
      content.add(trial_of("2.0", batch), 1e6 + i);
    }
  }
  const auto out = content.compared("fake==1.0", "fake==2.0");
  ASSERT_EQ(out.all.size(), 2U);
  EXPECT_EQ(out.all[0].a.trial.workload.batch, out.all[0].b.trial.workload.batch);
  EXPECT_EQ(out.only_b, 1);
  EXPECT_EQ(out.only_a, 0);
}

TEST(Compare, NumbersOfTwoPlatformsAreNeverMixed) {
  Content content;
  for (int i = 0; i < 6; ++i) {
    content.add(trial_of("1.0"), 1e6 + i);
    content.add(trial_of("2.0"), 1e6 + i).platform = "p2";
  }
  const auto out = content.compared("fake==1.0", "fake==2.0");
  EXPECT_TRUE(out.all.empty());
  EXPECT_EQ(out.only_a + out.only_b, 2);
  for (int i = 0; i < 6; ++i) content.add(trial_of("2.0"), 2e6 + i);
  const auto across = content.compared("platform:p1", "platform:p2");
  ASSERT_EQ(across.all.size(), 1U);
  EXPECT_NEAR(*across.all[0].ratio, 0.5, 1e-3);
}

TEST(Compare, SidesMayBeSettingsAndDates) {
  Content content;
  auto one = trial_of("1.0");
  one.settings.intra_op = 1;
  auto two = trial_of("1.0");
  two.settings.intra_op = 2;
  for (int i = 0; i < 6; ++i) {
    content.add(one, 2e6 + i);
    content.add(two, 1e6 + i).started_utc = "2026-11-16T00:00:00Z";
    content.add(one, 3e6 + i).started_utc = "2026-11-16T00:00:00Z";
  }
  EXPECT_NEAR(*content.compared("intra_op=1", "intra_op=2").all.at(0).ratio, 1 / 2.45, 0.01);
  const auto dates = content.compared("2026-11-15", "2026-11-16");
  ASSERT_EQ(dates.all.size(), 1U);
  EXPECT_NEAR(*dates.all[0].ratio, 1.5, 1e-3);
  EXPECT_EQ(dates.only_b, 1);
}

TEST(Compare, ManyComparisonsAreAdjusted) {
  Content content;
  for (std::int64_t batch = 1; batch <= 50; ++batch) {
    for (int i = 0; i < 10; ++i) {
      // About p = .003 each: a verdict for one alone, none among fifty.
      content.add(trial_of("1.0", batch), 1e6 * std::exp(0.02 * std::sin(i + 1.0 * static_cast<double>(batch))));
      content.add(trial_of("2.0", batch), 1.022e6 * std::exp(0.02 * std::cos(i * 1.3)));
    }
  }
  const auto out = content.compared("fake==1.0", "fake==2.0");
  ASSERT_EQ(out.all.size(), 50U);
  const auto raw = stats::p_value(*out.all[0].difference);
  EXPECT_LT(raw, 0.01);
  EXPECT_GT(*out.all[0].p, 0.01);
  EXPECT_EQ(out.all[0].verdict, Verdict::no_difference);
}

TEST(Compare, AnUnknownSideSaysWhatThereIs) {
  Content content;
  content.add(trial_of("1.0"), 1e6);
  try {
    content.compared("nihgtly", "fake==1.0");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("fake"), std::string::npos);
  }
  EXPECT_THROW(content.compared("no_such_setting=1", "fake==1.0"), Error);
}

store::CampaignRow stopping_campaign(double half_width, std::int64_t most) {
  store::CampaignRow campaign;
  campaign.measure.stop = Stop{half_width, most, std::nullopt};
  return campaign;
}

TEST(Stopping, AsksForRunsUpToTheNextLookOnly) {
  Content content;
  const auto trial = trial_of("1.0");
  const auto campaign = stopping_campaign(0.01, 20);
  content.add_trial(trial);
  EXPECT_EQ(look(campaign, content.material.trials, {}).at(0).wanted, 8);
  for (int i = 0; i < 8; ++i) content.add(trial, 1e6 * (1 + 0.01 * i));  // X(1)..X(8): 7 % wide
  const auto wide = look(campaign, content.material.trials, content.material.rows).at(0);
  EXPECT_NEAR(*wide.half_width, 0.035 / 1.035, 1e-9);
  EXPECT_EQ(wide.wanted, 12);
  // Between looks nothing is judged, however narrow it is.
  content.add(trial, 1.035e6);
  EXPECT_EQ(look(stopping_campaign(0.9, 20), content.material.trials, content.material.rows).at(0).wanted, 12);
}

TEST(Stopping, EndsWhenTheIntervalIsNarrowOrNothingIsLeft) {
  Content content;
  const auto trial = trial_of("1.0");
  for (int i = 0; i < 8; ++i) content.add(trial, 1e6 * (1 + 0.001 * i));
  EXPECT_EQ(look(stopping_campaign(0.01, 20), content.material.trials, content.material.rows).at(0).wanted, 8);
  EXPECT_EQ(look(stopping_campaign(0.0001, 8), content.material.trials, content.material.rows).at(0).wanted, 8);
  auto timed = stopping_campaign(0.0001, 20);
  timed.measure.stop->seconds = 10;
  for (auto& row : content.material.rows) row.duration_ns = 1'000'000'000;
  EXPECT_EQ(look(timed, content.material.trials, content.material.rows).at(0).wanted, 12);
  for (auto& row : content.material.rows) row.duration_ns = 2'000'000'000;
  EXPECT_EQ(look(timed, content.material.trials, content.material.rows).at(0).wanted, 8);
}

TEST(Calibration, LearnsTheSpreadOfPairsAndProcesses) {
  Content content;
  for (int i = 0; i < 10; ++i)
    content.add_pair(trial_of("1.0"), trial_of("2.0"), i % 2 == 0 ? 1e6 : 2e6, i % 2 == 0 ? 0.01 : -0.01);
  const auto noise = noise_of(content.material.rows);
  EXPECT_EQ(noise.pairs, 10);
  EXPECT_NEAR(noise.pair, 0.01 * std::sqrt(10.0 / 9), 1e-9);
  // Two levels, ln 2 apart (and 2 % nearer on the second side): sd about ln 2 / 2 * sqrt(10/9).
  EXPECT_NEAR(noise.process, 0.3465736 * std::sqrt(10.0 / 9), 0.01);
  EXPECT_LT(detectable(noise, Method::lockstep, 20), detectable(noise, Method::welch, 20) / 20);
  // t(.995, 19) + t(.8, 19) = 2.860935 + 0.860951
  EXPECT_NEAR(detectable(noise, Method::lockstep, 20), (2.860935 + 0.860951) * noise.pair / std::sqrt(20), 1e-6);
  content.material.rows.resize(10);
  EXPECT_THROW(noise_of(content.material.rows), Error);
}

}  // namespace
}  // namespace assay::compare
