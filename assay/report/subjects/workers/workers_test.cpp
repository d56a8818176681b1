#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/document_fixture.hpp"
#include "assay/report/subjects/workers/audit.hpp"
#include "assay/report/subjects/workers/equality.hpp"
#include "assay/report/subjects/workers/listing.hpp"

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AuditAnswer, EveryCheckHasItsRuleAndAlarmsAreCounted) {
  vet::AuditResult result;
  result.worker = "toy";
  result.release = "1";
  result.rounds = 3;
  result.checks = {{"clock", "It takes our clock.", vet::Judgement::ok, "1", "1", 0},
                   {"layers", "It computes all layers.", vet::Judgement::alarm, "9", "5", 2},
                   {"device", "It waits.", vet::Judgement::not_tried, "", "no device", 0}};
  auto document = audit_document(result);
  EXPECT_THAT(tables_of(document).at(0).rows(),
              ElementsAre(ElementsAre("clock", "ok", "1", "1"), ElementsAre("layers", "ALARM", "9", "5"),
                          ElementsAre("device", "not tried", "", "no device")));
  EXPECT_THAT(texts_of<Term>(document), ElementsAre("It takes our clock.", "It computes all layers.", "It waits."));
  EXPECT_THAT(paragraphs_of(document), ElementsAre("toy==1: 1 of 3 checks raise an alarm (3 rounds)"));
  result.checks.resize(1);
  EXPECT_THAT(paragraphs_of(audit_document(result)), ElementsAre("toy==1: no alarm"));
}

TEST(EqualityAnswer, OfInferenceComparesOutputsAndOfTrainingGradients) {
  vet::EqualityResult result;
  result.worker = "toy";
  result.release = "1";
  result.parameters = 10;
  result.output_error = 1.2e-6;
  result.output_spread = 0.5;
  result.gradient_error = 2e-5;
  result.loss_error = 3e-4;
  auto document = equality_document({result}, false);
  EXPECT_THAT(titles_of(tables_of(document).at(0)),
              ElementsAre("worker", "release", "parameters", "output", "spread", "equal"));
  EXPECT_THAT(tables_of(document).at(0).rows(), ElementsAre(ElementsAre("toy", "1", "10", "1.2e-06", "0.5", "yes")));
  EXPECT_THAT(paragraphs_of(document), IsEmpty());
  result.problems = {"the loss is too far off"};
  document = equality_document({result}, true);
  EXPECT_THAT(tables_of(document).at(0).rows(), ElementsAre(ElementsAre("toy", "1", "10", "2.0e-05", "3.0e-04", "NO")));
  EXPECT_THAT(paragraphs_of(document), ElementsAre("toy: the loss is too far off"));
}

TEST(WorkersAnswer, ReleasesOfAWorkerShareAColumnAndMissingOnesAreNamed) {
  plan::WorkerInfo worker;
  worker.name = "toy";
  worker.release = "1";
  worker.description = "A toy";
  worker.networks = {"vgg16", "gemm"};
  worker.modes = {"infer"};
  worker.ranks = true;
  auto newer = worker;
  newer.release = "2";
  newer.environment.emplace();
  const auto document = workers_document({worker, newer});
  EXPECT_THAT(tables_of(document).at(0).rows(),
              ElementsAre(ElementsAre("toy", "1", "yes", "A toy"), ElementsAre("toy", "2", "no", "A toy")));
  const auto matrix = blocks_of<Matrix>(document).at(0).table;
  EXPECT_THAT(titles_of(matrix), ElementsAre("workload", "toy"));
  EXPECT_THAT(matrix.rows(), testing::IsSupersetOf({ElementsAre("vgg16", "i+"), ElementsAre("gemm", "i")}));
  EXPECT_EQ(paragraphs_of(document).back(), "To install what is missing: assay worker install toy");
}

}  // namespace
}  // namespace assay::report
