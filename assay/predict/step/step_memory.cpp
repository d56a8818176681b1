#include "assay/predict/step/step_memory.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kFrameworkBytes = 1.5 * kGibibyte;  // context, kernels and buffers of collectives
constexpr double kSlack = 1.07;  // makers' GB of device memory are GiB, less what the device keeps for itself

/// Parameters whose states a device keeps.
double kept_parameters(const StepJob& job) {
  const auto& p = job.plan;
  const auto counts = layer_counts(job.model);
  const double routed =
      counts.experts > 0 ? static_cast<double>(counts.experts * job.model.experts.count * expert_parameters(job.model))
                         : 0;
  const double rest = static_cast<double>(parameters_of(job.model)) - routed;
  const auto stages = static_cast<double>(p.pipeline);
  return rest / static_cast<double>(p.tensor) / stages + routed / static_cast<double>(p.experts) / stages;
}

double state_bytes_of(const StepJob& job) {
  const auto& p = job.plan;
  const double here = kept_parameters(job);
  if (p.adapters_only) return 2 * here / std::max<double>(1, static_cast<double>(p.shard));
  if (p.shard > 1) return p.state_bytes * here / static_cast<double>(p.shard);
  const double replicas = std::max(1.0, p.data() * static_cast<double>(p.context));
  const double optimizer = 12;
  const double rest = p.state_bytes - optimizer;
  return here * (rest + optimizer / (p.sharded_optimizer ? replicas : 1));
}

/// Microbatches whose activations the first stage keeps at once, in units of its layers.
double in_flight(const StepPlan& p) {
  if (p.pipeline <= 1) return 1;
  const auto stages = static_cast<double>(p.pipeline);
  const double more = p.interleaving > 1 ? 1 + (stages - 1) / (stages * static_cast<double>(p.interleaving)) : 1;
  return std::min(p.microbatches, stages * more);
}

/// Parameters that FSDP has gathered: a layer and the one before it. In a pipeline a stage stays whole, and its
/// gradients are added up whole, until all microbatches have passed.
double gathered_bytes(const StepJob& job, double layers) {
  if (job.plan.shard <= 1) return 0;
  const double here = kept_parameters(job);
  return job.plan.pipeline > 1 ? (2 + job.plan.gradient_bytes) * here : 2 * 2 * here / layers;
}

}  // namespace

double layer_activation_bytes(const StepJob& job) {
  const auto& m = job.model;
  const auto& p = job.plan;
  const auto h = static_cast<double>(m.hidden);
  const auto t = static_cast<double>(p.tensor);
  const double tokens = p.microbatch * static_cast<double>(p.sequence) / static_cast<double>(p.context);
  const double spread = p.sequence_parallel ? t : 1;
  if (!p.flash_attention) {
    // Two norms' inputs and two dropout masks and their inputs are 10 h, inside the tensor group 24 h, scores 5 a s.
    const double scores = 5 * static_cast<double>(m.heads * p.sequence) / t;
    return tokens * (10 * h / spread + 24 * h / t + scores);
  }
  const auto width = static_cast<double>((m.heads * 2 + m.kv_heads * 2) * m.head_dim);
  const auto counts = layer_counts(m);
  const double inside =
      counts.experts > 0
          ? static_cast<double>(m.experts.per_token * m.experts.feedforward + m.experts.shared_feedforward)
          : static_cast<double>(m.feedforward);
  const double routed = counts.experts > 0 ? 4 * h * static_cast<double>(m.experts.per_token) / t : 0;
  const double active = m.gated ? 3 : 2;
  return tokens * (8 * h / spread + 2 * width / t + 2 * active * inside / t + routed);
}

StepMemory step_memory(const StepJob& job) {
  const auto& p = job.plan;
  const auto h = static_cast<double>(job.model.hidden);
  const auto t = static_cast<double>(p.tensor);
  const double tokens = p.microbatch * static_cast<double>(p.sequence) / static_cast<double>(p.context);
  const double layers = static_cast<double>(job.model.layers) / static_cast<double>(p.pipeline);
  const double spread = p.sequence_parallel ? t : 1;
  const double layer = layer_activation_bytes(job);
  const double input = 2 * tokens * h / spread;
  double kept = layer;
  if (p.recompute == Recomputing::full || !p.recompute_stated) kept = input;
  if (p.recompute == Recomputing::selective) kept = .5 * layer;
  if (p.recompute == Recomputing::attention && !p.flash_attention) {
    kept = layer - tokens * 5 * static_cast<double>(job.model.heads * p.sequence) / t;
  }
  // The layer at work has all of its own, and with sequence parallelism the inputs of both its parts gathered.
  double at_work = p.recompute == Recomputing::none && p.recompute_stated ? 0 : layer;
  if (p.sequence_parallel && p.tensor > 1) at_work += 2 * 2 * tokens * h;
  const double output = p.output_bytes * tokens * static_cast<double>(job.model.vocabulary) / t;
  StepMemory memory;
  memory.state_bytes = state_bytes_of(job);
  memory.activation_bytes = in_flight(p) * layers * kept + at_work;
  memory.output_bytes = output;
  if (p.pipeline > 1) {  // the first stage keeps most microbatches, the last one has the output layer
    const double last = layers * kept + at_work + output;
    if (last > memory.activation_bytes) {
      memory.activation_bytes = layers * kept + at_work;
    } else {
      memory.output_bytes = 0;
    }
  }
  memory.buffer_bytes = kFrameworkBytes + gathered_bytes(job, layers);
  return memory;
}

bool fits(const StepMemory& memory, const StepDevice& device) {
  return memory.total() <= kSlack * device.sheet.memory_bytes;
}

}  // namespace assay::predict
