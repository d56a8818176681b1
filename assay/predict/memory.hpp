#pragma once

#include "assay/predict/iteration.hpp"

namespace assay::predict {

/// What a device holds while it trains.
struct MemoryUse {
  double parameter_bytes = 0;
  double gradient_bytes = 0;
  double optimizer_bytes = 0;
  double activation_bytes = 0;
  double total() const { return parameter_bytes + gradient_bytes + optimizer_bytes + activation_bytes; }
};

template <typename V>
void describe(V& v, MemoryUse& m) {
  required(v, "parameter_bytes", m.parameter_bytes);
  required(v, "gradient_bytes", m.gradient_bytes);
  required(v, "optimizer_bytes", m.optimizer_bytes);
  required(v, "activation_bytes", m.activation_bytes);
}

/// What the optimizer keeps for each parameter, in bytes: 4 for SGD with momentum in fp32, 8 for Adam; with mixed
/// precision also the fp32 copy.
double optimizer_bytes_per_parameter(const std::string& optimizer, const std::string& precision);

/// Every layer's output is kept until its backward pass; ZeRO shards over all devices.
MemoryUse memory_use(const LayerTable& table, const Cluster& cluster, const Practice& practice,
                     const std::string& optimizer, const std::string& precision);

}  // namespace assay::predict
