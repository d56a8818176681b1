#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/predict/fusion.hpp"
#include "assay/predict/layers.hpp"

namespace assay::predict {

/// What goes on at the same time.
enum class Overlap {
  none,       ///< one thing after the other
  input,      ///< the next batch is loaded while this one is computed
  wait_free,  ///< that, and gradients travel while the backward pass goes on
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Overlap> {
  static constexpr std::array<const char*, 3> names{"none", "input", "wait_free"};
};

namespace assay::predict {

/// How a job trains, beside what it trains.
struct Practice {
  Overlap overlap = Overlap::wait_free;
  Fusion fusion;
  /// nccl: the cheapest of rings and double trees for each size; null: the cheapest of all.
  std::optional<AllReduce> all_reduce;
  std::optional<ParameterServers> servers;  ///< in place of all_reduce
  double call_seconds = 0;                  ///< of each collective, beside its messages
  std::int64_t accumulation = 1;            ///< batches whose gradients are added up before they travel
  std::int64_t zero = 0;  ///< ZeRO: 1 shards the optimizer's state, 2 also gradients, 3 also parameters
  double slow_down = 1;   ///< of compute while gradients travel
  double loaders = 1;     ///< times as many as the table was measured with
};

template <typename V>
void describe(V& v, Practice& p) {
  v("overlap", p.overlap);
  v("fusion", p.fusion);
  v("all_reduce", p.all_reduce);
  v("servers", p.servers);
  v("call_seconds", p.call_seconds);
  v("accumulation", p.accumulation);
  v("zero", p.zero);
  v("slow_down", p.slow_down);
  v("loaders", p.loaders);
}

/// Something that takes part of an iteration, for a picture of it.
struct Span {
  std::string name;
  std::string lane;  ///< input, compute, communicate
  double begin_seconds = 0;
  double end_seconds = 0;
};

/// One step of all devices, by formula.
struct Iteration {
  double load_seconds = 0;
  double transfer_seconds = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;     ///< slowed by what travels beside it
  double communicate_seconds = 0;  ///< all of it
  double exposed_seconds = 0;      ///< of that, not behind computing
  double update_seconds = 0;
  double seconds = 0;
  std::int64_t messages = 0;  ///< collectives
  std::vector<AllReduce> algorithms;
};

template <typename V>
void describe(V& v, Iteration& i) {
  required(v, "load_seconds", i.load_seconds);
  required(v, "transfer_seconds", i.transfer_seconds);
  required(v, "forward_seconds", i.forward_seconds);
  required(v, "backward_seconds", i.backward_seconds);
  required(v, "communicate_seconds", i.communicate_seconds);
  required(v, "exposed_seconds", i.exposed_seconds);
  required(v, "update_seconds", i.update_seconds);
  required(v, "seconds", i.seconds);
  required(v, "messages", i.messages);
  v("algorithms", i.algorithms);
}

/// What adding up gradients costs, by servers or by collectives.
CollectiveCost cost_of(const Cluster& cluster, const Practice& practice);

/// The gradients of a table, last layer first, with the times at which they are ready, counted from the first forward
/// pass of the step.
std::vector<Gradient> gradients_of(const LayerTable& table, const Practice& practice);

/// A step on all devices of a cluster (of part_of() it). `spans` takes what happens when, where it is wanted.
Iteration iterate(const LayerTable& table, const Cluster& cluster, const Practice& practice,
                  std::vector<Span>* spans = nullptr);

/// The same with another cost of adding up gradients than the formulas', such as a simulated one.
Iteration iterate(const LayerTable& table, const Cluster& cluster, const Practice& practice, const CollectiveCost& cost,
                  std::vector<Span>* spans = nullptr);

}  // namespace assay::predict
