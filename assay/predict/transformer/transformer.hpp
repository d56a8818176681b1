#pragma once

#include <cstdint>

#include "assay/core/text/json.hpp"
#include "assay/predict/memory.hpp"

namespace assay::predict {

/// What is computed again in the backward pass in place of being kept.
enum class Recompute {
  none,
  attention,  ///< the products of scores and values, and the softmax between them
  full,       ///< a whole block, from its input
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Recompute> {
  static constexpr std::array<const char*, 3> names{"none", "attention", "full"};
};

namespace assay::predict {

/// A decoder of equal blocks, its output tied to its embedding.
struct TransformerShape {
  std::int64_t hidden = 0;
  std::int64_t feedforward = 0;
  std::int64_t sequence = 0;
  std::int64_t heads = 0;
  std::int64_t blocks = 0;
  std::int64_t vocabulary = 0;
};

template <typename V>
void describe(V& v, TransformerShape& s) {
  required(v, "hidden", s.hidden);
  required(v, "feedforward", s.feedforward);
  required(v, "sequence", s.sequence);
  required(v, "heads", s.heads);
  required(v, "blocks", s.blocks);
  required(v, "vocabulary", s.vocabulary);
}

/// How it is spread over tensor x pipeline x data devices.
struct TransformerPlan {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::int64_t interleaving = 1;  ///< parts of the network that each stage of the pipeline has
  std::int64_t batch = 1;         ///< sequences of a step, over all devices
  std::int64_t microbatch = 1;
  Recompute recompute = Recompute::none;
  bool sequence_parallel = false;  ///< norms and dropouts are spread over the tensor-parallel devices too
  std::int64_t zero = 0;           ///< ZeRO over data: 1 shards the optimizer, 2 also gradients, 3 also parameters

  std::int64_t devices() const { return tensor * pipeline * data; }
  std::int64_t microbatches() const { return batch / (data * microbatch); }
};

template <typename V>
void describe(V& v, TransformerPlan& p) {
  v("tensor", p.tensor);
  v("pipeline", p.pipeline);
  v("data", p.data);
  v("interleaving", p.interleaving);
  required(v, "batch", p.batch);
  v("microbatch", p.microbatch);
  v("recompute", p.recompute);
  v("sequence_parallel", p.sequence_parallel);
  v("zero", p.zero);
}

/// A device and its wires. It reaches `share` of each of these rates.
struct TransformerDevice {
  double flops_per_second = 0;
  double memory_bytes_per_second = 0;
  double memory_bytes = 0;
  double tensor_bytes_per_second = 0;  ///< to the other devices of its tensor-parallel group, each direction
  double across_bytes_per_second = 0;  ///< to other stages and replicas, each direction
  double share = 1;
};

template <typename V>
void describe(V& v, TransformerDevice& d) {
  required(v, "flops_per_second", d.flops_per_second);
  required(v, "memory_bytes_per_second", d.memory_bytes_per_second);
  required(v, "memory_bytes", d.memory_bytes);
  required(v, "tensor_bytes_per_second", d.tensor_bytes_per_second);
  required(v, "across_bytes_per_second", d.across_bytes_per_second);
  v("share", d.share);
}

/// Where the time of a step goes, of the device that has most to do.
struct TransformerStep {
  double product_seconds = 0;   ///< matrix products of its blocks, all microbatches
  double passes_seconds = 0;    ///< of its blocks: norms, dropouts, activations, softmax
  double tensor_seconds = 0;    ///< adding up within the tensor-parallel group
  double pipeline_seconds = 0;  ///< handing on from stage to stage
  double output_seconds = 0;    ///< the vocabulary's product and loss: the last stage has them, the others wait
  double bubble_seconds = 0;    ///< while the pipeline fills and empties
  double gradient_seconds = 0;  ///< over replicas; nothing of it is taken as hidden
  double update_seconds = 0;
  double seconds = 0;
  double utilization = 0;  ///< FLOPs of the network without recomputing, over what the devices could have done
};

template <typename V>
void describe(V& v, TransformerStep& s) {
  required(v, "product_seconds", s.product_seconds);
  required(v, "passes_seconds", s.passes_seconds);
  required(v, "tensor_seconds", s.tensor_seconds);
  required(v, "pipeline_seconds", s.pipeline_seconds);
  required(v, "output_seconds", s.output_seconds);
  required(v, "bubble_seconds", s.bubble_seconds);
  required(v, "gradient_seconds", s.gradient_seconds);
  required(v, "update_seconds", s.update_seconds);
  required(v, "seconds", s.seconds);
  required(v, "utilization", s.utilization);
}

/// Throws Error{usage} where a number is not above zero, or the network or batch cannot be divided so.
void check(const TransformerShape& shape, const TransformerPlan& plan);

/// Of the whole network: blocks, embeddings of words and positions, the last norm.
double parameters_of(const TransformerShape& shape);

/// FLOPs of a step on `batch` sequences, forward and backward, without recomputing. With a feed-forward layer of 4 h
/// they are 72 b s h^2 l (1 + s / (6 h) + V / (12 h l)).
double step_flops(const TransformerShape& shape, double batch);

/// A step of mixed-precision training with Adam, one forward and one backward at a time in every stage (1F1B), or
/// interleaved. docs/published.md has the formulas. Throws Error{usage} as check().
TransformerStep transformer_step(const TransformerShape& shape, const TransformerPlan& plan,
                                 const TransformerDevice& device);

/// What a device of the first stage holds: that one keeps most activations.
/// Mixed precision and Adam: 2 bytes of parameter, 2 of gradient, 12 of optimizer. Throws Error{usage} as check().
MemoryUse transformer_memory(const TransformerShape& shape, const TransformerPlan& plan);

bool fits(const MemoryUse& memory, const TransformerDevice& device);

/// Parameters on a device of the first stage, which has the embeddings.
double parameters_of_device(const TransformerShape& shape, const TransformerPlan& plan);

}  // namespace assay::predict
