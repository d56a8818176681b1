#include "assay/report/subjects/fleet.hpp"

#include <gmock/gmock.h>

#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::HasSubstr;

store::RunRow run_of(double seconds, OutcomeKind outcome = OutcomeKind::ok, const std::string& message = "") {
  store::RunRow row;
  row.duration_ns = static_cast<std::int64_t>(seconds * 1e9);
  row.outcome = outcome;
  row.message = message;
  return row;
}

/// 6 of 10 runs are done, 3 of them failed; two agents are at work.
Fleet example() {
  store::CampaignRow campaign;
  campaign.id = "0123456789abcdef0123456789abcdef";
  campaign.name = "nightly";
  campaign.progress = {10, 2, 2, 6, 3, 1};
  store::TrialRow trial{"t1", {}};
  trial.trial.workload.network = "toy";
  trial.trial.worker = {"fake", "1.0"};
  auto again = run_of(50);
  again.counted = false;
  return fleet_of(campaign, {{"t1", 4, 0, "node1", 77, 12.4}, {"t1", 5, 1, "node2", 78, -3}}, {trial},
                  {run_of(1), run_of(2), run_of(3), again, run_of(10, OutcomeKind::crashed, "signal 11"),
                   run_of(4, OutcomeKind::timed_out, "silent"), run_of(5, OutcomeKind::timed_out, "silent")});
}

TEST(Fleet, SaysWhoIsAtWhatAndWhatFailed) {
  const auto fleet = example();
  ASSERT_EQ(fleet.at_work.size(), 2u);
  EXPECT_EQ(fleet.at_work[0].host, "node1");
  EXPECT_THAT(fleet.at_work[0].title, HasSubstr("toy"));
  ASSERT_EQ(fleet.failures.size(), 2u);
  EXPECT_EQ(fleet.failures[0].outcome, "timed_out");
  EXPECT_EQ(fleet.failures[0].runs, 2);
  EXPECT_EQ(fleet.failures[1].message, "signal 11");
}

TEST(Fleet, TheRestTakesAsLongAsRunsTookUntilNow) {
  // Of 1, 2, 3, 4, 5, 10 and 50 s the median is 4 s; 4 runs are left for 2 agents.
  EXPECT_EQ(example().seconds_left, 8.0);
  store::CampaignRow campaign;
  campaign.progress.runs = 3;
  EXPECT_FALSE(fleet_of(campaign, {}, {}, {run_of(1)}).seconds_left) << "nobody is at work";
  EXPECT_FALSE(fleet_of(campaign, {{"t1", 0, 0, "n", 1, 1}}, {}, {}).seconds_left) << "nothing is done yet";
}

TEST(Fleet, APersonReadsItInOneLook) {
  const auto text = as_terminal(fleet_document(example()), {});
  EXPECT_THAT(text, HasSubstr("nightly 01234567: 6 of 10 runs done, 3 of them failed, 1 measured again; 2 running, 2 "
                              "ready; about 8 s left"));
  EXPECT_THAT(text, HasSubstr("node1"));
  EXPECT_THAT(text, HasSubstr("12 s"));
  EXPECT_THAT(text, HasSubstr("ran out"));
  EXPECT_THAT(text, HasSubstr("timed_out"));
}

TEST(Fleet, SaysWhatSlurmKnowsOfItsAgents) {
  auto fleet = example();
  fleet.submissions = {{"00ff00ff00ff00ff", 8, 1, "2026-01-02T03:04:05.000Z", "/logs", 3, 4, "Resources"},
                       {"11ff00ff00ff00ff", 2, 1, "2026-01-02T04:04:05.000Z", "/logs", {}, {}, {}}};
  const auto text = as_terminal(fleet_document(fleet), {});
  EXPECT_THAT(text, HasSubstr("4 running, 3 pending (Resources), 1 ended or unknown to Slurm"));
  EXPECT_THAT(text, HasSubstr("Slurm cannot be asked here"));
}

}  // namespace
}  // namespace assay::report
