#include "assay/platform/gpus.hpp"

#include <gtest/gtest.h>

namespace assay::platform {
namespace {

TEST(Gpus, names_memory_and_driver_come_from_the_library) {
  const auto found = read_gpus(ASSAY_FAKE_NVML);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->driver, "535.54.03");
  ASSERT_EQ(found->gpus.size(), 2u);
  EXPECT_EQ(found->gpus[0].name, "Imitation A100");
  EXPECT_EQ(found->gpus[0].memory_bytes, 40LL << 30);
  EXPECT_EQ(found->gpus[1].name, "Imitation T4");
  EXPECT_FALSE(found->gpus[1].memory_bytes.has_value()) << "what cannot be read is null";
}

TEST(Gpus, energy_comes_from_those_that_count_it) {
  const auto counters = gpu_energy_counters(ASSAY_FAKE_NVML);
  ASSERT_EQ(counters.size(), 1u) << "the second says that it does not";
  EnergyWindows windows("nvml", counters);
  windows.begin(0);
  windows.end(1'000'000'000);
  ASSERT_TRUE(windows.total());
  EXPECT_NEAR(windows.total()->joules, 2.5, 1e-9);  // one reading further
  EXPECT_TRUE(gpu_energy_counters("libm.so.6").empty());
}

TEST(Gpus, without_a_library_nothing_is_known) {
  EXPECT_FALSE(read_gpus("libassay-there-is-no-such-library.so").has_value());
}

TEST(Gpus, a_library_that_lacks_the_functions_tells_nothing) {
  EXPECT_FALSE(read_gpus("libm.so.6").has_value());
}

}  // namespace
}  // namespace assay::platform
