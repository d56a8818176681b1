#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"
#include "assay/predict/scaling.hpp"
#include "assay/predict/transformer/transformer.hpp"

namespace assay::predict {

constexpr std::int64_t kTransformerVersion = 1;

/// What would shorten a step most if it took no time at all.
enum class TransformerLimit {
  compute,        ///< products, passes over memory, the output layer, the update
  communication,  ///< within tensor-parallel groups, from stage to stage, over replicas
  bubble,         ///< the pipeline fills and empties
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::TransformerLimit> {
  static constexpr std::array<const char*, 3> names{"compute", "communication", "bubble"};
};

namespace assay::predict {

/// What is asked. `plan.data` follows from the number of devices.
struct TransformerQuestion {
  std::string name;
  TransformerShape shape;
  TransformerPlan plan;
  Cluster cluster;
  std::optional<double> job_samples;  ///< sequences of a whole training, for its time and price
};

/// One number of devices.
struct TransformerPoint {
  std::int64_t devices = 1;
  std::int64_t nodes = 1;
  TransformerPlan plan;
  TransformerStep step;
  double low_seconds = 0;   ///< at the high end of the device's efficiency
  double high_seconds = 0;  ///< at its low end
  double sequences_per_second = 0;
  TransformerLimit limit = TransformerLimit::compute;  ///< what would shorten the step most if it took no time
  MemoryUse memory;
  std::optional<bool> fits;  ///< null where the device's memory is not known
  std::optional<double> job_hours;
  std::optional<double> job_price;
};

template <typename V>
void describe(V& v, TransformerPoint& p) {
  required(v, "devices", p.devices);
  required(v, "nodes", p.nodes);
  required(v, "plan", p.plan);
  required(v, "step", p.step);
  required(v, "low_seconds", p.low_seconds);
  required(v, "high_seconds", p.high_seconds);
  required(v, "sequences_per_second", p.sequences_per_second);
  required(v, "limit", p.limit);
  required(v, "memory", p.memory);
  v("fits", p.fits);
  v("job_hours", p.job_hours);
  v("job_price", p.job_price);
}

/// A change of the plan or the machines. Where the plan does not fit, those are listed that would.
struct TransformerAdvice {
  std::string change;
  double seconds = 0;
  double gain = 1;  ///< sequences a second with it over those without
  double memory_bytes = 0;
};

template <typename V>
void describe(V& v, TransformerAdvice& a) {
  required(v, "change", a.change);
  required(v, "seconds", a.seconds);
  required(v, "gain", a.gain);
  required(v, "memory_bytes", a.memory_bytes);
}

/// What Assay says of a transformer that is split over devices.
struct TransformerPrediction {
  std::int64_t transformer_version = kTransformerVersion;
  std::string name;
  std::string cluster;
  TransformerShape shape;
  double parameters = 0;
  std::vector<TransformerPoint> points;
  /// For the last point, most helpful first; where it does not fit, what would.
  std::vector<TransformerAdvice> advice;
  std::vector<std::string> notes;
};

template <typename V>
void describe(V& v, TransformerPrediction& p) {
  required(v, "transformer_version", p.transformer_version);
  required(v, "name", p.name);
  v("cluster", p.cluster);
  required(v, "shape", p.shape);
  required(v, "parameters", p.parameters);
  required(v, "points", p.points);
  v("advice", p.advice);
  v("notes", p.notes);
}

/// The shape of a network of equal blocks with attention; null where it has none.
std::optional<TransformerShape> transformer_shape(const network::Graph& graph);

/// What a device of the cluster has for such a plan. Tensor-parallel groups that fit into a node use its links, larger
/// ones those between nodes; stages and replicas use those between nodes where there are several. Throws Error{usage}
/// where the cluster lacks the device's peak or its memory's rate.
TransformerDevice transformer_device(const Cluster& cluster, const TransformerPlan& plan, double share);

/// Throws Error{usage} as check(), where devices cannot be divided by tensor x pipeline, and where the cluster has no
/// such part; each with numbers that can be.
TransformerPoint transformer_point(const TransformerQuestion& question, std::int64_t devices);

/// What would help on so many devices, or fit where the plan does not, most helpful first.
std::vector<TransformerAdvice> advise_transformer(const TransformerQuestion& question, std::int64_t devices);

/// All of it. Precondition: devices is not empty.
TransformerPrediction predict_transformer(const TransformerQuestion& question,
                                          const std::vector<std::int64_t>& devices);

}  // namespace assay::predict
