#include "assay/platform/energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/platform/root_fixture.hpp"

namespace assay::platform {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;

/// The tree of a machine with two sockets, as recorded: the second package is 0.5 J before the end of its range.
class RecordedTree : public testing::Test {
 protected:
  RecordedTree() {
    zone("intel-rapl:0", "package-0", 1'000'000);
    zone("intel-rapl:0:0", "core", 900'000);
    zone("intel-rapl:0:1", "dram", 200'000, 65'712'999'613);
    zone("intel-rapl:1", "package-1", 262'143'328'850 - 500'000);
    zone("intel-rapl:1:0", "dram", 300'000, 65'712'999'613);
    zone("intel-rapl:2", "psys", 5'000'000);
    zone("intel-rapl-mmio:0", "package-0", 1'000'000);
    root_.file("intel-rapl/enabled", "1\n");
  }

  void zone(const std::string& name, const std::string& label, std::int64_t uj, std::int64_t range = 262'143'328'850) {
    root_.file(name + "/name", label + "\n");
    root_.file(name + "/max_energy_range_uj", std::to_string(range) + "\n");
    set(name, uj);
  }
  void set(const std::string& name, std::int64_t uj) { root_.file(name + "/energy_uj", std::to_string(uj) + "\n"); }

  FakeRoot root_;
};

TEST_F(RecordedTree, packages_and_their_memory_are_counted_once) {
  const auto counters = rapl_counters(root_.path());
  std::vector<std::string> names;
  for (const auto& counter : counters) names.push_back(counter.name);
  EXPECT_THAT(names, testing::ElementsAre("intel-rapl:0 package-0", "intel-rapl:0:1 dram", "intel-rapl:1 package-1",
                                          "intel-rapl:1:0 dram"));
}

// Window 1 (2 s): package-0 +30 J, its memory +4 J; package-1 wraps: 0.5 J to the end and 24.5 J behind, memory +3 J.
// Window 2 (1 s): package-0 +10 J, the others stand. In all 72 J in 3 s; what is used between windows counts nowhere.
TEST_F(RecordedTree, windows_add_up_over_a_wrap) {
  EnergyWindows windows("rapl", rapl_counters(root_.path()));
  windows.begin(0);
  set("intel-rapl:0", 31'000'000);
  set("intel-rapl:0:1", 4'200'000);
  set("intel-rapl:1", 24'500'000);
  set("intel-rapl:1:0", 3'300'000);
  windows.end(2 * kOneSecond);
  set("intel-rapl:0", 500'000'000);
  windows.begin(10 * kOneSecond);
  set("intel-rapl:0", 510'000'000);
  windows.end(11 * kOneSecond);
  const auto energy = windows.total();
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->joules, 72, 1e-6);
  EXPECT_EQ(energy->ns, 3 * kOneSecond);
  EXPECT_EQ(energy->source, "rapl");
  EXPECT_EQ(energy->counters.size(), 4u);
}

TEST_F(RecordedTree, a_counter_that_vanishes_leaves_nothing_to_tell) {
  EnergyWindows windows("rapl", rapl_counters(root_.path()));
  windows.begin(0);
  std::filesystem::remove(root_.path() / "intel-rapl:1/energy_uj");
  set("intel-rapl:0", 31'000'000);
  windows.end(kOneSecond);
  EXPECT_FALSE(windows.total());
}

TEST_F(RecordedTree, going_back_without_a_known_range_is_no_reading) {
  std::filesystem::remove(root_.path() / "intel-rapl:0/max_energy_range_uj");
  EnergyWindows windows("rapl", rapl_counters(root_.path()));
  windows.begin(0);
  set("intel-rapl:0", 1);
  set("intel-rapl:0:1", 9'000'000);
  windows.end(kOneSecond);
  EXPECT_FALSE(windows.total());
}

TEST(Energy, what_never_counts_is_null_and_not_zero) {
  FakeRoot root;
  root.file("intel-rapl:0/name", "package-0\n").file("intel-rapl:0/energy_uj", "0\n");
  EXPECT_TRUE(rapl_counters(root.path()).empty());
  EXPECT_TRUE(rapl_counters(root.path() / "nowhere").empty());
  root.file("intel-rapl:0/energy_uj", "17\n");
  EnergyWindows stuck("rapl", rapl_counters(root.path()));
  stuck.begin(0);
  stuck.end(kOneSecond);
  EXPECT_FALSE(stuck.total());
  EnergyWindows none("rapl", {});
  none.begin(0);
  none.end(kOneSecond);
  EXPECT_FALSE(none.total());
}

}  // namespace
}  // namespace assay::platform
