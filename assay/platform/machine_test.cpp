#include "assay/platform/machine.hpp"

#include <gtest/gtest.h>

#include "assay/platform/cpus.hpp"

namespace assay::platform {
namespace {

TEST(Machine, the_id_is_the_same_each_time) {
  EXPECT_EQ(this_machine().id, this_machine().id);
  EXPECT_EQ(this_machine().id.size(), 32u);
}

TEST(Machine, fewer_cpus_allowed_is_another_machine) {
  const auto all = allowed_cpus();
  if (all.size() < 2) GTEST_SKIP() << "one CPU only";
  const auto before = this_machine().id;
  ASSERT_TRUE(pin_to({all[0]}));
  const auto pinned = this_machine().id;
  ASSERT_TRUE(pin_to(all));
  EXPECT_NE(before, pinned);
}

TEST(Machine, state_is_no_part_of_the_id) {
  const auto machine = this_machine();
  const json state = machine_state();
  for (const auto& [name, value] : state.items()) EXPECT_FALSE(machine.description.contains(name)) << name;
}

}  // namespace
}  // namespace assay::platform
