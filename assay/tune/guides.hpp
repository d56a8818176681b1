#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/settings.hpp"
#include "assay/network/cost.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/tune/resources.hpp"

namespace assay::tune {

/// What a guide resolves against.
struct GuideInput {
  Resources resources;
  std::optional<network::Width> width;  ///< of the network; null where it is not known, and counts as 1
  std::vector<Allocator> allocators;    ///< installed here, the preferred one first
};

/// Settings that somebody recommends, for a machine and a network.
struct Advice {
  std::string guide;
  std::string says;                  ///< the rule in words, and whose it is
  std::vector<std::string> workers;  ///< it is about; empty: any
  Settings settings;                 ///< all that it says, whether a worker follows or not
  std::vector<std::string> inert;    ///< what it says beyond settings, and why that does nothing
};

/// Every named guide, resolved. The first is framework-default, which sets nothing.
std::vector<Advice> advice(const GuideInput& situation);

/// A guide as it acts on one worker.
struct Baseline {
  std::string name;
  std::string says;
  Settings settings;               ///< what has an effect there
  std::vector<std::string> inert;  ///< what has none: "KMP_BLOCKTIME=30: the wheel loads no OpenMP at all"
};

/// The guides that are about this worker, without what does nothing on it or on this machine.
std::vector<Baseline> baselines(const plan::WorkerInfo& worker, const GuideInput& situation);

/// Whether a worker follows a setting.
bool applies(const plan::WorkerInfo& worker, const std::string& setting);

/// Pools of the paper's rule: the width rounded, at least one.
std::int64_t pools_of(const GuideInput& situation);

/// The paper's rule for this network and machine, in words, one paragraph a line.
std::string explain_rule(const plan::WorkerInfo& worker, const GuideInput& situation);

/// Settings that differ in name only become equal: one instance is none, a binding without choice is none.
Settings canonical(Settings settings, const Resources& resources);

}  // namespace assay::tune
