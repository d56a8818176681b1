#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/json.hpp"

namespace assay::plan {

/// The virtual environment that a worker runs in, as worker.json asks for it.
struct Environment {
  std::string package;       ///< the one whose release is the worker's
  std::string requirements;  ///< pip's file beside worker.json; it pins `package`
  bool build = false;        ///< the worker's folder is built with CMake, once the packages are there
};

template <typename V>
void describe(V& v, Environment& e) {
  required(v, "package", e.package);
  required(v, "requirements", e.requirements);
  v("build", e.build);
}

/// What installed.json says of an environment. It is written last: a folder without it is not complete.
struct Installed {
  std::string name;  ///< of the worker
  std::string release;
  std::string python;                 ///< release of the interpreter
  std::vector<std::string> packages;  ///< "name==release", as pip lists them
  std::string installed_utc;
};

template <typename V>
void describe(V& v, Installed& i) {
  required(v, "name", i.name);
  required(v, "release", i.release);
  v("python", i.python);
  v("packages", i.packages);
  v("installed_utc", i.installed_utc);
}

constexpr const char* kInstalledFile = "installed.json";

/// <root>/<name>-<release>. A virtual environment cannot be moved: it is made there and stays there.
std::filesystem::path environment_folder(const std::filesystem::path& root, const std::string& name,
                                         const std::string& release);

/// The complete environment in `folder`; null where there is none. Throws Error{bad_input} where its file is broken.
std::optional<Installed> read_installed(const std::filesystem::path& folder);

/// The complete environments of a worker below `root`, the oldest release first. What is broken goes to `problems`.
std::vector<Installed> installed_environments(const std::filesystem::path& root, const std::string& name,
                                              std::vector<std::string>& problems);

/// The release that a requirements file pins `package` to. Throws Error{usage} where it does not, once and with ==.
std::string pinned_release(std::string_view requirements, const std::string& package);

/// The same file with another release of `package`.
std::string with_release(std::string_view requirements, const std::string& package, const std::string& release);

/// The release of `package` in a list of "name==release"; null where it is not there.
std::optional<std::string> listed_release(const std::vector<std::string>& packages, const std::string& package);

/// The text of a file; throws Error{usage} where it cannot be read or is longer than 1 MiB.
std::string read_worker_file(const std::filesystem::path& file);

}  // namespace assay::plan
