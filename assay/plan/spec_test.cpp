#include "assay/plan/spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "assay/plan/plan_fixture.hpp"

namespace assay::plan {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Campaign read(const std::string& text) {
  return read_spec(text, "dir/first.yaml", test_catalog());
}

std::string refusal(const std::string& text) {
  try {
    read_spec(text, "f.yaml", test_catalog());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

/// A file whose only trial has one more line.
std::string trial_with(const std::string& line) {
  return "trials:\n  - network: toy\n    worker: fake\n    " + line + "\n";
}

TEST(Spec, a_small_file_gets_the_defaults) {
  const Campaign campaign = read("trials: [{network: toy, worker: fake}]");
  EXPECT_EQ(campaign.name, "first");
  EXPECT_EQ(campaign.seed, 1);
  EXPECT_EQ(campaign.runs, 10);
  EXPECT_FALSE(campaign.lockstep);
  EXPECT_EQ(to_json(campaign.measure), to_json(Measure{}));
  ASSERT_EQ(campaign.trials.size(), 1u);
  Trial expected;
  expected.workload.network = "toy";
  expected.worker = {"fake", "1.10.0"};
  EXPECT_EQ(to_json(campaign.trials[0]), to_json(expected));
}

TEST(Spec, the_example_expands_to_its_sweep) {
  const Campaign campaign = read_spec_file(ASSAY_EXAMPLES "/first_look.yaml", test_catalog());
  EXPECT_EQ(campaign.name, "first-look");
  EXPECT_EQ(campaign.runs, 20);
  EXPECT_TRUE(campaign.measure.phases);
  EXPECT_EQ(campaign.measure.warmup_seconds, 0.5);
  // Two modes, batches 1 2 4 8 16 32, intra_op 1 and 2.
  ASSERT_EQ(campaign.trials.size(), 24u);
  Trial expected;
  expected.workload.network = "toy";
  expected.workload.batch = 2;
  expected.workload.options = {{"noise", 0.01}};
  expected.worker = {"fake", "1.10.0"};
  expected.settings.intra_op = 2;
  expected.settings.affinity = Affinity::compact;
  expected.settings.env = {{"OMP_WAIT_POLICY", "passive"}};
  EXPECT_EQ(to_json(campaign.trials[3]), to_json(expected));
}

TEST(Spec, measure_takes_durations_and_sizes) {
  const Campaign campaign = read(
      "measure: {seconds: 200ms, warmup_seconds: 0, limit_seconds: 2m, memory_limit_bytes: 4GiB, retries: 0,\n"
      "          max_samples: 5, layers: false}\n"
      "trials: [{network: toy, worker: fake}]");
  EXPECT_DOUBLE_EQ(campaign.measure.seconds, 0.2);
  EXPECT_EQ(campaign.measure.warmup_seconds, 0);
  EXPECT_EQ(campaign.measure.limit_seconds, 120);
  EXPECT_EQ(campaign.measure.memory_limit_bytes, std::int64_t{4} << 30);
  EXPECT_EQ(campaign.measure.retries, 0);
  EXPECT_EQ(campaign.measure.max_samples, 5);
}

TEST(Spec, lists_and_sweep_text_mix) {
  const Campaign campaign = read(trial_with("batch: [1, 4-8+4, \"16,32\"]"));
  std::vector<std::int64_t> batches;
  for (const auto& trial : campaign.trials) batches.push_back(trial.workload.batch);
  EXPECT_THAT(batches, ElementsAre(1, 4, 8, 16, 32));
}

TEST(Spec, a_variable_keeps_its_commas_and_a_quoted_option_is_text) {
  const Campaign campaign = read(trial_with("settings: {env: {KMP: 'a,b'}}\n    options: {a: '1', b: 1, c: [1, two]}"));
  ASSERT_EQ(campaign.trials.size(), 2u);
  EXPECT_EQ(campaign.trials[0].settings.env.at("KMP"), "a,b");
  EXPECT_EQ(campaign.trials[0].workload.options.at("a"), Scalar("1"));
  EXPECT_EQ(campaign.trials[0].workload.options.at("b"), Scalar(std::int64_t{1}));
  EXPECT_EQ(campaign.trials[1].workload.options.at("c"), Scalar("two"));
}

TEST(Spec, a_command_is_one_argv) {
  const Campaign campaign = read("trials:\n  - command: [python3, train.py, '{batch}', 1]\n    batch: 1,2\n");
  ASSERT_EQ(campaign.trials.size(), 2u);
  EXPECT_THAT(*campaign.trials[1].workload.command, ElementsAre("python3", "train.py", "{batch}", "1"));
  EXPECT_THAT(refusal("trials:\n  - command: python3 train.py\n"),
              AllOf(StartsWith("f.yaml:2:14: command: 'python3 train.py'"), HasSubstr("as a list")));
}

TEST(Spec, an_unknown_key_is_placed_and_the_nearest_is_named) {
  EXPECT_EQ(refusal("run: 3\ntrials: []"), "f.yaml:1:1: campaign: the key 'run' is not known. Did you mean 'runs'?");
  EXPECT_EQ(refusal(trial_with("bacth: 1")), "f.yaml:4:5: trials: the key 'bacth' is not known. Did you mean 'batch'?");
  EXPECT_EQ(refusal(trial_with("settings: {intraop: 1}")),
            "f.yaml:4:16: settings: the key 'intraop' is not known. Did you mean 'intra_op'?");
  EXPECT_THAT(refusal("measure: {second: 1}\ntrials: []"),
              HasSubstr("f.yaml:1:11: measure: the key 'second' is not known. Did you mean 'seconds'?"));
  EXPECT_THAT(refusal(trial_with("xyzzy: 1")), HasSubstr("Choose one of network, worker, mode"));
}

TEST(Spec, a_duplicate_key_is_refused) {
  EXPECT_EQ(refusal(trial_with("batch: 1\n    batch: 2")),
            "f.yaml:5:5: the key 'batch' is here twice. Remove one of them.");
}

TEST(Spec, a_wrong_type_is_placed) {
  EXPECT_THAT(refusal("runs: [1]\ntrials: []"), StartsWith("f.yaml:1:7: runs: a list is not allowed here."));
  EXPECT_THAT(refusal("runs: 1,2\ntrials: []"), StartsWith("f.yaml:1:7: runs: '1,2' is a sweep. Write one number."));
  EXPECT_THAT(refusal("lockstep: yes\ntrials: []"),
              StartsWith("f.yaml:1:11: lockstep: 'yes' is neither true nor false"));
  EXPECT_THAT(refusal("trials: 3"), StartsWith("f.yaml:1:9: trials: '3' is not allowed here."));
  EXPECT_THAT(refusal("trials: [3]"), StartsWith("f.yaml:1:10: trials: '3' is not allowed here."));
  EXPECT_THAT(refusal("[]"), StartsWith("f.yaml:1:1: campaign: a list is not allowed here."));
  EXPECT_THAT(refusal(trial_with("batch: {a: 1}")),
              StartsWith("f.yaml:4:12: batch: a map of keys is not allowed here."));
  EXPECT_THAT(refusal(trial_with("settings: 3")), StartsWith("f.yaml:4:15: settings: '3' is not allowed here."));
  EXPECT_THAT(refusal("measure: {seconds: soon}\ntrials: []"), StartsWith("f.yaml:1:20: measure.seconds: 'soon'"));
}

TEST(Spec, a_value_out_of_range_is_placed) {
  EXPECT_EQ(refusal(trial_with("batch: 0")), "f.yaml:4:12: batch: 0 is outside 1 to 16777216.");
  EXPECT_THAT(refusal(trial_with("batch: [1, 4-1*2]")),
              StartsWith("f.yaml:4:16: batch: '4-1*2' never reaches its end"));
  EXPECT_THAT(refusal(trial_with("mode: trian")), StartsWith("f.yaml:4:11: mode: 'trian'"));
  EXPECT_THAT(refusal(trial_with("settings: {env: {A B: 1}}")), StartsWith("f.yaml:4:22: settings.env."));
  EXPECT_THAT(refusal("runs: 0\ntrials: [{network: toy, worker: fake}]"), StartsWith("f.yaml:1:7: runs: 0"));
  EXPECT_THAT(refusal("seed: -1\ntrials: [{network: toy, worker: fake}]"),
              StartsWith("f.yaml:1:7: seed: '-1' is negative"));
  EXPECT_THAT(refusal("measure: {seconds: 0}\ntrials: []"), StartsWith("f.yaml:1:10: measure.seconds: 0 is outside"));
  EXPECT_THAT(refusal("measure: {seconds: nan}\ntrials: []"), StartsWith("f.yaml:1:20: measure.seconds: 'nan'"));
}

TEST(Spec, what_a_worker_cannot_do_is_placed_at_its_trial) {
  EXPECT_THAT(refusal("trials:\n  - {network: toy, worker: nobody}"),
              StartsWith("f.yaml:2:28: worker: 'nobody' is not at hand"));
  EXPECT_THAT(refusal(trial_with("precision: bf16")),
              StartsWith("f.yaml:2:5: precision: the worker fake 1.10.0 has no 'bf16'"));
  EXPECT_THAT(refusal("trials:\n  - {network: toy}"), StartsWith("f.yaml:2:5: worker: it is missing"));
  EXPECT_THAT(refusal("measure: {layers: true}\n" + trial_with("batch: 1")),
              StartsWith("f.yaml:1:10: measure.layers: "));
}

TEST(Spec, lockstep_needs_two_trials_or_more) {
  EXPECT_EQ(read("lockstep: true\n" + trial_with("batch: 1,2")).trials.size(), 2u);
  EXPECT_EQ(read("lockstep: true\n" + trial_with("batch: 1,2,4")).trials.size(), 3u);
  EXPECT_THAT(refusal("lockstep: true\n" + trial_with("batch: 1")),
              StartsWith("f.yaml:1:11: lockstep: trials take turns, and there is only one."));
}

TEST(Spec, an_empty_file_says_what_is_missing) {
  EXPECT_THAT(refusal(""), StartsWith("f.yaml:"));
  EXPECT_THAT(refusal("name: x"), HasSubstr("the key 'trials' is missing"));
  EXPECT_THAT(refusal("trials: []"), HasSubstr("trials: the list is empty"));
}

TEST(SpecFile, a_file_that_cannot_be_read_is_named) {
  EXPECT_THROW(read_spec_file("/nonexistent/x.yaml", test_catalog()), Error);
  EXPECT_THROW(read_spec_file(testing::TempDir(), test_catalog()), Error);
}

TEST(SpecFile, a_file_beyond_the_limit_is_refused) {
  const auto path = std::filesystem::path(testing::TempDir()) / fmt::format("spec-{}.yaml", getpid());
  std::ofstream(path) << std::string((1u << 20) + 1, ' ');
  EXPECT_THROW(read_spec_file(path, test_catalog()), Error);
  std::filesystem::remove(path);
}

TEST(Spec, ten_thousand_trials_expand_within_half_a_second) {
  const std::clock_t begin = std::clock();  // of the CPU: a busy machine must not fail the test
  const Campaign campaign =
      read("runs: 10\n" + trial_with("batch: 1-1000+1\n    options: {a: 1-5+1}\n    mode: infer,train"));
  const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(campaign.trials.size(), 10'000u);
  RecordProperty("seconds", std::to_string(took));
  EXPECT_LT(took, ASSAY_SANITIZED ? 30 : 0.5);
}

}  // namespace
}  // namespace assay::plan
