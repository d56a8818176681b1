#include "assay/measure/agent/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/core/error.hpp"

namespace assay::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::string refusal(const std::vector<MemoryNeed>& needs, std::int64_t available) {
  try {
    check_fits(needs, available);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Memory, sidesThatFitAreMeasured) {
  EXPECT_EQ(refusal({{"one", 2 * kGiB, true}, {"two", kGiB, false}}, 3 * kGiB), "");
}

TEST(Memory, sidesThatDoNotFitAreNamedWithTheirFiguresTheLargestFirst) {
  const auto message = refusal({{"one", kGiB, false}, {"two", 2 * kGiB, true}}, kGiB * 5 / 2);
  EXPECT_THAT(message, HasSubstr("2 trials alive at once need 3 GiB, and 2.5 GiB are available"));
  EXPECT_THAT(message, HasSubstr("two 2 GiB (measured before), one 1 GiB (for its weights alone)"));
  EXPECT_THAT(message, AllOf(HasSubstr("fewer trials in a group"), Not(HasSubstr("more."))));
}

TEST(Memory, whatIsNotKnownIsReckonedFromTheWeights) {
  store::Lease lease;
  lease.runs.resize(3);
  Order order;
  order.parts.resize(3);
  for (std::size_t side = 0; side < 3; ++side) {
    lease.runs[side].trial_id = std::string(1, static_cast<char>('a' + side));
    order.parts[side].graph = {{"parameters", 1000}};
    order.processes.emplace_back().part = static_cast<std::int64_t>(side);
  }
  order.processes.emplace_back().part = 1;  // two instances
  order.parts[2].trial.workload.mode = Mode::train;
  const auto needs = memory_needs(order, lease, {{"a", 77}});
  ASSERT_EQ(needs.size(), 3U);
  EXPECT_EQ(needs[0].bytes, 77);
  EXPECT_TRUE(needs[0].measured);
  EXPECT_EQ(needs[1].bytes, 2 * 4 * 1000);
  EXPECT_FALSE(needs[1].measured);
  EXPECT_EQ(needs[2].bytes, 3 * 4 * 1000) << "weights, gradients and momenta";
}

TEST(Memory, someIsAvailableHere) {
  EXPECT_GT(available_memory_bytes(), 0);
}

}  // namespace
}  // namespace assay::measure
