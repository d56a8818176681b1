#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workers/mpi/collective.hpp"

namespace assay::mpi {

/// What the option `algorithm` may be, by Open MPI's own names; the first is `default`, which leaves the choice to Open
/// MPI. Empty where there is none to choose. An algorithm is left out that Open MPI would quietly replace by another.
std::vector<std::string> algorithms_of(Collective collective);

/// Throws Refused by name where Open MPI would replace the algorithm by another for this number of ranks.
void check_algorithm(Collective collective, const std::string& algorithm, std::int64_t ranks);

/// The parameter of Open MPI that names the algorithm; it counts only while kDynamicRules is true.
std::string algorithm_parameter(Collective collective);

constexpr const char* kDefaultAlgorithm = "default";
constexpr const char* kDynamicRules = "coll_tuned_use_dynamic_rules";

}  // namespace assay::mpi
