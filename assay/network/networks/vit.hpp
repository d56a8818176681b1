#pragma once

#include "assay/network/options.hpp"

namespace assay::network::networks {

/// A vision transformer on patches of an image, with a class token. A head has 64 features. Options may change its
/// image, patch, layers, features, classes and dropout.
Graph vit(const std::string& name, std::int64_t standard_features, OptionReader& options);

}  // namespace assay::network::networks
