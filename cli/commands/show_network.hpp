#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/network/network.hpp"
#include "cli/flags/answer.hpp"

namespace assay::cli {

/// What `assay show --network` is asked.
struct NetworkFlags {
  std::string name;
  bool all = false;
  std::vector<std::string> options;
  std::int64_t batch = 1;
  std::string precision = "fp32";
};

void add_network_flags(CLI::App& command, NetworkFlags& flags);

/// Its options as the network takes them. Throws Error{usage} where one has not one value.
network::Options network_options(const NetworkFlags& flags);

/// Prints one network, or all; no store is opened.
void show_network(const NetworkFlags& flags, const AnswerFlags& flags_of_answer);

}  // namespace assay::cli
