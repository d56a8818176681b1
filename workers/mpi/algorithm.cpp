#include "workers/mpi/algorithm.hpp"

#include "workers/common/worker.hpp"

namespace assay::mpi {

// Left out: segmented_ring is ring, pipeline is a chain and split_binary_tree is a chain as long as no segment size is
// set; two_proc is what its name says.
std::vector<std::string> algorithms_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return {kDefaultAlgorithm, "basic_linear", "nonoverlapping", "recursive_doubling", "ring", "rabenseifner"};
    case Collective::all_gather:
      return {kDefaultAlgorithm, "linear", "bruck", "recursive_doubling", "ring", "neighbor"};
    case Collective::reduce_scatter:
      return {kDefaultAlgorithm, "non-overlapping", "recursive_halving", "ring", "butterfly"};
    case Collective::all_to_all:
      return {kDefaultAlgorithm, "linear", "pairwise", "modified_bruck", "linear_sync"};
    case Collective::broadcast:
      return {kDefaultAlgorithm,   "basic_linear",          "chain", "binary_tree", "binomial", "knomial",
              "scatter_allgather", "scatter_allgather_ring"};
    case Collective::ping_pong:
      break;
  }
  return {};
}

void check_algorithm(Collective collective, const std::string& algorithm, std::int64_t ranks) {
  if (algorithm == kDefaultAlgorithm) return;
  if (ranks < 2) worker::refuse("option algorithm: {} needs at least 2 ranks.", algorithm);
  if (collective != Collective::all_gather) return;
  if (algorithm == "recursive_doubling" && (ranks & (ranks - 1)) != 0) {
    worker::refuse("option algorithm: {} needs a power of two of ranks, not {}.", algorithm, ranks);
  }
  if (algorithm == "neighbor" && ranks % 2 != 0) {
    worker::refuse("option algorithm: {} needs an even number of ranks, not {}.", algorithm, ranks);
  }
}

std::string algorithm_parameter(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "coll_tuned_allreduce_algorithm";
    case Collective::all_gather:
      return "coll_tuned_allgather_algorithm";
    case Collective::reduce_scatter:
      return "coll_tuned_reduce_scatter_algorithm";
    case Collective::all_to_all:
      return "coll_tuned_alltoall_algorithm";
    case Collective::broadcast:
      return "coll_tuned_bcast_algorithm";
    case Collective::ping_pong:
      break;
  }
  return "";
}

}  // namespace assay::mpi
