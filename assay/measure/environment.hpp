#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/settings.hpp"

namespace assay::measure {

/// Marks everything a run starts, so that whatever a lost agent left behind can be found and ended.
constexpr const char* kRunVariable = "ASSAY_RUN";

/// The mark of a run ("STORE-CAMPAIGN-RUN") as the number that platform::set_inherited_number takes: a daemon that has
/// thrown its environment away still has it.
std::int64_t number_of_run(const std::string& mark);

/// Whether it is the number of a run of the store whose marks begin as `mark` does, with "STORE-".
bool is_of_store(std::int64_t number, const std::string& mark);

/// The whole environment of a worker: what is on the allow-list, the settings' own variables, and the run's mark.
std::map<std::string, std::string> worker_environment(const Settings& settings, const std::string& run);

/// "NAME=value" for each.
std::vector<std::string> as_list(const std::map<std::string, std::string>& environment);

/// Adds what mpirun or srun has told this process and its worker must know, to be the rank that it is taken for.
void append_launcher_variables(std::vector<std::string>& environment);

/// The library of an allocator; null where it is not installed.
std::optional<std::filesystem::path> find_allocator(Allocator allocator);

}  // namespace assay::measure
