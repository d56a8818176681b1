#pragma once

#include <cstdint>
#include <string>

#include "assay/predict/models/model_shape.hpp"
#include "assay/predict/step/step_device.hpp"

namespace assay::predict {

/// What is computed again in the backward pass in place of being kept.
enum class Recomputing {
  none,
  attention,  ///< the products of scores and values, and what is between them
  selective,  ///< every other product, and all that is between products
  full,       ///< a whole layer, from its input
};

/// Of the operands of products.
enum class StepPrecision { bf16, fp8, fp4 };

enum class PipelineSchedule {
  one_forward_one_backward,  ///< interleaved where a stage has several parts
  zero_bubble,               ///< gradients of weights fill the bubble
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::Recomputing> {
  static constexpr std::array<const char*, 4> names{"none", "attention", "selective", "full"};
};

template <>
struct assay::EnumNames<assay::predict::StepPrecision> {
  static constexpr std::array<const char*, 3> names{"bf16", "fp8", "fp4"};
};

template <>
struct assay::EnumNames<assay::predict::PipelineSchedule> {
  static constexpr std::array<const char*, 2> names{"1f1b", "zero_bubble"};
};

namespace assay::predict {

/// How a step is spread over devices. tensor x pipeline x context x data = devices; groups of experts are within data.
struct StepPlan {
  std::int64_t devices = 1;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t experts = 1;        ///< devices that share the experts of a layer
  std::int64_t interleaving = 1;   ///< parts of the model that each stage has
  std::int64_t shard = 0;          ///< FSDP or ZeRO 3: devices over which parameters are sharded; 0: none
  bool sharded_optimizer = false;  ///< ZeRO 1: states of the optimizer over all replicas
  std::int64_t sequence = 2048;
  double microbatch = 1;    ///< sequences that pass at once; a fraction where one is shared
  double microbatches = 1;  ///< of a step, for each replica
  Recomputing recompute = Recomputing::none;
  bool recompute_stated = true;  ///< else memory is counted as if all were recomputed: what the job needs at least
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  StepPrecision precision = StepPrecision::bf16;
  bool flash_attention = true;
  bool sequence_parallel = false;
  bool async_tensor = false;  ///< sums of tensor groups run beside the products
  bool compiled = true;
  bool balanced_head = false;  ///< the output layer takes the place of layers in its stage
  bool overlapped_gradients = false;
  bool early_stop = true;      ///< recomputing ends before a layer's last product
  bool adapters_only = false;  ///< LoRA: no gradients of weights
  double gradient_bytes = 2;   ///< of a value, as it travels
  double state_bytes = 16;     ///< kept for a parameter: itself, its gradient, the optimizer's
  double output_bytes = 14;    ///< kept for a value of the output layer: narrow, wide, its softmax and gradient

  double data() const { return static_cast<double>(devices) / static_cast<double>(tensor * pipeline * context); }
  double tokens() const {  ///< of a step, over all devices
    return data() * microbatches * microbatch * static_cast<double>(sequence);
  }
};

struct StepJob {
  ModelShape model;
  StepPlan plan;
  StepDevice device;
};

/// Throws Error{usage} where a number is not above zero or tensor x pipeline x context exceeds the devices.
void check(const StepJob& job);

}  // namespace assay::predict
