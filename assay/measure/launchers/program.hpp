#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "assay/measure/launcher.hpp"

namespace assay::measure {

/// Starts a launcher's own program, such as mpirun, for the ranks of `order`; what it prints goes to kLauncherLog in
/// `directory`. It is the user's program and gets what the user has set for it, but not how to reach the store; the
/// workers get none of it. Throws Error{failure} with `hint` where it cannot be started.
std::vector<process::Spawned> start_program(const std::vector<std::string>& argv,
                                            const std::filesystem::path& directory, const Order& order,
                                            const std::vector<int>& inherit, const char* hint);

}  // namespace assay::measure
