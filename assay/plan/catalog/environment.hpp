#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay::plan {

/// The virtual environment that a worker runs in, as worker.json asks for it.
struct Environment {
  std::string package;  ///< the one whose release is the worker's
  /// pip's file beside this one; it pins the package, with ==, to the release above. A file of the same name that
  /// ends in .lock (requirements.lock) has every package to install, with hashes of its files.
  std::string requirements;
  /// Once the packages are there, the worker's folder is built with CMake, which puts programs into
  /// {environment}/bin; false where left out.
  bool build = false;
};

template <typename V>
void describe(V& v, Environment& e) {
  required(v, "package", e.package);
  required(v, "requirements", e.requirements);
  v("build", e.build);
}

/// What installed.json says of an environment. It is written last: a folder without it is not complete.
struct Installed {
  std::string name;                   ///< of the worker
  std::string release;                ///< of its main package; with the name it is the folder's name
  std::string python;                 ///< release of the interpreter
  std::vector<std::string> packages;  ///< "name==release", as pip lists them
  std::string installed_utc;
  /// The hash of every file was checked against the worker's lock; null: made before there were locks.
  std::optional<bool> locked = {};
};

template <typename V>
void describe(V& v, Installed& i) {
  required(v, "name", i.name);
  required(v, "release", i.release);
  v("python", i.python);
  v("packages", i.packages);
  v("installed_utc", i.installed_utc);
  v("locked", i.locked);
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

/// A package and the one release that a requirements file or a lock allows of it.
struct PinnedPackage {
  std::string name;     ///< as pip compares names: small letters, with -
  std::string release;  ///< as it is written there
};

/// The lines that pin a package with ==, in their order; all other lines are passed over. A lock names a package twice
/// where Pythons need different releases of it.
std::vector<PinnedPackage> pinned_packages(std::string_view requirements);

/// The same file with === for == in these lines. To pip 1.0+local is a 1.0, and even a better one; a 1.0+local that
/// anybody serves must not take the place of the 1.0 that was asked for.
std::string with_exact_pins(std::string_view requirements);

/// Whether `build` is `release` itself or a local build of it, such as 2.13.0+cpu of 2.13.0.
bool is_build_of(const std::string& build, const std::string& release);

/// The release under which `packages` lists a build of this one; null where they do not.
std::optional<std::string> find_build(const std::vector<PinnedPackage>& packages, const std::string& name,
                                      const std::string& release);

/// The lock that belongs to a requirements file: requirements.lock beside requirements.txt. It names every package to
/// install, with hashes of its files; scripts/lock-workers writes it.
std::string lock_name(const std::string& requirements);

/// The release of `package` in a list of "name==release"; null where it is not there.
std::optional<std::string> listed_release(const std::vector<std::string>& packages, const std::string& package);

/// The text of a file; throws Error{usage} where it cannot be read or is longer than 1 MiB.
std::string read_worker_file(const std::filesystem::path& file);

}  // namespace assay::plan
