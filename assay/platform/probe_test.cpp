#include "assay/platform/probe.hpp"

#include <gtest/gtest.h>

namespace assay::platform {
namespace {

TEST(SpeedProbe, takes_some_time_and_not_much) {
  SpeedProbe probe;
  for (int i = 0; i < 3; ++i) {
    const auto ns = probe.run();
    EXPECT_GT(ns, 10'000);         // 85 million operations: no machine does them in 10 us
    EXPECT_LT(ns, 2'000'000'000);  // and a slow, loaded one in less than 2 s
  }
}

}  // namespace
}  // namespace assay::platform
