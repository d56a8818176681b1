#include "assay/report/results/learned.hpp"

#include <gtest/gtest.h>

#include "assay/core/workloads/learning.hpp"

namespace assay::report {
namespace {

/// Runs of 1 s, 2 s, … in as many epochs; the last `beyond` have not reached the accuracy.
Details learnt_by(std::int64_t runs, std::int64_t beyond) {
  Details details;
  for (std::int64_t run = 1; run <= runs; ++run) {
    Learned learned;
    learned.reached = run <= runs - beyond;
    learned.accuracy = learned.reached ? 0.98 : 0.5;
    learned.ns = run * 1'000'000'000;
    learned.samples = run * 1408;
    learned.epochs = run;
    details.effective[kLearned].push_back({to_json(learned), 1});
  }
  return details;
}

TEST(LearnedResult, IsOfRunsThatLearnAlone) {
  EXPECT_FALSE(learned_of({}));
}

// Of 7 runs the fourth is in the middle; a 95 % interval of the median reaches from the first to the last.
TEST(LearnedResult, HasTheMedianAndItsInterval) {
  const auto learned = learned_of(learnt_by(7, 0));
  ASSERT_TRUE(learned);
  EXPECT_EQ(learned->reached, 7);
  EXPECT_EQ(learned->ns, 4e9);
  EXPECT_EQ(learned->epochs, 4);
  EXPECT_EQ(learned->samples, 4 * 1408);
  ASSERT_TRUE(learned->ns_interval);
  EXPECT_EQ(learned->ns_interval->low, 1e9);
  EXPECT_EQ(learned->ns_interval->high, 7e9);
  EXPECT_EQ(learned_line(*learned),
            "accuracy: reached by 7 of 7 runs, in 4 s (95 % interval 1 s - 7 s), 4 epochs, 5632 samples");
}

TEST(LearnedResult, ARunThatHasNotReachedItTakesLongerThanAnyOther) {
  const auto some = learned_of(learnt_by(7, 3));
  EXPECT_EQ(some->reached, 4);
  EXPECT_EQ(some->ns, 4e9);  // the fourth, whatever the last three would have taken
  EXPECT_FALSE(some->ns_interval) << "its upper end is not known";
  EXPECT_EQ(learned_line(*some),
            "accuracy: reached by 4 of 7 runs, in 4 s, 4 epochs, 5632 samples; the lowest ended at 50.0 %");
  const auto most = learned_of(learnt_by(7, 4));
  EXPECT_FALSE(most->ns);
  EXPECT_EQ(learned_line(*most), "accuracy: reached by 3 of 7 runs; the lowest ended at 50.0 %");
  EXPECT_FALSE(learned_of(learnt_by(6, 3))->ns) << "the middle is between the third and one that is not known";
}

}  // namespace
}  // namespace assay::report
