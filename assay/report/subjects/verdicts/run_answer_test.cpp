#include "assay/report/subjects/verdicts/run_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Trial answered_trial(std::optional<std::int64_t> threads, const std::string& worker = "fake") {
  Trial trial;
  trial.workload.network = "toy";
  trial.worker = {worker, "1.0.0"};
  trial.settings.intra_op = threads;
  return trial;
}

/// Runs of one trial after another, with these medians.
struct AnsweredRuns {
  compare::Material material;

  void add(const Trial& trial, const std::vector<std::int64_t>& medians_ns) {
    material.trials.push_back({trial_id(trial), trial});
    for (const auto ns : medians_ns) {
      store::RunRow row;
      row.trial = trial_id(trial);
      row.platform = "p";
      row.campaign = "c";
      row.started_utc = "2026-01-01T00:00:00.000Z";
      row.summary.median_ns = ns;
      material.rows.push_back(row);
    }
  }

  void add(const Trial& trial, std::int64_t median_ns, int runs) {
    add(trial, std::vector<std::int64_t>(static_cast<std::size_t>(runs), median_ns));
  }
};

std::string said_of(const AnsweredRuns& runs) {
  return as_terminal(run_verdicts(runs.material), {});
}

TEST(RunVerdicts, SayWhatTheSecondTakesAgainstTheFirst) {
  AnsweredRuns slower;
  slower.add(answered_trial(1), 300'000, 10);
  slower.add(answered_trial(2), 165'000, 10);  // .55 of it
  EXPECT_THAT(said_of(slower), HasSubstr("intra_op=2: 45.0 % less time than intra_op=1 ("));
  EXPECT_THAT(said_of(slower), HasSubstr("), proved\n"));
  AnsweredRuns faster;
  faster.add(answered_trial(1), 300'000, 10);
  faster.add(answered_trial(2), 600'000, 10);
  EXPECT_THAT(said_of(faster), HasSubstr("intra_op=2: 100.0 % more time than intra_op=1 ("));
}

TEST(RunVerdicts, ProveNothingWhereRunsAreTheSame) {
  AnsweredRuns equal;
  const std::vector<std::int64_t> times{300'000, 303'000, 297'000, 301'000, 299'000, 302'000, 298'000, 300'000};
  equal.add(answered_trial(1), times);
  equal.add(answered_trial(2), times);
  EXPECT_THAT(said_of(equal),
              AllOf(HasSubstr("intra_op=2: no proved difference to intra_op=1: +0.0 %"), Not(HasSubstr(", proved"))));
}

TEST(RunVerdicts, NameTheWorkersWhereSettingsAreTheSame) {
  AnsweredRuns runs;
  runs.add(answered_trial({}, "one"), 300'000, 10);
  runs.add(answered_trial({}, "two"), 600'000, 10);
  EXPECT_THAT(said_of(runs), HasSubstr("two 1.0.0: 100.0 % more time than one 1.0.0 ("));
}

// A 95 % interval of a median needs 6 runs: 2 / 2^5 is above 5 %, and 2 / 2^6 below.
TEST(RunVerdicts, NeedAsManyRunsAsAnInterval) {
  AnsweredRuns runs;
  runs.add(answered_trial(1), 300'000, 10);
  runs.add(answered_trial(2), 600'000, 5);
  EXPECT_TRUE(run_verdicts(runs.material).empty());
}

TEST(RunVerdicts, AreOfTwoToEightTrialsOfOneWorkload) {
  AnsweredRuns runs;
  runs.add(answered_trial(1), 300'000, 10);
  EXPECT_TRUE(run_verdicts(runs.material).empty());
  auto other = answered_trial(1);
  other.workload.batch = 8;
  auto two = runs;
  two.add(other, 600'000, 10);
  EXPECT_TRUE(run_verdicts(two.material).empty());
  for (std::int64_t threads = 2; threads <= 8; ++threads) runs.add(answered_trial(threads), 600'000, 10);
  EXPECT_FALSE(run_verdicts(runs.material).empty());
  runs.add(answered_trial(9), 600'000, 10);
  EXPECT_TRUE(run_verdicts(runs.material).empty());
}

plan::Catalog catalog_of(const std::vector<std::string>& settings) {
  plan::WorkerInfo worker;
  worker.name = "fake";
  worker.release = "1.0.0";
  worker.argv = {"true"};
  worker.settings = settings;
  return plan::Catalog({worker});
}

plan::Campaign campaign_of(const std::vector<Trial>& trials) {
  plan::Campaign campaign;
  campaign.trials = trials;
  return campaign;
}

const std::vector<std::string> kTyped{"run", "my net.onnx", "--again"};

TEST(NextCommand, IsTheSameWithSeveralNumbersOfThreads) {
  const auto campaign = campaign_of({answered_trial({})});
  EXPECT_EQ(next_command(campaign, catalog_of({"intra_op"}), kTyped, {}, {4, {}}),
            "Next: assay run 'my net.onnx' --threads 1,4\n");
  EXPECT_EQ(next_command(campaign, catalog_of({"intra_op"}), kTyped, {}, {4, 4.0}),
            "Next: assay run 'my net.onnx' --threads 1,4\n");
}

TEST(NextCommand, HasAsManyThreadsAsAQuotaAllows) {
  const auto campaign = campaign_of({answered_trial({})});
  EXPECT_EQ(next_command(campaign, catalog_of({"intra_op"}), kTyped, {}, {4, 2.5}),
            "assay: a quota allows 2.5 of 4 CPUs; threads beyond it stop each other\n"
            "Next: assay run 'my net.onnx' --threads 2\n");
  EXPECT_THAT(next_command(campaign, catalog_of({"intra_op"}), kTyped, {}, {4, 0.5}), HasSubstr("--threads 1\n"));
}

TEST(NextCommand, IsNotThereWhereThreadsWouldSayNothing) {
  const auto open = catalog_of({"intra_op"});
  EXPECT_EQ(next_command(campaign_of({answered_trial({})}), open, kTyped, {}, {1, {}}), "");  // one CPU
  EXPECT_EQ(next_command(campaign_of({answered_trial(2)}), open, kTyped, {}, {4, {}}), "");   // threads were given
  EXPECT_EQ(next_command(campaign_of({answered_trial({})}), catalog_of({}), kTyped, {}, {4, {}}), "");  // not followed
  EXPECT_EQ(next_command(campaign_of({answered_trial({}, "gone")}), open, kTyped, {}, {4, {}}), "");
  EXPECT_EQ(next_command(campaign_of({answered_trial({}), answered_trial(2)}), open, kTyped, {}, {4, {}}), "");
  auto program = answered_trial({});
  program.workload.command = std::vector<std::string>{"prog"};
  EXPECT_EQ(next_command(campaign_of({program}), open, kTyped, {}, {4, {}}), "");
}

TEST(NextCommand, IsTheDoctorWhereEveryRunWasDisturbed) {
  Result result;
  result.ok = result.untrusted = 2;
  result.details.reasons = {{"steal", true, 2, ""}, {"oversubscribed", false, 2, ""}, {"neighbours", true, 1, ""}};
  const auto campaign = campaign_of({answered_trial({})});
  const auto open = catalog_of({"intra_op"});
  EXPECT_EQ(next_command(campaign, open, kTyped, {result}, {4, {}}),
            "assay: every run was disturbed (neighbours, steal), so that times may be too long\nNext: assay doctor\n");
  auto half = result;
  half.untrusted = 1;
  EXPECT_THAT(next_command(campaign, open, kTyped, {result, half}, {4, {}}), HasSubstr("--threads 1,4"));
}

}  // namespace
}  // namespace assay::report
