#pragma once

#include <array>

#include "assay/network/options.hpp"

namespace assay::network::networks {

/// A network of the VGG family without batch norm: five stages of so many 3 x 3 convolutions, then three linear layers.
Graph vgg(const std::string& name, const std::array<int, 5>& convolutions, OptionReader& options);

}  // namespace assay::network::networks
