#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/network/graph.hpp"

namespace assay::network {

/// What a network leaves open, as the workload's options.
using Options = std::map<std::string, Scalar>;

/// One of Assay's networks.
struct NetworkSummary {
  std::string name;
  std::string description;
};

/// Every network there is, by name.
std::vector<NetworkSummary> all_networks();

bool is_network(const std::string& name);

/// The graph of a network. Throws Error{usage} for an unknown name, an option the network does not have, or a value out
/// of range; each names what there is.
Graph build(const std::string& name, const Options& options = {});

}  // namespace assay::network
