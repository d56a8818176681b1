#pragma once

#include <cstdint>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::model {

/// What ranks do together. `bytes` counts, as in workers/mpi/README.md: all_reduce, reduce_scatter, broadcast: the
/// whole buffer; all_gather: what each rank gets in all; all_to_all: what each rank gives in all; ping_pong: one way.
enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, ping_pong };

enum class CollectiveAlgorithm {
  ring,                ///< neighbours pass parts on
  recursive_doubling,  ///< partners at distance 1, 2, 4, …; of all_gather also Bruck's, which costs the same
  halving_doubling,    ///< reduce_scatter by halving, then all_gather by doubling (Rabenseifner)
  recursive_halving,   ///< partners at distance P/2, P/4, …
  binary_tree,         ///< up to a root and down again
  double_tree,         ///< two trees at once, pipelined
  pairwise,            ///< one partner after the other
  bruck,               ///< parts travel together in log2 P rounds
  binomial_tree,       ///< those who have it give it on
  scatter_all_gather,  ///< binomial scatter, then a ring (van de Geijn)
  linear,              ///< the root to each in turn
  direct,              ///< there and back
};

}  // namespace assay::model

template <>
struct assay::EnumNames<assay::model::Collective> {
  static constexpr std::array<const char*, 6> names{"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "broadcast",  "ping_pong"};
};

template <>
struct assay::EnumNames<assay::model::CollectiveAlgorithm> {
  static constexpr std::array<const char*, 12> names{
      "ring",          "recursive_doubling", "halving_doubling", "recursive_halving",
      "binary_tree",   "double_tree",        "pairwise",         "bruck",
      "binomial_tree", "scatter_all_gather", "linear",           "direct"};
};

namespace assay::model {

/// What a message of n bytes costs between two ranks: alpha + n beta, and n gamma to add it up.
struct Link {
  double alpha_seconds = 0;
  double beta_seconds_per_byte = 0;
  double gamma_seconds_per_byte = 0;
};

/// seconds = alpha_times alpha + n (beta_times beta + gamma_times gamma).
struct LinkUse {
  double alpha_times = 0;
  double beta_times = 0;
  double gamma_times = 0;
};

/// The algorithms that a collective can have.
const std::vector<CollectiveAlgorithm>& algorithms_of(Collective collective);

/// How often each constant is paid, in the usual model: all links alike, both directions at once, nothing overlaps.
/// Where the number of ranks is no power of two, recursive doubling and halving first add the surplus ranks to others
/// and give them the result at the end; trees have ceil(log2 P) levels.
/// Precondition: ranks >= 1, and the algorithm is one of algorithms_of(collective).
LinkUse link_use(Collective collective, CollectiveAlgorithm algorithm, std::int64_t ranks);

/// Time of one call; of ping_pong, of the round trip.
double seconds(Collective collective, CollectiveAlgorithm algorithm, const Link& link, double bytes,
               std::int64_t ranks);

/// Ranks on nodes: what joins those of a node, and what joins nodes.
struct Nodes {
  Link inside;
  Link across;
  std::int64_t nodes = 1;
  std::int64_t ranks_per_node = 1;
  bool shared_nic = false;  ///< the ranks of a node share one link; else each has its own
};

/// An all_reduce by reduce_scatter inside of nodes, rings across them, each of a share of the buffer, and all_gather
/// inside. Adding up is left out, as it is where devices do it.
double hierarchical_all_reduce_seconds(const Nodes& nodes, double bytes);

}  // namespace assay::model
