#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "assay/tune/search/search.hpp"

namespace bench {

struct Machine {
  int sockets = 1;
  int nodes = 1;
  int cores = 16;
  int threads = 16;
};

enum class Pin { none, compact, spread };
enum class Bind { none, local, interleave };
enum class Malloc { system, tcmalloc, jemalloc };

struct Knobs {
  int instances = 1;
  int inter_op = 1;
  int intra_op = 1;
  Pin affinity = Pin::none;
  Bind memory_bind = Bind::none;
  Malloc allocator = Malloc::system;
  bool spin = true;

  int threads() const { return instances * inter_op * intra_op; }
  bool operator==(const Knobs&) const = default;
};

/// How a workload runs on a machine. Every number is drawn; what holds of all machines is in surface.cpp.
struct Law {
  bool throughput = true;     ///< else latency
  bool rough = false;         ///< cliffs, plateaus and remainders instead of slopes
  double width = 1;           ///< operators that can run at once
  double pool_cost = 0;       ///< of each further pool
  double serial = 0.02;       ///< Amdahl's share of an operator
  double widest = 32;         ///< threads that an operator can use
  int blocks = 64;            ///< equal pieces of an operator, where it is rough
  double memory = 0.2;        ///< share of the time that waits for memory, on one thread
  double saturation = 0.4;    ///< threads that saturate a node's memory, as a share of its cores
  double sharing = 0.05;      ///< growth of `memory` with each doubling of instances on a node
  double remote = 0.3;        ///< a far access takes this much longer
  double sync = 0.001;        ///< per doubling of a team
  double crossing = 0.1;      ///< a team that crosses a border of NUMA nodes
  double hyper_gain = 0.2;    ///< what a second thread on a core adds
  double hyper_cost = 0;      ///< paid at once by a team with two threads on a core
  double oversubscribed = 1;  ///< exponent
  double migration = 0.04;    ///< of threads that are not pinned
  double allocation = 0.04;   ///< of the system's allocator in a wide instance
  double tcmalloc = 0;
  double jemalloc = 0;
  double spin_gain = 0.5;  ///< share of `sync` that is left while spinning
  double spin_cost = 0.3;  ///< where threads that spin take CPUs from others
};

/// A synthetic machine and workload: candidates with features, their true costs, and guides to begin with.
struct Surface {
  std::int64_t seed = 0;
  Machine machine;
  Law law;
  double noise = 0.02;  ///< standard deviation of the logarithm of an evaluation
  std::vector<Knobs> candidates;
  std::vector<double> costs;  ///< logarithms
  std::vector<std::string> guides;
  std::vector<std::size_t> seeds;  ///< the guide's candidate each, then the paper's rule with more instances

  double optimum() const;
  /// How much more than the optimum a candidate costs: 0.05 is 5 %.
  double slowdown(std::size_t candidate) const;
  assay::tune::Problem problem(std::int64_t runs) const;
};

/// The same seed is the same surface everywhere.
Surface make_surface(std::int64_t seed);

/// Evaluations with noise and, one in twenty, a disturbance of 1.2 to 2 times. Each side of a pair has the same.
class NoisyObjective : public assay::tune::Objective {
 public:
  NoisyObjective(const Surface& surface, std::uint64_t seed) : surface_(surface), random_(seed) {}

  std::vector<std::optional<double>> measure(const std::vector<std::size_t>& candidates) override;
  std::vector<double> race(std::size_t a, std::size_t b, std::int64_t pairs) override;
  assay::tune::SearchCost spent() const override { return {runs_, static_cast<double>(runs_)}; }

  double evaluate(std::size_t candidate);

 private:
  const Surface& surface_;
  std::mt19937_64 random_;
  std::int64_t runs_ = 0;
};

}  // namespace bench
