#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::mpi {

enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, ping_pong };

}  // namespace assay::mpi

namespace assay {

template <>
struct EnumNames<mpi::Collective> {
  static constexpr std::array<const char*, 6> names{"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "broadcast",  "ping_pong"};
};

}  // namespace assay

namespace assay::mpi {

/// One of the processes that work together.
struct Member {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
};

/// Up to this many ranks every sum of values is exact in a float, in whatever order it is added up.
constexpr std::int64_t kMostRanks = 4096;

/// What a member gives and gets. Operations in place (all_reduce, broadcast) have nothing in `send`.
struct Buffers {
  std::vector<float> send;
  std::vector<float> receive;
};

/// Throws Refused where there are more than kMostRanks, or none.
void check_ranks(std::int64_t ranks);

/// Throws Refused by name where `bytes` cannot be dealt out to this many ranks, or the collective needs another number.
void check(Collective collective, std::int64_t bytes, std::int64_t ranks);

/// Buffers as they are before the first step. What `bytes` counts for each collective: README.md.
Buffers make_buffers(Collective collective, std::int64_t bytes, Member member);

struct Wrong {
  std::size_t index = 0;
  float found = 0;
  float expected = 0;
};

/// After one step on buffers of make_buffers(): the first element of `receive` that is not what the collective must
/// give.
std::optional<Wrong> find_wrong(Collective collective, const Buffers& buffers, Member member);

/// Makes the buffers ready for any number of steps. A sum in place grows with every step unless it is 0.
void make_repeatable(Collective collective, Buffers& buffers);

}  // namespace assay::mpi
