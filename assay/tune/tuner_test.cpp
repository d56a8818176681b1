#include "assay/tune/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay::tune {
namespace {

using testing::ElementsAre;

const Resources kTwoNodes{2, 2, 8, 8, {}};

Trial trial_with(const Settings& settings) {
  Trial trial;
  trial.workload.network = "toy";
  trial.settings = settings;
  return trial;
}

std::vector<std::string> told(const std::vector<FactorStep>& steps) {
  std::vector<std::string> out;
  for (const auto& step : steps) out.push_back(step.name + ": " + step.settings + " -> " + title(step.trial.settings));
  return out;
}

TEST(Factors, go_from_one_to_the_other_one_kind_at_a_time) {
  Settings best;
  best.instances = 2;
  best.affinity = Affinity::compact;
  best.inter_op = 1;
  best.intra_op = 4;
  best.spin = false;
  const auto steps = steps_between(trial_with({}), trial_with(best), kTwoNodes);
  EXPECT_THAT(
      told(steps),
      ElementsAre("scheduler pools: inter_op=1 -> inter_op=1", "operator threads: intra_op=4 -> inter_op=1 intra_op=4",
                  "library: spin=false -> inter_op=1 intra_op=4 spin=false",
                  "placement: instances=2 affinity=compact -> affinity=compact instances=2 inter_op=1 intra_op=4 "
                  "spin=false"));
  EXPECT_EQ(trial_id(steps.back().trial), trial_id(trial_with(best)));
}

TEST(Factors, take_back_what_a_guide_had_set) {
  Settings guide;
  guide.allocator = Allocator::tcmalloc;
  guide.env = {{"KMP_BLOCKTIME", "1"}};
  const auto steps = steps_between(trial_with(guide), trial_with({}), kTwoNodes);
  EXPECT_THAT(told(steps), ElementsAre("library: allocator left alone no variables -> default"));
}

TEST(Factors, are_none_between_equals_and_end_with_what_is_computed) {
  EXPECT_THAT(steps_between(trial_with({}), trial_with({}), kTwoNodes), testing::IsEmpty());
  auto other = trial_with({});
  other.workload.precision = "bf16";
  other.settings.intra_op = 2;
  const auto steps = steps_between(trial_with({}), other, kTwoNodes);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].trial.workload.precision, "fp32");
  EXPECT_EQ(steps[1].name, "computation");
  EXPECT_EQ(trial_id(steps[1].trial), trial_id(other));
}

TEST(Candidates, hold_every_guide_once_and_seeds_are_distinct) {
  plan::WorkerInfo worker;
  worker.name = "tensorflow";
  worker.settings = {"inter_op", "intra_op"};
  GuideInput situation{kTwoNodes, network::Width{58, 22}, {}};
  SpaceRequest request{{trial_with({})}, {}, GoalMetric::throughput};
  const auto space = space_of(request, worker, situation);
  const auto all = candidates_of(space, trial_with({}), worker, situation, GoalMetric::throughput);
  std::set<std::string> ids;
  for (const auto& trial : all.trials) EXPECT_TRUE(ids.insert(trial_id(trial)).second) << title(trial);
  EXPECT_EQ(all.rivals.front().baseline.name, "framework-default");
  EXPECT_EQ(title(all.trials[all.rivals.front().candidate].settings), "default");
  const std::set<std::size_t> seeds(all.seeds.begin(), all.seeds.end());
  EXPECT_EQ(seeds.size(), all.seeds.size());
  for (const auto& rival : all.rivals) EXPECT_TRUE(seeds.count(rival.candidate)) << rival.baseline.name;
  // The paper's rule on 2 instances of 4 cores: 3 pools of one thread.
  Settings shared;
  shared.instances = 2;
  shared.inter_op = 3;
  shared.intra_op = 1;
  shared.affinity = Affinity::compact;
  shared.memory_bind = MemoryBind::local;
  EXPECT_TRUE(std::any_of(seeds.begin(), seeds.end(), [&](std::size_t seed) {
    return trial_id(all.trials[seed]) == trial_id(trial_with(shared));
  }));
}

TEST(Candidates, keep_the_users_variables_in_every_guide) {
  plan::WorkerInfo worker;
  worker.name = "tensorflow";
  auto base = trial_with({});
  base.settings.env = {{"MINE", "1"}};
  const auto all = candidates_of({}, base, worker, {kTwoNodes, {}, {}}, GoalMetric::latency);
  for (const auto& rival : all.rivals) EXPECT_EQ(all.trials[rival.candidate].settings.env.at("MINE"), "1");
}

Gain gain_over(const char* baseline, double value, double low, double high) {
  Gain gain;
  gain.baseline = baseline;
  gain.gain = {value, low, high, 6};
  return gain;
}

TEST(Answer, is_a_baseline_that_is_proved_to_be_faster) {
  const auto slower = gain_over("a", 1.2, 1.1, 1.3);
  const auto perhaps = gain_over("b", 0.95, 0.89, 1.01);  // its interval has 1 in it
  const auto hardly = gain_over("c", 0.995, 0.992, 0.998);
  EXPECT_FALSE(faster_baseline({}).has_value());
  EXPECT_FALSE(faster_baseline({slower, perhaps, hardly}).has_value());
  const auto faster = gain_over("d", 0.98, 0.97, 0.99);
  EXPECT_EQ(faster_baseline({slower, faster, perhaps}), 1u);
  EXPECT_EQ(faster_baseline({faster, slower, gain_over("e", 0.9, 0.85, 0.95)}), 2u);
  Gain unknown;  // the same settings, or too few pairs for an interval
  unknown.same = true;
  EXPECT_FALSE(faster_baseline({unknown}).has_value());
}

}  // namespace
}  // namespace assay::tune
