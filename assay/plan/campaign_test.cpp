#include "assay/plan/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "assay/plan/plan_fixture.hpp"

namespace assay::plan {
namespace {

using testing::HasSubstr;

Campaign three_trials() {
  Campaign campaign;
  campaign.name = "test";
  for (const std::int64_t batch : {1, 2, 4}) {
    Trial trial;
    trial.workload.network = "toy";
    trial.workload.batch = batch;
    trial.worker = {"fake", "1.0.0"};
    campaign.trials.push_back(trial);
  }
  return campaign;
}

/// The trials' numbers in the order in which block `index` takes them.
std::vector<std::size_t> block(std::int64_t seed, std::int64_t index, std::size_t trials) {
  std::vector<std::size_t> order(trials);
  for (std::size_t i = 0; i < trials; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return run_order(seed, "trial" + std::to_string(a), index) < run_order(seed, "trial" + std::to_string(b), index);
  });
  return order;
}

std::string problem(const Campaign& campaign) {
  try {
    check(campaign, test_catalog());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RunOrder, equals_a_value_computed_independently) {
  // python3: int.from_bytes(hashlib.sha256(b"order 1 abc 0").digest()[:8], "big") >> 1
  EXPECT_EQ(run_order(1, "abc", 0), 2927785975937478634);
  // python3: int.from_bytes(hashlib.sha256(b"seed 1 abc 0").digest()[:8], "big") >> 1 >> 10
  EXPECT_EQ(run_seed(1, "abc", 0), 4292051862978440);
}

TEST(RunOrder, has_no_ties_so_that_every_block_holds_each_trial_once) {
  for (std::int64_t index = 0; index < 20; ++index) {
    std::set<std::int64_t> positions;
    for (int trial = 0; trial < 500; ++trial) positions.insert(run_order(1, "trial" + std::to_string(trial), index));
    EXPECT_EQ(positions.size(), 500u);
    EXPECT_GE(*positions.begin(), 0);
  }
}

TEST(RunOrder, differs_between_blocks_and_with_the_seed) {
  // Ten trials have 10! = 3,628,800 orders; that two of 20 blocks agree by chance has a probability of 5e-5.
  std::set<std::vector<std::size_t>> orders;
  for (std::int64_t index = 0; index < 20; ++index) orders.insert(block(1, index, 10));
  EXPECT_EQ(orders.size(), 20u);
  EXPECT_NE(block(1, 0, 10), block(2, 0, 10));
  EXPECT_EQ(block(1, 3, 10), block(1, 3, 10));
}

TEST(RunOrder, gives_every_trial_every_position_about_equally) {
  // 6,000 blocks of three: each trial comes first 2,000 times on average with a standard deviation of 36.5.
  std::vector<int> first(3, 0);
  for (std::int64_t index = 0; index < 6000; ++index) ++first[block(7, index, 3)[0]];
  for (const int count : first) EXPECT_NEAR(count, 2000, 5 * 36.5);
}

TEST(RunSeed, stays_below_two_to_the_53) {
  for (std::int64_t index = 0; index < 1000; ++index) {
    EXPECT_GE(run_seed(1, "abc", index), 0);
    EXPECT_LT(run_seed(1, "abc", index), std::int64_t{1} << 53);
  }
}

TEST(CampaignId, does_not_depend_on_the_number_of_runs) {
  Campaign more = three_trials();
  more.runs = 99;
  EXPECT_EQ(campaign_id(more, 0), campaign_id(three_trials(), 0));
}

TEST(CampaignId, depends_on_everything_else) {
  const auto changed = [](auto change) {
    Campaign campaign = three_trials();
    change(campaign);
    return campaign_id(campaign, 0);
  };
  const std::set<std::string> ids{
      campaign_id(three_trials(), 0),
      campaign_id(three_trials(), 1),
      changed([](Campaign& c) { c.trials.pop_back(); }),
      changed([](Campaign& c) { c.trials[0].workload.batch = 3; }),
      changed([](Campaign& c) { c.measure.seconds = 3; }),
      changed([](Campaign& c) { c.seed = 2; }),
      changed([](Campaign& c) { c.name = "other"; }),
      changed([](Campaign& c) { c.lockstep = true; }),
  };
  EXPECT_EQ(ids.size(), 8u);
}

TEST(CampaignCheck, names_the_field_and_the_fix) {
  const auto problem_of = [](auto change) {
    Campaign campaign = three_trials();
    change(campaign);
    return problem(campaign);
  };
  EXPECT_EQ(problem(three_trials()), "no error");
  EXPECT_THAT(problem_of([](Campaign& c) { c.name = ""; }), HasSubstr("name: "));
  EXPECT_THAT(problem_of([](Campaign& c) { c.name = "a\x1b[31m"; }), HasSubstr("is a control character"));
  EXPECT_THAT(problem_of([](Campaign& c) { c.seed = -1; }), HasSubstr("seed: -1 is outside"));
  EXPECT_THAT(problem_of([](Campaign& c) { c.runs = 0; }), HasSubstr("runs: 0 is outside"));
  EXPECT_THAT(problem_of([](Campaign& c) { c.measure.seconds = 0; }), HasSubstr("measure.seconds"));
  EXPECT_THAT(problem_of([](Campaign& c) { c.measure.layers = true; }), HasSubstr("measure.layers"));
  EXPECT_THAT(problem_of([](Campaign& c) { c.trials.clear(); }), HasSubstr("trials: there are none"));
  EXPECT_EQ(problem_of([](Campaign& c) { c.lockstep = true; }), "no error");
  EXPECT_THAT(problem_of([](Campaign& c) {
                c.lockstep = true;
                c.trials.resize(1);
              }),
              HasSubstr("lockstep: trials take turns, and there is only one"));
  EXPECT_THAT(problem_of([](Campaign& c) {
                c.lockstep = true;
                c.trials.back().placement.ranks = 2;
              }),
              HasSubstr("has 2 ranks, and several ranks cannot take turns"));
}

}  // namespace
}  // namespace assay::plan
