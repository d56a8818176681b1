#include "assay/tune/apply/rescale.hpp"

#include <gtest/gtest.h>

namespace assay::tune {
namespace {

/// "instances x inter_op x intra_op" after scaling; null is 1 in the product and "-" here.
std::string scaled(std::optional<std::int64_t> instances, std::optional<std::int64_t> inter,
                   std::optional<std::int64_t> intra, std::int64_t from, std::int64_t to) {
  Settings settings;
  settings.instances = instances;
  settings.inter_op = inter;
  settings.intra_op = intra;
  const auto out = rescaled(settings, from, to);
  const auto text = [](std::optional<std::int64_t> value) { return value ? std::to_string(*value) : "-"; };
  return text(out.instances) + "x" + text(out.inter_op) + "x" + text(out.intra_op);
}

constexpr std::nullopt_t kNull = std::nullopt;

TEST(Rescale, half_of_the_cores_halves_the_instances_and_keeps_their_threads) {
  EXPECT_EQ(scaled(4, kNull, 2, 8, 4), "2x-x2");
  EXPECT_EQ(scaled(2, kNull, 4, 8, 4), "1x-x4");
  EXPECT_EQ(scaled(8, kNull, 1, 8, 4), "4x-x1");
}

TEST(Rescale, twice_the_cores_double_the_instances_and_keep_their_threads) {
  EXPECT_EQ(scaled(2, kNull, 2, 4, 8), "4x-x2");
  EXPECT_EQ(scaled(4, kNull, 1, 4, 8), "8x-x1");
}

TEST(Rescale, one_instance_stays_one) {
  EXPECT_EQ(scaled(1, kNull, 8, 8, 4), "1x-x4");
  EXPECT_EQ(scaled(1, kNull, 4, 4, 8), "1x-x8");
  EXPECT_EQ(scaled(kNull, kNull, 8, 8, 3), "-x-x3");
}

TEST(Rescale, threads_left_over_go_to_the_instances_there_are) {
  // 4 x 2 on 8 cores: 3/8 are 1.5 instances, so one, and it has the 8 x 3/8 = 3 threads.
  EXPECT_EQ(scaled(4, kNull, 2, 8, 3), "1x-x3");
  // 2 x 4: less than an instance is one, with 3 threads. 8 x 1: three of one thread.
  EXPECT_EQ(scaled(2, kNull, 4, 8, 3), "1x-x3");
  EXPECT_EQ(scaled(8, kNull, 1, 8, 3), "3x-x1");
}

TEST(Rescale, threads_per_core_stay) {
  EXPECT_EQ(scaled(1, kNull, 4, 8, 4), "1x-x2");   // half of the cores were used
  EXPECT_EQ(scaled(1, kNull, 16, 8, 4), "1x-x8");  // two threads a core
}

TEST(Rescale, pools_stay_until_there_is_less_than_a_thread_for_each) {
  EXPECT_EQ(scaled(1, 2, 4, 8, 4), "1x2x2");
  EXPECT_EQ(scaled(1, 2, 4, 8, 3), "1x2x1");  // 3 threads of 2 pools
  EXPECT_EQ(scaled(1, 4, 2, 8, 3), "1x3x1");  // 3 threads are 3 pools
  EXPECT_EQ(scaled(1, 4, 2, 8, 1), "1x1x1");
  EXPECT_EQ(scaled(1, 2, kNull, 8, 4), "1x2x-");  // threads are the framework's own choice: it sees the cores
}

TEST(Rescale, threads_of_the_library_scale_like_those_of_the_framework) {
  Settings settings;
  settings.intra_op = 8;
  settings.library_threads = 4;
  const auto out = rescaled(settings, 8, 4);
  EXPECT_EQ(out.intra_op, 4);
  EXPECT_EQ(out.library_threads, 2);
}

/// The bound that the header gives, over every small case.
TEST(Rescale, never_more_threads_per_core_than_tuned_but_for_one_of_each) {
  for (std::int64_t instances = 1; instances <= 6; ++instances) {
    for (std::int64_t inter = 1; inter <= 4; ++inter) {
      for (std::int64_t intra = 1; intra <= 6; ++intra) {
        for (std::int64_t from = 1; from <= 12; ++from) {
          for (std::int64_t to = 1; to <= 12; ++to) {
            Settings settings;
            settings.instances = instances;
            settings.inter_op = inter;
            settings.intra_op = intra;
            const auto out = rescaled(settings, from, to);
            const auto threads = *out.instances * *out.inter_op * *out.intra_op;
            ASSERT_GE(*out.instances, 1);
            ASSERT_TRUE(threads == *out.instances || threads * from <= instances * inter * intra * to)
                << instances << "x" << inter << "x" << intra << " from " << from << " to " << to;
            ASSERT_TRUE(*out.instances == 1 || *out.instances * from <= instances * to);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::tune
