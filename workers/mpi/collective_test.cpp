#include "workers/mpi/collective.hpp"

#include <gmock/gmock.h>

#include "workers/common/worker.hpp"

namespace assay::mpi {
namespace {

constexpr std::int64_t kRanks = 3;
constexpr std::int64_t kBytes = 4 * kRanks * 25;  // blocks of 25 floats, buffers of 75: past one round of the values

std::vector<Buffers> buffers_of_all(Collective collective) {
  std::vector<Buffers> all;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) all.push_back(make_buffers(collective, kBytes, {rank, kRanks}));
  return all;
}

/// The collectives by their definition, element by element, on the buffers of all ranks at once.
void run(Collective collective, std::vector<Buffers>& all) {
  const std::vector<Buffers> before = all;
  for (std::size_t me = 0; me < all.size(); ++me) {
    auto& receive = all[me].receive;
    const std::size_t block = receive.size() / all.size();
    for (std::size_t i = 0; i < receive.size(); ++i) {
      float sum = 0;
      switch (collective) {
        case Collective::all_reduce:
          for (const auto& other : before) sum += other.receive[i];
          receive[i] = sum;
          break;
        case Collective::all_gather:
          receive[i] = before[i / block].send[i % block];
          break;
        case Collective::reduce_scatter:
          for (const auto& other : before) sum += other.send[me * receive.size() + i];
          receive[i] = sum;
          break;
        case Collective::all_to_all:
          receive[i] = before[i / block].send[me * block + i % block];
          break;
        case Collective::broadcast:
          receive[i] = before[0].receive[i];
          break;
        case Collective::ping_pong:
          receive[i] = before[0].send[i];
          break;
      }
    }
  }
}

class EachCollective : public testing::TestWithParam<Collective> {};

INSTANTIATE_TEST_SUITE_P(Collective, EachCollective,
                         testing::Values(Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                         Collective::all_to_all, Collective::broadcast, Collective::ping_pong),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST_P(EachCollective, TheResultByDefinitionIsRight) {
  auto all = buffers_of_all(GetParam());
  run(GetParam(), all);
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_FALSE(find_wrong(GetParam(), all[static_cast<std::size_t>(rank)], {rank, kRanks})) << rank;
  }
}

TEST_P(EachCollective, NothingDoneIsWrong) {
  const auto all = buffers_of_all(GetParam());
  // The root of a broadcast has its result from the beginning.
  for (std::int64_t rank = GetParam() == Collective::broadcast ? 1 : 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(find_wrong(GetParam(), all[static_cast<std::size_t>(rank)], {rank, kRanks})) << rank;
  }
}

TEST_P(EachCollective, OneWrongElementIsFound) {
  auto all = buffers_of_all(GetParam());
  run(GetParam(), all);
  auto& receive = all[1].receive;
  const float right = receive.back();
  receive.back() += 1;
  const auto wrong = find_wrong(GetParam(), all[1], {1, kRanks});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->index, receive.size() - 1);
  EXPECT_EQ(wrong->found, right + 1);
  EXPECT_EQ(wrong->expected, right);
}

TEST_P(EachCollective, SwappedPiecesAreFound) {
  auto all = buffers_of_all(GetParam());
  run(GetParam(), all);
  auto& receive = all[0].receive;
  std::swap_ranges(receive.begin(), receive.begin() + 8, receive.begin() + 8);
  EXPECT_TRUE(find_wrong(GetParam(), all[0], {0, kRanks}));
}

TEST_P(EachCollective, RepeatedStepsStayFinite) {
  auto all = buffers_of_all(GetParam());
  for (auto& buffers : all) make_repeatable(GetParam(), buffers);
  for (int i = 0; i < 200; ++i) run(GetParam(), all);  // 3^200 is beyond a float
  for (const auto& buffers : all) {
    for (const float number : buffers.receive) ASSERT_LT(std::abs(number), 1e9F);
  }
}

TEST(Collective, SumsOverTheMostRanksAreExact) {
  // Factors 1 to 127 of the ranks, 32 rounds and 32 more ranks; times 61, the largest factor of an element.
  const std::int64_t sum = 32 * (127 * 128 / 2) + 32 * 33 / 2;
  EXPECT_LT(sum * 61, std::int64_t{1} << 24);
  Buffers buffers = make_buffers(Collective::all_reduce, 4 * kMostRanks, {0, kMostRanks});
  for (std::size_t i = 0; i < buffers.receive.size(); ++i) {
    buffers.receive[i] = static_cast<float>(sum * static_cast<std::int64_t>(i % 61 + 1));
  }
  EXPECT_FALSE(find_wrong(Collective::all_reduce, buffers, {0, kMostRanks}));
}

TEST(Collective, BytesCountTheWholeBuffer) {
  const auto sizes = [](Collective collective, std::int64_t rank) {
    const auto buffers = make_buffers(collective, 64, {rank, 4});
    return std::pair{buffers.send.size(), buffers.receive.size()};
  };
  using Sizes = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(sizes(Collective::all_reduce, 1), Sizes(0, 16));
  EXPECT_EQ(sizes(Collective::all_gather, 1), Sizes(4, 16));
  EXPECT_EQ(sizes(Collective::reduce_scatter, 1), Sizes(16, 4));
  EXPECT_EQ(sizes(Collective::all_to_all, 1), Sizes(16, 16));
  EXPECT_EQ(sizes(Collective::broadcast, 1), Sizes(0, 16));
}

std::string refusal(Collective collective, std::int64_t bytes, std::int64_t ranks) {
  try {
    check(collective, bytes, ranks);
    return "";
  } catch (const worker::Refused& error) {
    return error.what();
  }
}

TEST(Collective, WhatCannotBeDealtOutIsRefusedByName) {
  EXPECT_EQ(refusal(Collective::all_reduce, 24, 3), "");
  EXPECT_THAT(refusal(Collective::all_reduce, 16, 3), testing::HasSubstr("option bytes: 16 is not a multiple of 12"));
  EXPECT_THAT(refusal(Collective::ping_pong, 24, 3), testing::HasSubstr("ping_pong"));
  EXPECT_THAT(refusal(Collective::ping_pong, 24, 1), testing::HasSubstr("2 ranks"));
  EXPECT_THAT(refusal(Collective::broadcast, 4 * 4097, 4097), testing::HasSubstr("4097 ranks"));
}

}  // namespace
}  // namespace assay::mpi
