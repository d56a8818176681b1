#include "assay/report/subjects/predict/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A step of 2 s (1.5 to 2.5) on 8 devices, of which 1 GiB each is used.
predict::RowPrediction predicted_job(std::int64_t row) {
  predict::RowPrediction job;
  job.row = row;
  job.model = "llama3-8b";
  job.device = "h100";
  job.devices = 8;
  job.seconds = 2;
  job.low_seconds = 1.5;
  job.high_seconds = 2.5;
  job.memory_bytes = 1073741824;
  job.utilization = 0.4;
  return job;
}

TEST(RowsPrediction, AJobStandsBesideWhatWasMeasured) {
  predict::RowsPrediction said;
  said.stack = "torchtitan";
  said.calibrated_rows = 12;
  auto measured = predicted_job(1);
  measured.measured_seconds = 1.6;
  measured.error = 0.25;
  auto large = predicted_job(2);
  large.fits = false;
  said.rows = {measured, large};
  said.mean_error = said.median_error = said.worst_error = 0.25;
  said.held_share = 1;
  const auto document = rows_prediction_document(said);
  const auto table = tables_of(document).at(0);
  EXPECT_EQ(titles_of(table).at(5), "90 % range");
  EXPECT_THAT(table.rows(), ElementsAre(ElementsAre("1", "llama3-8b", "h100", "8", "2 s", "1.5 s to 2.5 s", "1.6 s",
                                                    "+25.0 %", "1 GiB", "40.0 %", "compute"),
                                        ElementsAre("2", "llama3-8b", "h100", "8", "2 s", "1.5 s to 2.5 s", "", "",
                                                    "1 GiB, does not fit", "40.0 %", "compute")));
  const auto said_of_it = paragraphs_of(document);
  EXPECT_EQ(said_of_it.at(0), "Error: mean 25.0 %, median 25.0 %, worst +25.0 %; 100 % of the ranges hold.");
  EXPECT_THAT(said_of_it.at(1), StartsWith("Constants of torchtitan from 12 rows: "));
}

TEST(RowsPrediction, WhatNothingWasMeasuredForIsAWhatIf) {
  predict::RowsPrediction said;
  said.rows = {predicted_job(1)};
  const auto document = rows_prediction_document(said);
  EXPECT_EQ(titles_of(tables_of(document).at(0)).at(5), "what-if range");
  EXPECT_THAT(paragraphs_of(document).at(0), StartsWith("Constants: "));
  EXPECT_THAT(paragraphs_of(document), Not(Contains(HasSubstr("Error"))));
}

TEST(RowsPrediction, DevicesThatCannotBeDividedHaveTheirPlaceInTheSweep) {
  predict::RowsPrediction said;
  said.rows = {predicted_job(1), predicted_job(2)};
  said.refused_devices = {{12, 1, "12 devices cannot be divided by 8."}, {20, 2, "Nor can 20."}};
  const auto document = rows_prediction_document(said);
  const auto table = tables_of(document).at(0);
  std::vector<std::string> devices;
  for (const auto& row : table.rows()) devices.push_back(row.at(3));
  EXPECT_THAT(devices, ElementsAre("8", "12", "8", "20"));
  EXPECT_THAT(paragraphs_of(document),
              testing::IsSupersetOf({"Not predicted on 12 devices: 12 devices cannot be divided by 8.",
                                     "Not predicted on 20 devices: Nor can 20."}));
}

TEST(RowsPrediction, SpreadsOfConstantsAndRefusedOnesAreSaid) {
  predict::RowsPrediction said;
  const std::string name = predict::step_constant_specs().front().name;
  said.spreads = {{name, 0.6, 0.5, 0.75}};
  said.refused_constants = {{"update", "h100", 3, 1, "jobs that differ in it"}};
  said.refused = {"row 4: no devices"};
  said.notes = {"A note."};
  auto assumed = predicted_job(1);
  assumed.assumed = {"bf16"};
  said.rows = {assumed};
  const auto paragraphs = paragraphs_of(rows_prediction_document(said));
  EXPECT_THAT(paragraphs.at(0), HasSubstr(" (0.5 to 0.75);"));
  EXPECT_THAT(paragraphs.at(1), StartsWith("In brackets: "));
  EXPECT_EQ(paragraphs.at(2),
            "Refused: update on h100, whose fit ends at its bound of 3. 1 is taken. It needs jobs "
            "that differ in it.");
  EXPECT_EQ(paragraphs.at(3), "Row 1: assumed bf16.");
  EXPECT_EQ(paragraphs.at(4), "Not predicted, row 4: no devices.");
  EXPECT_EQ(paragraphs.at(5), "A note.");
}

TEST(JobPrediction, TheLastNumberOfDevicesSaysWhereItsTimeAndMemoryGo) {
  auto job = predicted_job(1);
  job.limit = predict::StepLimit::bubble;
  job.step.seconds = 2;
  job.step.compute_seconds = 1.5;
  job.step.bubble_seconds = 0.5;
  job.memory.state_bytes = 536870912;
  job.memory.activation_bytes = 268435456;
  job.memory.output_bytes = 201326592;
  job.memory.buffer_bytes = 67108864;
  job.simulated_seconds = 2.1;
  predict::RowsPrediction said;
  said.rows = {job};
  const auto document = job_prediction_document(said);
  EXPECT_THAT(tables_of(document).at(1).rows(),
              ElementsAre(ElementsAre("products, attention and passes", "1.5 s", "75.0 %", efficiency_bar(0.75)),
                          ElementsAre("bubble of the pipeline", "500 ms", "25.0 %", efficiency_bar(0.25))));
  const auto paragraphs = paragraphs_of(document);
  EXPECT_THAT(std::vector(paragraphs.begin() + 1, paragraphs.end()),
              ElementsAre("On 8 devices the bubble limits it.", "Simulated on 8 devices: 2.1 s (+5.0 %).",
                          "Memory of a device: 1 GiB (512 MiB parameters, gradients and optimizer, 256 MiB "
                          "activations, 192 MiB output layer, 64 MiB buffers)."));
}

TEST(JobPrediction, AdviceHelpsWhatFitsAndMakesTheRestFit) {
  predict::RowsPrediction said;
  said.rows = {predicted_job(1)};
  said.advice = {{"--microbatch 2", 1.6, 1.25}};
  EXPECT_EQ(paragraphs_of(job_prediction_document(said)).back(), "What would help on 8 devices:");
  EXPECT_THAT(items_of(job_prediction_document(said)), ElementsAre("1.25 x  --microbatch 2"));
  said.rows.back().fits = false;
  EXPECT_EQ(paragraphs_of(job_prediction_document(said)).back(), "What would fit on 8 devices:");
}

}  // namespace
}  // namespace assay::report
