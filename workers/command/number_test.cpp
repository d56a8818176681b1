#include "workers/command/number.hpp"

#include <gtest/gtest.h>

#include "workers/common/worker.hpp"

namespace assay::command {
namespace {

TEST(Number, IsTakenInItsUnit) {
  EXPECT_EQ(NumberFinder("time ([0-9.]+)", "s").find("time 1.5\n"), 1'500'000'000);
  EXPECT_EQ(NumberFinder("time ([0-9.]+)", "ms").find("time 1.5"), 1'500'000);
  EXPECT_EQ(NumberFinder("time ([0-9.]+)", "us").find("x\ntime 1.5 us\ny\n\n"), 1'500);
  EXPECT_EQ(NumberFinder("(.*)", "ns").find("1e3"), 1'000);
}

TEST(Number, OfTheLastLineThatMatchesCounts) {
  EXPECT_EQ(NumberFinder("step ([0-9]+)", "ns").find("step 1 step 2\nstep 3 step 4\nend"), 3);
}

TEST(Number, IsMissingWhereTheGroupIsNone) {
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("nothing here"));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find(""));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("t=abc"));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("t=1x"));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("t=-1"));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("t=nan"));
  EXPECT_FALSE(NumberFinder("t=(.*)", "s").find("t=1e300"));
}

TEST(Number, PatternsThatMakeOthersHangAreHarmless) {
  const std::string output(65536, 'a');
  EXPECT_FALSE(NumberFinder("(a+)+b", "s").find(std::string(4096, 'a').substr(0, 300)).has_value());
  EXPECT_FALSE(NumberFinder("^(a|aa)+$x", "s").find(output).has_value());
}

TEST(Number, PatternsAreCheckedBeforeUse) {
  EXPECT_THROW(NumberFinder("(", "s"), worker::Refused);
  EXPECT_THROW(NumberFinder("no group", "s"), worker::Refused);
  EXPECT_THROW(NumberFinder("(a)(b)", "s"), worker::Refused);
  EXPECT_THROW(NumberFinder("(" + std::string(300, 'a') + ")", "s"), worker::Refused);
  EXPECT_THROW(NumberFinder("(a)", "minutes"), worker::Refused);
}

}  // namespace
}  // namespace assay::command
