#include "assay/report/subjects/predict/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// 100 ms on 4 devices, of which 40 ms are forward and backward, 10 ms the update and 50 ms are not hidden.
predict::ScalePoint scaled_point() {
  predict::ScalePoint point;
  point.devices = 4;
  point.batch = 8;
  point.step.seconds = 0.1;
  point.step.forward_seconds = 0.01;
  point.step.backward_seconds = 0.03;
  point.step.update_seconds = 0.01;
  point.step.exposed_seconds = 0.05;
  point.step.communicate_seconds = 0.06;
  point.step.messages = 7;
  point.samples_per_second = 320;
  point.efficiency = 0.5;
  point.limit = predict::ScaleLimit::communication;
  return point;
}

predict::ScalingPrediction scaled_job(const predict::ScalePoint& point) {
  predict::ScalingPrediction said;
  said.network = "toy";
  said.cluster = "two";
  said.origin = predict::Origin::measured;
  said.points = {point};
  return said;
}

TEST(ScalingPrediction, APointSaysItsStepAndWhatLimitsIt) {
  const auto document = scaling_prediction_document(scaled_job(scaled_point()));
  EXPECT_THAT(headings_of(document), ElementsAre("toy on two, weak scaling (layers as measured)"));
  const auto table = tables_of(document).at(0);
  EXPECT_THAT(titles_of(table), ElementsAre("devices", "batch of each", "step", "exposed", "samples/s", "memory",
                                            "limit", "efficiency", ""));
  EXPECT_THAT(table.rows(), ElementsAre(ElementsAre("4", "8", "100 ms", "50 ms", "320/s", "0 B", "communication",
                                                    "50.0 %", efficiency_bar(0.5))));
  EXPECT_THAT(paragraphs_of(document),
              ElementsAre("On 4 devices communication limits it: 60 ms travel in 7 messages, 50 % of the step are not "
                          "hidden by computing."));
}

TEST(ScalingPrediction, WhatLimitsItIsSaidOfComputingAndOfInputToo) {
  auto point = scaled_point();
  point.limit = predict::ScaleLimit::compute;
  EXPECT_THAT(paragraphs_of(scaling_prediction_document(scaled_job(point))),
              ElementsAre("On 4 devices computing limits it: 50 % of the step; 50 ms of communication is not hidden."));
  point.limit = predict::ScaleLimit::input;
  point.step.load_seconds = 0.12;
  point.step.transfer_seconds = 0.03;
  EXPECT_THAT(paragraphs_of(scaling_prediction_document(scaled_job(point))),
              ElementsAre("On 4 devices input limits it: loading and transfer take 150 ms, the rest 100 ms runs "
                          "meanwhile."));
}

TEST(ScalingPrediction, WhatWasAskedBesidesHasColumns) {
  auto point = scaled_point();
  point.low_seconds = 0.09;
  point.high_seconds = 0.12;
  point.simulated_seconds = 0.11;
  point.job_hours = 2;
  point.job_price = 30;
  point.fits = false;
  auto said = scaled_job(point);
  said.range = predict::RangeKind::interval;
  const auto table = tables_of(scaling_prediction_document(said)).at(0);
  EXPECT_THAT(titles_of(table), ElementsAre("devices", "batch of each", "step", "90 % interval", "simulated", "exposed",
                                            "samples/s", "memory", "limit", "job", "efficiency", ""));
  EXPECT_THAT(table.rows().at(0),
              ElementsAre("4", "8", "100 ms", "90 ms to 120 ms", "110 ms", "50 ms", "320/s", "0 B, does not fit",
                          "communication", "2 h, 30", "50.0 %", efficiency_bar(0.5)));
}

TEST(ScalingPrediction, AdviceIsAListAndNotesAreParagraphs) {
  auto said = scaled_job(scaled_point());
  EXPECT_THAT(items_of(scaling_prediction_document(said)), IsEmpty());
  said.advice = {{"a faster network", 0.08, 1.25}};
  said.notes = {"First.", "Second."};
  const auto document = scaling_prediction_document(said);
  EXPECT_THAT(items_of(document), ElementsAre("1.25 x  a faster network"));
  const auto paragraphs = paragraphs_of(document);
  EXPECT_THAT(std::vector(paragraphs.begin() + 1, paragraphs.end()),
              ElementsAre("What would help on 4 devices:", "First.", "Second."));
}

}  // namespace
}  // namespace assay::report
