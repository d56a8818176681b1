#include "assay/platform/cpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::platform {
namespace {

using testing::ElementsAre;

TEST(Cpus, a_process_can_be_pinned_to_what_it_may_use) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  ASSERT_TRUE(pin_to({before.back()}));
  EXPECT_THAT(allowed_cpus(), ElementsAre(before.back()));
  ASSERT_TRUE(pin_to(before));
  EXPECT_FALSE(pin_to({8000}));
}

}  // namespace
}  // namespace assay::platform
