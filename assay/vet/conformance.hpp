#pragma once

#include <string>
#include <vector>

#include "assay/plan/catalog/catalog.hpp"

namespace assay::vet {

/// One rule of workers/PROTOCOL.md, tried on a worker.
struct RuleCheck {
  std::string rule;
  bool passed = false;
  std::string message;  ///< what was seen instead
};

/// Starts the worker several times on its own small workload and holds it to every rule that can be seen from outside.
/// Ends whatever it started; the calling process becomes a subreaper and must have no other children.
std::vector<RuleCheck> check_conformance(const plan::WorkerInfo& worker);

}  // namespace assay::vet
