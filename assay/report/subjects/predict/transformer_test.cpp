#include "assay/report/subjects/predict/transformer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;

constexpr double kMebibyte = 1048576;

/// 2 x 4 x 8 devices with 64 sequences in microbatches of 2, four for each replica. Of a step of 2 s 1.5 s are products
/// and 0.5 s the bubble.
predict::TransformerPrediction split_job() {
  predict::TransformerPrediction said;
  said.name = "mine";
  said.cluster = "pod";
  said.parameters = 1.5e9;
  said.shape = {1024, 4096, 512, 16, 8, 32000};
  predict::TransformerPoint point;
  point.devices = 64;
  point.plan.tensor = 2;
  point.plan.pipeline = 4;
  point.plan.data = 8;
  point.plan.microbatch = 2;
  point.plan.batch = 64;
  point.step.seconds = 2;
  point.step.product_seconds = 1.5;
  point.step.bubble_seconds = 0.5;
  point.step.utilization = 0.3;
  point.low_seconds = 1.5;
  point.high_seconds = 3;
  point.sequences_per_second = 32;
  point.memory.parameter_bytes = kMebibyte;
  point.memory.gradient_bytes = 2 * kMebibyte;
  point.memory.optimizer_bytes = 3 * kMebibyte;
  point.memory.activation_bytes = 4 * kMebibyte;
  point.limit = predict::TransformerLimit::bubble;
  said.points = {point};
  return said;
}

TEST(TransformerPrediction, ASplitSaysItsStepAndWhereItGoes) {
  const auto document = transformer_document(split_job());
  EXPECT_THAT(headings_of(document),
              ElementsAre("mine on pod: 1.5 billion parameters (hidden 1024, 8 blocks, 16 heads, "
                          "feed-forward 4096, sequence 512, vocabulary 32000)"));
  const auto tables = tables_of(document);
  EXPECT_THAT(tables.at(0).rows(), ElementsAre(ElementsAre("64", "2 x 4 x 8", "4 of 2", "2 s", "1.5 s to 3 s", "32",
                                                           "30.0 %", "25.0 %", "10 MiB", "bubble")));
  EXPECT_THAT(tables.at(1).rows(),
              ElementsAre(ElementsAre("matrix products", "1.5 s", "75.0 %", efficiency_bar(0.75)),
                          ElementsAre("bubble of the pipeline", "500 ms", "25.0 %", efficiency_bar(0.25))));
  EXPECT_THAT(paragraphs_of(document),
              ElementsAre("On 64 devices the bubble limits it.",
                          "Memory of a device of the first stage: 10 MiB (1 MiB parameters, 2 MiB gradients, 3 MiB "
                          "optimizer, 4 MiB activations)."));
}

TEST(TransformerPrediction, AJobHasItsTimeAndPrice) {
  auto said = split_job();
  said.points.front().plan.interleaving = 2;
  said.points.front().job_hours = 5;
  said.points.front().job_price = 100;
  const auto table = tables_of(transformer_document(said)).at(0);
  EXPECT_EQ(table.rows().at(0).at(1), "2 x 4 x 8, 2 parts");
  EXPECT_EQ(titles_of(table).back(), "job");
  EXPECT_EQ(table.rows().at(0).back(), "5 h, 100");
}

TEST(TransformerPrediction, AdviceHelpsWhatFitsAndMakesTheRestFit) {
  auto said = split_job();
  said.advice = {{"--tensor 4", 1.5, 1.25, 2 * kMebibyte}};
  said.notes = {"Assumed."};
  auto document = transformer_document(said);
  EXPECT_THAT(items_of(document), ElementsAre("1.25 x  --tensor 4 (2 MiB)"));
  EXPECT_EQ(paragraphs_of(document).at(2), "What would help on 64 devices:");
  EXPECT_EQ(paragraphs_of(document).at(3), "Assumed.");
  said.points.front().fits = false;
  document = transformer_document(said);
  EXPECT_EQ(paragraphs_of(document).at(2), "What would fit on 64 devices:");
  EXPECT_EQ(tables_of(document).at(0).rows().at(0).at(8), "10 MiB, does not fit");
  said.advice.clear();
  EXPECT_EQ(paragraphs_of(transformer_document(said)).at(2), "No single change of the plan makes it fit.");
}

}  // namespace
}  // namespace assay::report
