#pragma once

#include "assay/predict/devices/device_laws.hpp"
#include "assay/predict/models/model_shape.hpp"

namespace assay::predict {

/// A model as one server holds it: split over `tensor` devices, its weights in one type and its cache in another.
struct ServedModel {
  ModelShape shape;
  ProductType weights = ProductType::bf16;
  double cache_element_bytes = 2;
  std::int64_t tensor = 1;
};

/// Bytes of keys and values of one token, over all layers and devices.
double cache_token_bytes(const ServedModel& model);

/// Bytes of all weights; embeddings and the output layer stay in 2 bytes an element.
double served_weight_bytes(const ServedModel& model);

/// Sequences of so many tokens for which there is room beside the weights; below 1 where not even one fits, and below 0
/// where the weights do not. `share` is that of the memory which the server takes.
double sequences_that_fit(const ServedModel& model, const DeviceSheet& sheet, double tokens, double share);

/// Throws Error{usage} for what cannot be served so: layers with a state, or a split that the heads do not allow.
void check(const ServedModel& model);

/// What is done in one step: sequences that each get a token while so many are cached, and new prompts.
struct StepLoad {
  double decoding = 0;
  double context = 0;  ///< tokens that a decoding sequence has cached, on average
  double prompts = 0;
  double prompt_tokens = 0;   ///< of each prompt, in this step
  double prompt_context = 0;  ///< of each prompt, in steps before
};

/// Seconds of a step by what they are spent on, over all layers.
struct StepParts {
  double products = 0;
  double attention = 0;
  double collectives = 0;
  double elementwise = 0;
  double head = 0;  ///< the product with the vocabulary

  double total() const { return products + attention + collectives + elementwise + head; }
};

template <typename V>
void describe(V& v, StepParts& p) {
  required(v, "products", p.products);
  required(v, "attention", p.attention);
  required(v, "collectives", p.collectives);
  required(v, "elementwise", p.elementwise);
  required(v, "head", p.head);
}

/// One step from the laws of the device's kernels, as if nothing but kernels took time.
StepParts step_parts(const ServedModel& model, const KernelTimes& times, const StepLoad& load);

/// A time that no server beats: weights and caches read once at the memory's bandwidth, or all FLOPs at the peak.
double step_roofline(const ServedModel& model, const DeviceSheet& sheet, const StepLoad& load);

}  // namespace assay::predict
