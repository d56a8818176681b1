#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::vet {

/// Marks everything an installation starts, so that what a killed one left behind can be found and ended.
constexpr const char* kInstallVariable = "ASSAY_INSTALL";

/// What pip, CMake and compilers get of this process's environment, and last the mark of the installation in `folder`:
/// what they need to find their files, the network and pip's configuration files. Variables of pip's own (PIP_…) could
/// change what is installed and from where: only PIP_DEFAULT_TIMEOUT, how long it waits, is passed on.
std::vector<std::string> install_environment(const std::filesystem::path& folder);

/// A sentence that names the variables of pip that are set and not passed on, never their values, which may hold
/// passwords; empty where there are none.
std::string about_withheld_variables();

}  // namespace assay::vet
