#include "assay/report/results/detail.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::report {
namespace {

using testing::ElementsAre;

RankResult rank(std::int64_t intra_op, std::vector<std::int64_t> forward_ns) {
  RankResult out;
  out.effective = {{"intra_op", intra_op}};
  out.peak_memory_bytes = 100;
  if (!forward_ns.empty()) out.phases_ns["forward"] = std::move(forward_ns);
  return out;
}

store::Digest run(std::vector<RankResult> ranks, std::vector<Reason> reasons = {}) {
  Record record;
  record.ranks = std::move(ranks);
  record.validity.reasons = std::move(reasons);
  return store::digest_of(record);
}

Details over(const std::vector<store::Digest>& runs, std::optional<double> step_ns = std::nullopt) {
  std::vector<const store::Digest*> pointers;
  for (const auto& one : runs) pointers.push_back(&one);
  auto details = summarise(pointers);
  details.phases = phases_of(pointers, step_ns);
  return details;
}

TEST(Detail, values_that_took_effect_are_counted_by_run_and_not_by_process) {
  const auto details = over({run({rank(2, {}), rank(2, {})}), run({rank(2, {}), rank(4, {})}), run({rank(2, {})})});
  const auto& values = details.effective.at("intra_op");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].value, 2);
  EXPECT_EQ(values[0].runs, 3);
  EXPECT_EQ(values[1].value, 4);
  EXPECT_EQ(values[1].runs, 1);
}

TEST(Detail, a_setting_that_did_not_take_effect_is_named_with_the_number_of_runs) {
  Settings asked;
  asked.intra_op = 2;
  EXPECT_THAT(differences(asked, over({run({rank(4, {})}), run({rank(4, {})})}), 2),
              ElementsAre("intra_op: asked 2, took effect 4 (all 2 runs)"));
  EXPECT_THAT(differences(asked, over({run({rank(4, {})}), run({rank(2, {})})}), 2),
              ElementsAre("intra_op: asked 2, took effect 4 (1 of 2 runs)"));
  EXPECT_THAT(differences(asked, over({run({rank(2, {})})}), 1), ElementsAre());
  // What was left to the framework cannot differ from it.
  EXPECT_THAT(differences(Settings{}, over({run({rank(4, {})})}), 1), ElementsAre());
}

TEST(Detail, phases_are_medians_over_processes_of_their_own_medians) {
  // Medians of the processes: 20, 40, 60 ns, so 40 ns; a pool of all samples would give 20.
  const auto details = over({run({rank(1, {20, 20, 20, 20, 20}), rank(1, {30, 40, 50})}), run({rank(1, {60})})}, 50.0);
  ASSERT_TRUE(details.phases.has_value());
  EXPECT_DOUBLE_EQ(details.phases->seconds.at("forward"), 40e-9);
  EXPECT_DOUBLE_EQ(*details.phases->sum_over_step, 0.8);
  EXPECT_FALSE(over({run({rank(1, {})})}).phases.has_value());
}

TEST(Detail, reasons_are_counted_by_code_with_the_first_message) {
  const auto details = over(
      {run({}, {{"probe", "slow", true}}), run({}, {{"oversubscribed", "first", false}, {"probe", "slower", true}}),
       run({}, {{"oversubscribed", "second", false}}), run({}, {{"oversubscribed", "third", false}})});
  ASSERT_EQ(details.reasons.size(), 2u);
  EXPECT_EQ(details.reasons[0].code, "oversubscribed");
  EXPECT_EQ(details.reasons[0].runs, 3);
  EXPECT_EQ(details.reasons[0].message, "first");
  EXPECT_FALSE(details.reasons[0].passing);
  EXPECT_EQ(details.reasons[1].runs, 2);
}

TEST(Detail, memory_is_that_of_all_processes_or_not_known) {
  EXPECT_EQ(over({run({rank(1, {}), rank(1, {})})}).peak_memory_bytes, 200.0);
  auto unknown = rank(1, {});
  unknown.peak_memory_bytes.reset();
  EXPECT_FALSE(over({run({rank(1, {}), unknown})}).peak_memory_bytes.has_value());
  EXPECT_FALSE(over({run({})}).peak_memory_bytes.has_value());
}

// Layers of 3 and 5 ns forward, 10 ns backward: 18 ns of a step of 20.
TEST(Detail, layers_are_summed_over_the_plain_step) {
  Record record;
  record.summary.median_ns = 20;
  record.ranks.resize(1);
  record.ranks[0].layers = {{"a", {3, 2, 4}, {10, 10, 10}}, {"b", {5, 5, 5}, {}}};
  EXPECT_DOUBLE_EQ(*over({store::digest_of(record)}).layers_over_step, 0.9);
  EXPECT_FALSE(over({run({rank(1, {})})}).layers_over_step.has_value());
}

}  // namespace
}  // namespace assay::report
