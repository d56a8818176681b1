#include "assay/report/subjects/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/report/renderers/markdown.hpp"
#include "assay/report/renderers/terminal.hpp"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

tune::Tried tried(std::int64_t instances, std::int64_t intra_op, std::vector<double> seconds) {
  tune::Tried one;
  one.settings.instances = instances;
  one.settings.intra_op = intra_op;
  one.seconds = std::move(seconds);
  return one;
}

TEST(HeatMap, shows_the_best_of_each_cell_relative_to_the_cheapest) {
  // The cell of 1 instance with 2 threads was measured with two allocators: the cheaper one counts.
  const auto map = heat_map({tried(1, 1, {3}), tried(1, 2, {9, 2, 2}), tried(1, 2, {2.5}), tried(2, 1, {4})}, false);
  EXPECT_EQ(map,
            "instances        1        2   intra_op\n"
            "        1     1.50     1.00\n"
            "        2     2.00        .\n");
}

TEST(HeatMap, is_none_of_a_single_cell_and_coloured_only_on_request) {
  EXPECT_EQ(heat_map({tried(1, 1, {3})}, true), "");
  EXPECT_EQ(heat_map({}, true), "");
  const std::vector<tune::Tried> two{tried(1, 1, {3}), tried(1, 2, {1})};
  EXPECT_THAT(heat_map(two, true), HasSubstr("\033[30;48;5;46m1.00\033[0m"));
  EXPECT_THAT(heat_map(two, false), Not(HasSubstr("\033")));
}

tune::Tuning tuning() {
  tune::Tuning t;
  t.name = "mine";
  t.workload.network = "toy";
  t.worker = {"fake", "1"};
  t.goal = "throughput";
  t.settings.intra_op = 2;
  t.results.emplace();
  t.results->seconds = 0.01;
  return t;
}

TEST(TuningReport, tells_gains_with_what_is_inert) {
  auto t = tuning();
  tune::Gain default_gain{"framework-default", "", {}, {}, false, {1.25, 1.2, 1.3, 6}, {}};
  tune::Gain guide{"paper", "", {}, {"KMP_BLOCKTIME=30: nothing reads it"}, true, {}, {}};
  t.results->gains = {default_gain, guide};
  const auto text = as_terminal(tuning_document(t), {});
  EXPECT_THAT(text, HasSubstr("Best: intra_op=2   100/s"));
  EXPECT_THAT(text, HasSubstr("1.250x  1.200 to 1.300"));
  EXPECT_THAT(text, HasSubstr("these are the best; partly inert: KMP_BLOCKTIME"));
  EXPECT_THAT(text, HasSubstr("assay exec --tuned mine -- PROGRAM"));
  EXPECT_THAT(text, Not(HasSubstr("keeps the limit")));
}

TEST(TuningReport, as_markdown_has_the_best_and_its_gains) {
  auto t = tuning();
  const tune::Gain gain{"framework-default", "", {}, {}, false, {1.25, 1.2, 1.3, 6}, {}};
  t.results->gains = {gain};
  const auto text = as_markdown(tuning_document(t));
  EXPECT_THAT(text, HasSubstr("Best: intra&#95;op=2   100/s\n"));  // 95 is _
  EXPECT_THAT(text, HasSubstr("\n| framework-default | default | 1.250x | 1.200 to 1.300 |  |\n"));
}

TEST(TuningReport, tells_the_journal_line_by_line) {
  auto t = tuning();
  t.results->journal = {{"improvement", "intra_op=2", {}, 0.01, {}, 0.02, "an improvement of 5.0 % is expected of it"},
                        {"race", "intra_op=1", "intra_op=2", {}, 1.5, {}, "the one ahead stays"}};
  EXPECT_EQ(as_terminal(journal_document(t), {}),
            "  1  improvement  intra_op=2  100/s  (expected 50/s)\n"
            "       an improvement of 5.0 % is expected of it\n"
            "  2  race         intra_op=1 against intra_op=2  ratio 1.500\n"
            "       the one ahead stays\n");
}

}  // namespace
}  // namespace assay::report
