#include "assay/compare/part_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "assay/compare/estimate.hpp"
#include "assay/core/workloads/learning.hpp"

namespace assay::compare {
namespace {

store::RunRow paired(PairSide side, std::int64_t step, std::int64_t first) {
  store::RunRow row;
  row.pair = Pair{"g", side};
  row.summary.median_ns = step;
  row.summary.generated.emplace().first_token_ns = first;
  row.digest.pair_log_ratio = 0.5;
  return row;
}

TEST(PartTimes, TheFirstTokenStandsForTheStepAndItsRatioForThatOfTheGroup) {
  std::vector<store::RunRow> rows{paired(PairSide::b, 1000, 300), paired(PairSide::a, 900, 100), store::RunRow{}};
  rows[2].summary.median_ns = 5;
  take_times_of(TimeOf::first_token, rows);
  EXPECT_EQ(rows[0].summary.median_ns, 300);
  EXPECT_NEAR(*rows[0].digest.pair_log_ratio, std::log(3.0), 1e-12);
  EXPECT_FALSE(rows[1].digest.pair_log_ratio);
  EXPECT_FALSE(rows[2].summary.median_ns);  // it generates nothing
}

TEST(PartTimes, OfTheWholeStepNothingChanges) {
  std::vector<store::RunRow> rows{paired(PairSide::b, 1000, 300)};
  take_times_of(TimeOf::step, rows);
  EXPECT_EQ(rows[0].summary.median_ns, 1000);
  EXPECT_EQ(rows[0].digest.pair_log_ratio, 0.5);
}

store::RunRow learnt(bool reached, std::int64_t ns) {
  store::RunRow row;
  row.outcome = OutcomeKind::ok;
  row.counted = true;
  row.summary.median_ns = 7;
  Learned learned;
  learned.reached = reached;
  learned.ns = ns;
  row.digest.effective[kLearned] = {to_json(learned)};
  return row;
}

TEST(PartTimes, TheTimeToAnAccuracyStandsForTheStep) {
  Material material;
  material.rows = {learnt(true, 500), store::RunRow{}, learnt(false, 900)};
  material.rows[1].summary.median_ns = 5;
  take_times_to_accuracy(material);
  EXPECT_TRUE(material.to_accuracy);
  EXPECT_EQ(material.rows[0].summary.median_ns, 500);
  EXPECT_FALSE(material.rows[1].summary.median_ns);  // it learns nothing
  EXPECT_FALSE(material.rows[2].summary.median_ns);  // longer than 900, and how long is not known
}

/// Runs of networks that learn, by their optimizer.
struct Trainings {
  Material material;

  void add(const std::string& optimizer, bool reached, std::int64_t ns, std::int64_t epochs = 100) {
    Trial trial;
    trial.workload.network = "mlp";
    trial.workload.mode = Mode::train;
    trial.workload.data = kDigits;
    trial.workload.options = {
        {"until", std::string("accuracy>=97%")}, {"epochs", epochs}, {"optimizer", optimizer}, {"learning_rate", 0.01}};
    trial.worker = {"fake", "1.0"};
    const auto id = trial_id(trial);
    if (trials_by_id(material).count(id) == 0) material.trials.push_back({id, trial});
    Learned learned;
    learned.reached = reached;
    learned.ns = ns;
    store::RunRow row;
    row.campaign = optimizer;
    row.trial = id;
    row.platform = "p1";
    row.digest.effective[kLearned] = {to_json(learned)};
    material.rows.push_back(row);
  }

