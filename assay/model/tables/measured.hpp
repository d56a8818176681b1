#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/model/tables/frame.hpp"
#include "assay/store/store.hpp"

namespace assay::model {

/// What was measured of a machine itself.
struct MeasuredMachine {
  std::optional<double> peak;              ///< FLOP/s
  std::optional<double> memory_bandwidth;  ///< bytes/s
  std::optional<double> link_latency;      ///< seconds for each message between ranks
  std::optional<double> link_bandwidth;    ///< bytes/s
};

using Machines = std::map<std::string, MeasuredMachine>;  ///< by platform

/// What runs of a store say: a row for each that counts, is trusted and ended well, with the time of its median step.
/// Columns of text keep kinds apart (worker, mode, precision, input, device, platform, and a network of unknown cost);
/// columns of numbers are the factors: batch, FLOPs, activations, parameters and depth of the network, its options,
/// instances, threads, ranks, chunks of data a process reads. A number that a run does not have is left out for all.
/// With `what` first_token or token only runs that generate have rows: their first token, or each later one in a row of
/// its own with `context`, the tokens it follows, as a factor; tokens of different contexts are never one number.
/// With `machines`, what they can do stands in place of the platform, so that one law may span several.
Frame frame_of(const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& runs,
               const Machines* machines = nullptr, TimeOf what = TimeOf::step);

}  // namespace assay::model
