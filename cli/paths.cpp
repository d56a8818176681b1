#include "cli/paths.hpp"

#include <cstdlib>
#include <string>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// The first of the two layouts that is there: a build tree's, else an installation's.
fs::path beside_program(const char* in_build, const char* installed) {
  const auto build = program_folder() / in_build;
  std::error_code ignored;
  return fs::is_directory(build, ignored) ? build : program_folder() / installed;
}

struct UsersFolder {
  const char* variable;       ///< names the folder itself
  const char* base_variable;  ///< names what it is in; counts only where it is absolute
  const char* base;           ///< otherwise, below the home folder
  const char* name;
};

/// Absolute; empty where neither variable is set nor there is a home.
fs::path users_folder(const UsersFolder& wanted) {
  const auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* folder = set(wanted.variable)) return fs::absolute(folder).lexically_normal();
  const char* base = set(wanted.base_variable);
  if (base != nullptr && fs::path(base).is_absolute()) return fs::path(base) / wanted.name;
  const char* home = set("HOME");
  if (home == nullptr) return {};
  return fs::absolute(home) / wanted.base / wanted.name;
}

}  // namespace

fs::path libexec_folder() {
  if (const char* folder = std::getenv("ASSAY_LIBEXEC")) return folder;
  return beside_program("libexec", "../libexec/assay");
}

fs::path share_folder() {
  return beside_program("share/assay", "../share/assay");
}

std::vector<fs::path> worker_roots() {
  std::vector<fs::path> roots;
  if (const char* configured = std::getenv("ASSAY_WORKERS")) {
    const std::string list = configured;
    for (std::size_t at = 0; at <= list.size();) {
      const auto end = std::min(list.find(':', at), list.size());
      if (end > at) roots.emplace_back(list.substr(at, end - at));
      at = end + 1;
    }
  }
  roots.push_back(beside_program("workers", "../libexec/assay/workers"));
  return roots;
}

fs::path environments_root() {
  return users_folder({"ASSAY_ENVIRONMENTS", "XDG_DATA_HOME", ".local/share", "assay/environments"});
}

fs::path cache_root() {
  return users_folder({"ASSAY_CACHE", "XDG_CACHE_HOME", ".cache", "assay"});
}

fs::path data_root() {
  return users_folder({"ASSAY_DATA_FOLDER", "XDG_DATA_HOME", ".local/share", "assay/data"});
}

plan::Catalog catalog_at_hand() {
  return plan::Catalog::read(worker_roots(), environments_root());
}

}  // namespace assay::cli
