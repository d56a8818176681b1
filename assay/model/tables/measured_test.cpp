#include "assay/model/tables/measured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::model {
namespace {

store::TrialRow trial_reading(const std::string& id, std::optional<std::int64_t> chunks, std::int64_t ranks,
                              std::optional<std::int64_t> instances) {
  store::TrialRow row{id, {}};
  row.trial.workload.network = "resnet50";
  row.trial.workload.data = "files";
  row.trial.workload.data_chunks = chunks;
  row.trial.placement.ranks = ranks;
  row.trial.settings.instances = instances;
  return row;
}

/// The column's cells, one for each trial in turn; nothing where there is no such column.
std::vector<std::string> column(const std::string& name, const std::vector<store::TrialRow>& trials) {
  std::vector<store::RunRow> runs;
  for (const auto& trial : trials) {
    auto& run = runs.emplace_back();
    run.trial = trial.id;
    run.summary.median_ns = 1'000'000;
  }
  const auto frame = frame_of(trials, runs);
  const auto found = std::find(frame.columns.begin(), frame.columns.end(), name);
  std::vector<std::string> cells;
  if (found == frame.columns.end()) return cells;
  for (const auto& row : frame.rows) cells.push_back(row[static_cast<std::size_t>(found - frame.columns.begin())]);
  return cells;
}

TEST(Measured, ChunksAreThoseThatAProcessReads) {
  // 8 chunks for 1 process; 8 for 2 ranks; 8 for 4 instances; 9 for 2 ranks are 4.5 on average.
  EXPECT_THAT(column("chunks", {trial_reading("a", 8, 1, std::nullopt), trial_reading("b", 8, 2, std::nullopt),
                                trial_reading("c", 8, 1, 4), trial_reading("d", 9, 2, std::nullopt)}),
              testing::ElementsAre("8", "4", "2", "4.5"));
}

TEST(Measured, WhatAMachineCanDoStandsInPlaceOfItsName) {
  const std::vector<store::TrialRow> trials{trial_reading("a", std::nullopt, 1, std::nullopt)};
  std::vector<store::RunRow> runs(2);
  for (auto& run : runs) {
    run.trial = "a";
    run.summary.median_ns = 1'000'000;
  }
  runs[0].platform = "small";
  runs[1].platform = "large";
  const Machines machines{{"small", {1e12, {}, {}, {}}}, {"large", {4e12, 1e11, {}, {}}}};
  const auto frame = frame_of(trials, runs, &machines);
  EXPECT_THAT(frame.columns, testing::Not(testing::Contains("platform")));
  const auto peak = std::find(frame.columns.begin(), frame.columns.end(), "peak") - frame.columns.begin();
  ASSERT_LT(static_cast<std::size_t>(peak), frame.columns.size());
  EXPECT_EQ(std::stod(frame.rows[0][static_cast<std::size_t>(peak)]), 1e12);
  EXPECT_EQ(std::stod(frame.rows[1][static_cast<std::size_t>(peak)]), 4e12);
  EXPECT_THAT(frame_of(trials, runs).columns, testing::Contains("platform"));
}

TEST(Measured, WhatATrialDoesNotHaveIsAGap) {
  EXPECT_THAT(
      column("chunks", {trial_reading("a", 8, 1, std::nullopt), trial_reading("b", std::nullopt, 1, std::nullopt)}),
      testing::ElementsAre("8", ""));
}

}  // namespace
}  // namespace assay::model
