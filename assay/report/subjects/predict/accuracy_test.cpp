#include "assay/report/subjects/predict/accuracy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;

/// 100 steps of 32 samples (80 to 120) that take 2 ms (1 to 3) each: 200 ms, and 80 ms to 360 ms.
predict::AccuracyRow learnt_row() {
  predict::AccuracyRow row;
  row.title = "sgd";
  row.platform = "0123456789abcdef";
  row.step = {2e-3, 1e-3, 3e-3};
  model::StepsNeeded needed;
  needed.accuracy = 0.97;
  needed.batch = 32;
  needed.runs = needed.reached = 6;
  needed.steps = 100;
  needed.low_steps = 80;
  needed.high_steps = 120;
  row.reached = {needed, model::time_to(needed, row.step)};
  return row;
}

TEST(AccuracyPrediction, ARowSaysItsStepsAndTheTimeTheyComeTo) {
  const auto document = accuracy_prediction_document({"lenet", 0.97, {learnt_row()}});
  EXPECT_THAT(headings_of(document), ElementsAre("lenet to 97 %: time of a step x steps needed"));
  const auto table = tables_of(document).at(0);
  EXPECT_THAT(titles_of(table), ElementsAre("trial", "step", "95 % interval", "steps", "to 97 %", "90 % interval"));
  EXPECT_THAT(table.rows(),
              ElementsAre(ElementsAre("sgd", "2 ms", "1 ms to 3 ms", "100", "200 ms", "80 ms to 360 ms")));
  EXPECT_THAT(paragraphs_of(document), ElementsAre("Steps needed: 100 steps (80 to 120) of batches of 32: median of 6 "
                                                   "runs, of which 6 reached 97 %."));
}

TEST(AccuracyPrediction, WhyATimeIsNotKnownIsSaidOnceForAllRows) {
  predict::AccuracyRow row;
  row.title = "adam";
  row.step.seconds = 2e-3;
  row.refused = "Nobody trained it.";
  const auto document = accuracy_prediction_document({"lenet", 0.97, {row, row}});
  EXPECT_THAT(tables_of(document).at(0).rows().at(1), ElementsAre("adam", "2 ms", "-", "-", "-", "-"));
  EXPECT_THAT(paragraphs_of(document), ElementsAre("Nobody trained it."));
}

TEST(AccuracyPrediction, PlatformsAreNamedWhereTheyDiffer) {
  auto other = learnt_row();
  other.platform = "fedcba9876543210";
  const auto document = accuracy_prediction_document({"lenet", 0.97, {learnt_row(), other}});
  const auto table = tables_of(document).at(0);
  EXPECT_EQ(titles_of(table).at(1), "platform");
  EXPECT_EQ(table.rows().at(0).at(1), "01234567");
  EXPECT_EQ(table.rows().at(1).at(1), "fedcba98");
}

}  // namespace
}  // namespace assay::report
