#include <torch/nn/functional/normalization.h>

#include "workers/libtorch/building.hpp"

namespace assay::libtorch {
namespace {

constexpr double kBatchNormMomentum = 0.1;

Call batch_norm(const GraphNode& node, Building& building) {
  const auto weight = building.parameter(node, "weight"), bias = building.parameter(node, "bias");
  const auto mean = building.statistic(node, "mean"), variance = building.statistic(node, "variance");
  const auto epsilon = node.attribute<double>("epsilon");
  const bool trains = building.trains();
  return [=](const Tensors& in) {
    return at::batch_norm(in[0], weight, bias, mean, variance, trains, kBatchNormMomentum, epsilon, false);
  };
}

Call layer_norm(const GraphNode& node, Building& building) {
  const Sizes last{node.shape.back()};
  const auto weight = building.parameter(node, "weight"), bias = building.parameter(node, "bias");
  const auto epsilon = node.attribute<double>("epsilon");
  return [=](const Tensors& in) { return at::layer_norm(in[0], last, weight, bias, epsilon); };
}

Call rms_norm(const GraphNode& node, Building& building) {
  const Sizes last{node.shape.back()};
  const auto weight = building.parameter(node, "weight");
  const auto epsilon = node.attribute<double>("epsilon");
  return [=](const Tensors& in) { return at::rms_norm(in[0], last, weight, epsilon); };
}

Call local_response_norm(const GraphNode& node, Building& building) {
  if (building.precision() == at::kBFloat16) {  // it takes means of volumes, which the CPU has in fp32 alone
    worker::refuse("node {}: libtorch has no local_response_norm in bf16 on the CPU.", node.name);
  }
  const auto how = torch::nn::functional::LocalResponseNormFuncOptions(node.attribute<std::int64_t>("size"))
                       .alpha(node.attribute<double>("alpha"))
                       .beta(node.attribute<double>("beta"))
                       .k(node.attribute<double>("k"));
  return [=](const Tensors& in) { return torch::nn::functional::local_response_norm(in[0], how); };
}

/// Channels of a pixel divided by their norm, times a weight each.
Call l2_norm(const GraphNode& node, Building& building) {
  const auto weight = building.parameter(node, "weight");
  return [=](const Tensors& in) {
    const auto normal = torch::nn::functional::normalize(in[0], torch::nn::functional::NormalizeFuncOptions().dim(1));
    return normal * weight.unsqueeze(-1).unsqueeze(-1);
  };
}

}  // namespace

Table norm_operators() {
  return {
      {"batch_norm", batch_norm}, {"layer_norm", layer_norm},
      {"rms_norm", rms_norm},     {"local_response_norm", local_response_norm},
      {"l2_norm", l2_norm},
  };
}

}  // namespace assay::libtorch
