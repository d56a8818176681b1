#include "assay/model/tables/prototype.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// As the prototype lays out a run; the numbers are ours.
json prototype_run() {
  return {{"framework", "pytorch"},
          {"framework_full", "PyTorch-1.8.1"},
          {"mode", "training"},
          {"device", "A CPU"},
          {"nb_gpus", 0},
          {"batch_size", 32},
          {"batch_size_per_device", 32},
          {"time_epoch", 6.0},
          {"time_total", 60.0},
          {"problem", {{"name", "bert"}, {"precision", "FP32"}, {"cnt_batches_per_epoch", 4}}}};
}

std::vector<std::string> row_of(const json& run) {
  return import_prototype({{"run.json", run.dump()}}).rows.at(0);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(import_prototype({{"run.json", text}}));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Six seconds for an epoch of four batches.
TEST(ImportPrototype, TheTimeOfABatchIsThatOfAnEpochOverItsBatches) {
  EXPECT_THAT(row_of(prototype_run()),
              ElementsAre("bert", "pytorch", "PyTorch-1.8.1", "train", "fp32", "A CPU", "0", "32", "1.5"));
}

TEST(ImportPrototype, ATimeOfABatchComesFirst) {
  auto run = prototype_run();
  run["time_batch"] = 1.25;
  EXPECT_EQ(row_of(run).back(), "1.25");
}

// Before 2019 there was one time, of an epoch, and neither mode nor precision.
TEST(ImportPrototype, OldFilesAreReadAndWhatTheyDoNotTellIsUnknown) {
  auto run = prototype_run();
  run.erase("time_epoch");
  run.erase("mode");
  run["problem"].erase("precision");
  run["time"] = 8.0;
  EXPECT_THAT(row_of(run),
              ElementsAre("bert", "pytorch", "PyTorch-1.8.1", "unknown", "unknown", "A CPU", "0", "32", "2"));
}

TEST(ImportPrototype, WhatHasNoStepIsRefusedByName) {
  auto run = prototype_run();
  run.erase("time_epoch");
  EXPECT_THAT(refusal(run.dump()), HasSubstr("run.json: it has no time_batch"));
  run = prototype_run();
  run["batch_size"] = -1;
  EXPECT_THAT(refusal(run.dump()), HasSubstr("no batch_size"));
  run = prototype_run();
  run["problem"] = 3;
  EXPECT_THAT(refusal(run.dump()), HasSubstr("names a framework and a problem"));
  EXPECT_THAT(refusal("[]"), HasSubstr("names a framework and a problem"));
  EXPECT_THAT(refusal("{"), HasSubstr("run.json: "));
}

TEST(ImportPrototype, TheTableIsReadBackAsCsv) {
  auto run = prototype_run();
  run["device"] = "a, \"b\"\nc";
  const auto frame = import_prototype({{"run.json", run.dump()}});
  const auto again = parse_csv(csv_of(frame), "table");
  EXPECT_EQ(again.columns, frame.columns);
  EXPECT_EQ(again.rows, frame.rows);
}

}  // namespace
}  // namespace assay::model
