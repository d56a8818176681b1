#include "workers/mpi/collective.hpp"

#include <algorithm>

#include "workers/common/worker.hpp"

namespace assay::mpi {
namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);
constexpr float kUnset = -1;

// Two primes: neighbouring ranks and, as blocks are rarely a multiple of 61, neighbouring blocks differ.
constexpr std::int64_t kRankFactors = 127;
constexpr std::int64_t kElementFactors = 61;

std::int64_t rank_factor(std::int64_t rank) {
  return rank % kRankFactors + 1;
}

/// What `rank` gives at `index` of its buffer, where rank_factor() is `factor`.
float value(std::int64_t factor, std::int64_t index) {
  return static_cast<float>(factor * (index % kElementFactors + 1));
}

std::vector<float> values_of(std::int64_t rank, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const std::int64_t factor = rank_factor(rank);
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(factor, i);
  return values;
}

std::vector<float> unset(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), kUnset);
}

std::int64_t sum_of_factors(std::int64_t ranks) {
  std::int64_t sum = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) sum += rank_factor(rank);
  return sum;
}

/// What must lie at `index` of the receive buffer. `count` is its length, `sum` that of all rank_factor().
float expected(Collective collective, Member member, std::int64_t count, std::int64_t sum, std::int64_t index) {
  const std::int64_t block = std::max<std::int64_t>(1, count / member.ranks);
  switch (collective) {
    case Collective::all_reduce:
      return value(sum, index);
    case Collective::all_gather:
      return value(rank_factor(index / block), index % block);
    case Collective::reduce_scatter:
      return value(sum, member.rank * count + index);
    case Collective::all_to_all:
      return value(rank_factor(index / block), member.rank * block + index % block);
    case Collective::broadcast:
    case Collective::ping_pong:
      break;
  }
  return value(rank_factor(0), index);
}

}  // namespace

void check_ranks(std::int64_t ranks) {
  if (ranks < 1 || ranks > kMostRanks) worker::refuse("{} ranks: there may be 1 to {}.", ranks, kMostRanks);
}

void check(Collective collective, std::int64_t bytes, std::int64_t ranks) {
  check_ranks(ranks);
  if (collective == Collective::ping_pong && ranks != 2) {
    worker::refuse("network ping_pong: it needs exactly 2 ranks, not {}.", ranks);
  }
  if (bytes < 1 || bytes % (kFloatBytes * ranks) != 0) {
    worker::refuse("option bytes: {} is not a multiple of {}: {} bytes for each of {} ranks.", bytes,
                   kFloatBytes * ranks, kFloatBytes, ranks);
  }
}

Buffers make_buffers(Collective collective, std::int64_t bytes, Member member) {
  const std::int64_t count = bytes / kFloatBytes;
  const std::int64_t block = count / member.ranks;
  const bool begins = member.rank == 0;
  switch (collective) {
    case Collective::all_reduce:
      return {{}, values_of(member.rank, count)};
    case Collective::all_gather:
      return {values_of(member.rank, block), unset(count)};
    case Collective::reduce_scatter:
      return {values_of(member.rank, count), unset(block)};
    case Collective::all_to_all:
      return {values_of(member.rank, count), unset(count)};
    case Collective::broadcast:
      return {{}, begins ? values_of(0, count) : unset(count)};
    case Collective::ping_pong:
      break;
  }
  return {begins ? values_of(0, count) : std::vector<float>{}, unset(count)};
}

std::optional<Wrong> find_wrong(Collective collective, const Buffers& buffers, Member member) {
  const auto count = static_cast<std::int64_t>(buffers.receive.size());
  const std::int64_t sum = sum_of_factors(member.ranks);
  for (std::int64_t i = 0; i < count; ++i) {
    const float found = buffers.receive[static_cast<std::size_t>(i)];
    const float right = expected(collective, member, count, sum, i);
    if (found != right) return Wrong{static_cast<std::size_t>(i), found, right};
  }
  return std::nullopt;
}

void make_repeatable(Collective collective, Buffers& buffers) {
  if (collective == Collective::all_reduce) std::fill(buffers.receive.begin(), buffers.receive.end(), 0.0F);
}

}  // namespace assay::mpi
