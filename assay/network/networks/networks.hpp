#pragma once

#include "assay/network/options.hpp"

/// One function per file. Each reads its options, refuses others, and returns the whole graph.
namespace assay::network::networks {

#define NETWORK(name, description) Graph name(OptionReader& options);
#include "assay/network/networks/networks.inc"
#undef NETWORK

}  // namespace assay::network::networks
