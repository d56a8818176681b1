#include "assay/platform/cpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::int64_t> kSix{2, 3, 5, 8, 9, 11};

TEST(Cpus, without_an_affinity_nothing_is_pinned) {
  EXPECT_THAT(cpus_of_instance(kSix, std::nullopt, 0, 2), IsEmpty());
  EXPECT_THAT(cpus_of_instance(kSix, Affinity::none, 0, 2), IsEmpty());
}

TEST(Cpus, one_compact_instance_has_them_all) {
  EXPECT_EQ(cpus_of_instance(kSix, Affinity::compact, 0, 1), kSix);
}

TEST(Cpus, compact_gives_neighbours_and_spread_deals_them_out) {
  EXPECT_THAT(cpus_of_instance(kSix, Affinity::compact, 0, 2), ElementsAre(2, 3, 5));
  EXPECT_THAT(cpus_of_instance(kSix, Affinity::compact, 1, 2), ElementsAre(8, 9, 11));
  EXPECT_THAT(cpus_of_instance(kSix, Affinity::spread, 0, 2), ElementsAre(2, 5, 9));
  EXPECT_THAT(cpus_of_instance(kSix, Affinity::spread, 1, 2), ElementsAre(3, 8, 11));
}

TEST(Cpus, every_cpu_has_one_owner_whatever_the_count) {
  for (const auto affinity : {Affinity::compact, Affinity::spread}) {
    for (std::int64_t count = 1; count <= 6; ++count) {
      std::vector<std::int64_t> all;
      std::size_t least = 6;
      std::size_t most = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto mine = cpus_of_instance(kSix, affinity, i, count);
        all.insert(all.end(), mine.begin(), mine.end());
        least = std::min(least, mine.size());
        most = std::max(most, mine.size());
      }
      EXPECT_THAT(all, testing::UnorderedElementsAreArray(kSix));
      EXPECT_LE(most - least, 1u);
    }
  }
}

TEST(Cpus, more_instances_than_cpus_share_one_each) {
  EXPECT_THAT(cpus_of_instance({4, 6}, Affinity::compact, 2, 3), ElementsAre(4));
}

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