  Comparison compared() {
    take_times_to_accuracy(material);
    const std::vector<store::CampaignRow> none;
    const Selector a("trial:" + material.trials.at(0).id, none, material.trials);
    const Selector b("trial:" + material.trials.at(1).id, none, material.trials);
    return compare(material, a, b).all.at(0);
  }
};

// p is 2 / C(12, 6): see Ranks.ASideThatNeverEndsIsProvedBySixRuns.
TEST(Reached, ASideThatNeverGetsThereIsSlowerByRanks) {
  Trainings trainings;
  for (std::int64_t i = 0; i < 6; ++i) {
    trainings.add("sgd", true, 100 + i);
    trainings.add("adam", false, 50);  // it ended sooner, and has not got there
  }
  const auto c = trainings.compared();
  EXPECT_EQ(c.method, Method::ranks);
  EXPECT_EQ(c.verdict, Verdict::slower);
  EXPECT_DOUBLE_EQ(*c.p, 2.0 / 924);
  EXPECT_EQ(c.b.not_reached, 6);
  EXPECT_EQ(c.b.runs, 6);
  EXPECT_EQ(c.a.median_ns, 102.5);
  EXPECT_FALSE(c.b.median_ns);
  EXPECT_FALSE(c.ratio);
  EXPECT_TRUE(fails_gate(c, 0.03));
  EXPECT_FALSE(leaves_gate_open(c, 0.03));
  EXPECT_EQ(sentence(c),
            "The second takes more time: 6 of 6 runs of the first and 0 of 6 of the second have reached the accuracy "
            "(p = 0.0022, by ranks).");
}

TEST(Reached, TheOtherWayRoundItIsFaster) {
  Trainings trainings;
  for (std::int64_t i = 0; i < 6; ++i) {
    trainings.add("adam", false, 50);
    trainings.add("sgd", true, 100 + i);
  }
  const auto c = trainings.compared();
  EXPECT_EQ(c.verdict, Verdict::faster);
  EXPECT_FALSE(fails_gate(c, 0.03));
  EXPECT_FALSE(leaves_gate_open(c, 0.03));
}

// Of 7 runs of a side the fourth is the median: 103 and 206, though one of the first did not get there.
TEST(Reached, WhereMostGetThereTheMediansHaveARatio) {
  Trainings trainings;
  for (std::int64_t i = 0; i < 7; ++i) {
    trainings.add("sgd", i != 6, 100 + i);
    trainings.add("adam", true, 200 + 2 * i);
  }
  const auto c = trainings.compared();
  EXPECT_EQ(*c.ratio, 2);
  EXPECT_FALSE(c.ratio_interval);
  EXPECT_EQ(c.a.not_reached, 1);
  // Six runs of the first are below all seven of the second, the seventh is above them.
  EXPECT_DOUBLE_EQ(c.ranks->b_above_a, 6.0 / 7);
  EXPECT_NEAR(*c.p, 0.026223776223776224, 1e-12);  // SciPy's mannwhitneyu, exact
  EXPECT_EQ(c.verdict, Verdict::no_difference);
  EXPECT_TRUE(leaves_gate_open(c, 0.03));
}

TEST(Reached, WhereNobodyGetsThereNothingIsProved) {
  Trainings trainings;
  for (int i = 0; i < 10; ++i) {
    trainings.add("sgd", false, 100);
    trainings.add("adam", false, 200);
  }
  const auto c = trainings.compared();
  EXPECT_EQ(c.verdict, Verdict::no_difference);
  EXPECT_EQ(*c.p, 1);
  EXPECT_TRUE(leaves_gate_open(c, 0.03));
}

TEST(Reached, FewRunsAreTooFew) {
  Trainings trainings;
  for (int i = 0; i < 5; ++i) {
    trainings.add("sgd", true, 100);
    trainings.add("adam", false, 200);
  }
  EXPECT_EQ(trainings.compared().verdict, Verdict::undecided);
}

TEST(Reached, WhereAllGetThereTimesAreCompared) {
  Trainings trainings;
  for (std::int64_t i = 0; i < 6; ++i) {
    trainings.add("sgd", true, 100 + i);
    trainings.add("adam", true, 200 + i);
  }
  const auto c = trainings.compared();
  EXPECT_EQ(c.method, Method::welch);
  EXPECT_TRUE(c.ratio_interval);
}

TEST(Reached, OtherNumbersOfEpochsAreRefusedOnlyWhereARunHasNotGotThere) {
  const auto sides = [](bool reached) {
    Trainings trainings;
    for (std::int64_t i = 0; i < 6; ++i) {
      trainings.add("sgd", true, 100 + i, 100);
      trainings.add("sgd", reached, 200 + i, 20);
    }
    return trainings;
  };
  EXPECT_NO_THROW(sides(true).compared());
  EXPECT_THROW(sides(false).compared(), Error);
}

TEST(Reached, DisturbedRunsAreLeftOutAndCounted) {
  Trainings trainings;
  for (std::int64_t i = 0; i < 7; ++i) {
    trainings.add("sgd", true, 100 + i);
    trainings.add("adam", false, 200);
  }
  trainings.material.rows[1].trusted = false;
  const auto c = trainings.compared();
  EXPECT_EQ(c.b.runs, 6);
  EXPECT_EQ(c.b.not_reached, 6);
  EXPECT_EQ(c.b.disturbed, 1);
}

}  // namespace
}  // namespace assay::compare
