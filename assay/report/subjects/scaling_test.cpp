#include "assay/report/subjects/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ScalingReport, bars_are_as_long_as_efficiency) {
  compare::ScalingStudy study;
  study.workload.network = "toy";
  study.worker = {"fake", "1"};
  compare::CurvePoint one;
  one.samples_per_second = 100;
  compare::CurvePoint two;
  two.cpus = two.threads = 2;
  two.samples_per_second = 160;
  two.speedup = 1.6;
  two.speedup_low = 1.5;
  two.speedup_high = 1.7;
  two.efficiency = 0.8;
  two.serial_share = 0.25;
  compare::CurvePoint four;
  four.cpus = four.threads = 4;
  auto eight = four;
  eight.disturbed = 3;
  study.curves = {{compare::ScalingKind::strong, compare::ScaledBy::threads, {one, two, four, eight}}};
  study.left_out = {"something"};
  const auto text = as_terminal(scaling_document(study), {.width = 0, .blocks = false, .colour = false});
  EXPECT_THAT(text, HasSubstr("Strong scaling by threads: the same step on more CPUs\n"));
  EXPECT_THAT(text, HasSubstr("100 %  " + std::string(20, '#') + "\n"));
  EXPECT_THAT(text, HasSubstr("1.60   1.50 to 1.70        80 %  " + std::string(16, '#') + "\n"));
  EXPECT_THAT(text, HasSubstr("no run that counts"));
  EXPECT_THAT(text, HasSubstr("all 3 runs were disturbed"));
  EXPECT_THAT(text, HasSubstr("At 2 CPUs it is as if 25 % of the work did not scale; then no number of CPUs makes it "
                              "more than 4.0 times as fast.\n"));
  EXPECT_THAT(text, HasSubstr("left out: something\n"));
  EXPECT_THAT(text, Not(HasSubstr("█")));
}

TEST(ScalingReport, of_generated_text_speaks_of_sequences) {
  compare::ScalingStudy study;
  study.workload.mode = Mode::generate;
  study.workload.generate.emplace();
  study.curves = {{compare::ScalingKind::weak, compare::ScaledBy::threads, {compare::CurvePoint{}}}};
  const auto text = as_terminal(scaling_document(study), {.width = 0, .blocks = false, .colour = false});
  EXPECT_THAT(text, HasSubstr("Weak scaling by threads: sequences that grow with the CPUs\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("sequences of each"), HasSubstr("sequences/s")));
  EXPECT_THAT(text, Not(HasSubstr("batch")));
}

}  // namespace
}  // namespace assay::report
