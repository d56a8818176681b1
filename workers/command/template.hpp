#pragma once

#include <string>
#include <vector>

#include "workers/common/worker.hpp"

namespace assay::command {

/// The workload's argv with its placeholders replaced inside each argument; no shell ever sees it.
/// {batch} {mode} {precision} {seed} {rank} {instance} {threads} (settings.intra_op) {option:NAME}; "{{" is "{".
/// Throws Refused that names a placeholder that is unknown, unfinished or without a value, a workload option that is
/// neither `number`, `unit` nor used, or intra_op that is set but not used.
std::vector<std::string> fill_template(const worker::Prepare& prepare);

}  // namespace assay::command
