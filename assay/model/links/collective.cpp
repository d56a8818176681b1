#include "assay/model/links/collective.hpp"

#include <bit>

namespace assay::model {
namespace {

using Algorithm = CollectiveAlgorithm;

/// A number of ranks as the formulas see it.
struct RankCount {
  explicit RankCount(std::int64_t ranks)
      : count(static_cast<double>(ranks)),
        full(static_cast<double>(std::bit_floor(static_cast<std::uint64_t>(ranks)))),
        rounds(static_cast<double>(std::bit_width(static_cast<std::uint64_t>(ranks)) - 1)),
        surplus(count > full ? 1 : 0) {}

  double levels() const { return rounds + surplus; }  ///< ceil(log2 P)
  double share() const { return (count - 1) / count; }
  double full_share() const { return (full - 1) / full; }

  double count;
  double full;     ///< the largest power of two that is not above it
  double rounds;   ///< log2 of that
  double surplus;  ///< 1 where there are ranks beyond it
};

LinkUse use_of_all_reduce(Algorithm algorithm, const RankCount& p) {
  switch (algorithm) {
    case Algorithm::ring:
      return {2 * (p.count - 1), 2 * p.share(), p.share()};
    case Algorithm::recursive_doubling:
      return {p.rounds + 2 * p.surplus, p.rounds + 2 * p.surplus, p.rounds + p.surplus};
    case Algorithm::halving_doubling:
      return {2 * p.rounds + 2 * p.surplus, 2 * p.full_share() + 2 * p.surplus, p.full_share() + p.surplus};
    case Algorithm::binary_tree:
      return {2 * p.levels(), 2 * p.levels(), p.levels()};
    default:  // double_tree
      return {2 * p.levels(), p.count > 1 ? 2.0 : 0.0, p.count > 1 ? 1.0 : 0.0};
  }
}

LinkUse use_of_reduce_scatter(Algorithm algorithm, const RankCount& p) {
  if (algorithm == Algorithm::ring) return {p.count - 1, p.share(), p.share()};
  // The surplus ranks give all they have and get their part of the sum.
  return {p.rounds + 2 * p.surplus, p.full_share() + p.surplus * (1 + 1 / p.count), p.full_share() + p.surplus};
}

LinkUse use_of_broadcast(Algorithm algorithm, const RankCount& p) {
  switch (algorithm) {
    case Algorithm::binomial_tree:
      return {p.levels(), p.levels(), 0};
    case Algorithm::scatter_all_gather:
      return {p.levels() + p.count - 1, 2 * p.share(), 0};
    default:  // linear
      return {p.count - 1, p.count - 1, 0};
  }
}

/// In round k a rank passes on the parts whose distance has bit k set.
LinkUse use_of_bruck(std::int64_t ranks, const RankCount& p) {
  double parts = 0;
  for (std::int64_t distance = 0; distance < ranks; ++distance) {
    parts += std::popcount(static_cast<std::uint64_t>(distance));
  }
  return {p.levels(), parts / p.count, 0};
}

}  // namespace

const std::vector<CollectiveAlgorithm>& algorithms_of(Collective collective) {
  static const std::vector<std::vector<CollectiveAlgorithm>> all{
      {Algorithm::ring, Algorithm::recursive_doubling, Algorithm::halving_doubling, Algorithm::binary_tree,
       Algorithm::double_tree},
      {Algorithm::ring, Algorithm::recursive_doubling},
      {Algorithm::ring, Algorithm::recursive_halving},
      {Algorithm::pairwise, Algorithm::bruck},
      {Algorithm::binomial_tree, Algorithm::scatter_all_gather, Algorithm::linear},
      {Algorithm::direct},
  };
  return all.at(static_cast<std::size_t>(collective));
}

LinkUse link_use(Collective collective, CollectiveAlgorithm algorithm, std::int64_t ranks) {
  ASSAY_CHECK(ranks >= 1);
  const RankCount p(ranks);
  switch (collective) {
    case Collective::all_reduce:
      return use_of_all_reduce(algorithm, p);
    case Collective::all_gather:
      return {algorithm == Algorithm::ring ? p.count - 1 : p.levels(), p.share(), 0};
    case Collective::reduce_scatter:
      return use_of_reduce_scatter(algorithm, p);
    case Collective::all_to_all:
      return algorithm == Algorithm::bruck ? use_of_bruck(ranks, p) : LinkUse{p.count - 1, p.share(), 0};
    case Collective::broadcast:
      return use_of_broadcast(algorithm, p);
    case Collective::ping_pong:
      break;
  }
  return {2, 2, 0};
}

double seconds(Collective collective, CollectiveAlgorithm algorithm, const Link& link, double bytes,
               std::int64_t ranks) {
  const auto use = link_use(collective, algorithm, ranks);
  return use.alpha_times * link.alpha_seconds +
         bytes * (use.beta_times * link.beta_seconds_per_byte + use.gamma_times * link.gamma_seconds_per_byte);
}

double hierarchical_all_reduce_seconds(const Nodes& nodes, double bytes) {
  const auto ring = [](const Link& link, double n, std::int64_t ranks) {
    const auto use = link_use(Collective::all_reduce, Algorithm::ring, ranks);
    return use.alpha_times * link.alpha_seconds + use.beta_times * n * link.beta_seconds_per_byte;
  };
  const double share = nodes.shared_nic ? bytes : bytes / static_cast<double>(nodes.ranks_per_node);
  return ring(nodes.inside, bytes, nodes.ranks_per_node) + ring(nodes.across, share, nodes.nodes);
}

}  // namespace assay::model
