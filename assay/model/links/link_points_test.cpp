#include "assay/model/links/link_points.hpp"

#include <gtest/gtest.h>

namespace assay::model {
namespace {

store::TrialRow trial_of(const std::string& network, std::int64_t ranks, std::int64_t bytes,
                         const std::string& worker = "mpi") {
  store::TrialRow row;
  row.trial.workload.network = network;
  row.trial.workload.options["bytes"] = bytes;
  row.trial.worker = {worker, "4.1"};
  row.trial.placement.ranks = ranks;
  row.id = trial_id(row.trial);
  return row;
}

store::RunRow run_of(const store::TrialRow& trial, std::int64_t index, std::int64_t median_ns, bool trusted = true) {
  store::RunRow run;
  run.campaign = "c";
  run.trial = trial.id;
  run.index = index;
  run.trusted = trusted;
  run.platform = "here";
  run.summary.median_ns = median_ns;
  return run;
}

TEST(LinkPoints, RunsOfOneWorkerAreOneSetOverCollectivesRanksAndSizes) {
  const std::vector<store::TrialRow> trials{trial_of("all_reduce", 2, 4096), trial_of("all_reduce", 4, 8192),
                                            trial_of("broadcast", 2, 4096),  trial_of("all_reduce", 2, 4096, "pytorch"),
                                            trial_of("resnet50", 2, 1),      trial_of("all_reduce", 1, 4096)};
  std::vector<store::RunRow> runs;
  for (const auto& trial : trials) {
    runs.push_back(run_of(trial, 0, 2000));
    runs.push_back(run_of(trial, 1, 3000));
  }
  const auto sets = link_points(trials, runs);
  ASSERT_EQ(sets.size(), 2u);  // mpi, pytorch; a network and a single rank are no links
  const auto& mpi = sets[0].points.size() == 6 ? sets[0] : sets[1];
  ASSERT_EQ(mpi.points.size(), 6u);
  EXPECT_EQ(mpi.source, "mpi 4.1, default");
  EXPECT_EQ(mpi.points[2].ranks, 4);
  EXPECT_EQ(mpi.points[2].bytes, 8192);
  EXPECT_DOUBLE_EQ(mpi.points[3].seconds, 3e-6);
  EXPECT_EQ(mpi.points[4].collective, Collective::broadcast);
  EXPECT_NE(mpi.points[0].run, mpi.points[1].run);
}

TEST(LinkPoints, ADisturbedRunCountsOnlyWhereThereIsNoOther) {
  const std::vector<store::TrialRow> trials{trial_of("all_reduce", 2, 4096), trial_of("all_reduce", 2, 8192)};
  auto failed = run_of(trials[1], 1, 9000);
  failed.outcome = OutcomeKind::crashed;
  const auto sets = link_points(trials, {run_of(trials[0], 0, 2000), run_of(trials[0], 1, 5000, false),
                                         run_of(trials[1], 0, 7000, false), failed});
  ASSERT_EQ(sets.size(), 1u);
  ASSERT_EQ(sets[0].points.size(), 2u);
  EXPECT_DOUBLE_EQ(sets[0].points[0].seconds, 2e-6);
  EXPECT_DOUBLE_EQ(sets[0].points[1].seconds, 7e-6);
  EXPECT_EQ(sets[0].disturbed, 1);
}

TEST(LinkPoints, AnotherAlgorithmOrPlatformIsAnotherSet) {
  auto ring = trial_of("all_reduce", 2, 4096);
  ring.trial.workload.options["algorithm"] = std::string("ring");
  ring.id = trial_id(ring.trial);
  const auto left = trial_of("all_reduce", 2, 4096);
  auto elsewhere = run_of(left, 1, 3000);
  elsewhere.platform = "there";
  const auto sets = link_points({ring, left}, {run_of(ring, 0, 1), run_of(left, 0, 2), elsewhere});
  EXPECT_EQ(sets.size(), 3u);
}

}  // namespace
}  // namespace assay::model
