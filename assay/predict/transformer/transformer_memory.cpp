#include <algorithm>

#include "assay/predict/transformer/transformer.hpp"

namespace assay::predict {
namespace {

/// What one block keeps of one microbatch, in bytes: s b h (34 + 5 a s / h) where f = 4 h. Of the 34, 10 are around the
/// tensor-parallel parts (two norms, two masks, two inputs) and are spread only with sequence parallelism; 8 are query,
/// key, value and what goes into the output layer; 4 f / h are the two sides of the activation.
double kept_by_block(const TransformerShape& shape, const TransformerPlan& plan, Recompute recompute) {
  const auto h = static_cast<double>(shape.hidden);
  const auto s = static_cast<double>(shape.sequence);
  const auto t = static_cast<double>(plan.tensor);
  const double values = s * static_cast<double>(plan.microbatch) * h;
  const double around_spread = plan.sequence_parallel ? t : 1;
  if (recompute == Recompute::full) return 2 * values;
  const double split = 8 + 4 * static_cast<double>(shape.feedforward) / h;
  const double scores = recompute == Recompute::none ? 5 * static_cast<double>(shape.heads) * s / h : 0;
  return values * (10 / around_spread + (split + scores) / t);
}

/// Blocks whose activations the first stage keeps at once: its own for every microbatch under way.
double blocks_kept(const TransformerShape& shape, const TransformerPlan& plan) {
  const auto p = static_cast<double>(plan.pipeline);
  const auto v = static_cast<double>(plan.interleaving);
  const auto m = static_cast<double>(plan.microbatches());
  const double own = static_cast<double>(shape.blocks) / p;
  const double under_way = plan.interleaving > 1 ? p * (1 + (p - 1) / (p * v)) : p;
  return own * std::min(m, under_way);
}

}  // namespace

MemoryUse transformer_memory(const TransformerShape& shape, const TransformerPlan& plan) {
  check(shape, plan);
  const double parameters = parameters_of_device(shape, plan);
  const auto d = static_cast<double>(plan.data);
  MemoryUse memory;
  memory.parameter_bytes = 2 * parameters / (plan.zero >= 3 ? d : 1);
  memory.gradient_bytes = 2 * parameters / (plan.zero >= 2 ? d : 1);
  memory.optimizer_bytes = 12 * parameters / (plan.zero >= 1 ? d : 1);
  memory.activation_bytes = blocks_kept(shape, plan) * kept_by_block(shape, plan, plan.recompute);
  if (plan.recompute == Recompute::full) {  // the block that is computed again has all of its own
    memory.activation_bytes += kept_by_block(shape, plan, Recompute::none);
  }
  return memory;
}

bool fits(const MemoryUse& memory, const TransformerDevice& device) {
  return memory.total() <= device.memory_bytes;
}

}  // namespace assay::predict
