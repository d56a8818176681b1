#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"
#include "assay/plan/catalog/environment.hpp"

namespace assay::vet {

/// packages.json beside a worker's requirements: what an environment needs that pip alone would not do.
struct PackageChanges {
  /// Packages that others ask for but that must not be there. The lock does not list them, and pip is not to look for
  /// them.
  std::vector<std::string> left_out;
  /// NAME==RELEASE under which the package looks itself up, where that is not its own name; {release} stands for the
  /// release that is installed. Metadata of this name are written beside its own. null: it finds itself.
  std::optional<std::string> also_named;
};

template <typename V>
void describe(V& v, PackageChanges& c) {
  v("left_out", c.left_out);
  v("also_named", c.also_named);
}

/// No changes where the worker's folder has no packages.json. Throws Error{bad_input} where the file is broken, and
/// Error{usage} where a name in it cannot be one.
PackageChanges read_package_changes(const std::filesystem::path& worker_folder);

/// What `also_named` stands for where `release` is installed. Throws Error{usage} where it is not NAME==RELEASE.
plan::PinnedPackage other_name(const std::string& also_named, const std::string& release);

}  // namespace assay::vet
