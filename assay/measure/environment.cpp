#include "assay/measure/environment.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "assay/core/text/hash.hpp"

namespace assay::measure {
namespace {

// What a program needs to find its files and speak the user's language; nothing that changes how fast it runs.
constexpr std::array<const char*, 6> kAllowed{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"};

constexpr int kRunBits = 31;  // the upper 32 of 63 are the store's

std::int64_t number_of_store(const std::string& mark) {
  return hash_int(mark.substr(0, mark.find('-'))) >> kRunBits;
}

}  // namespace

std::int64_t number_of_run(const std::string& mark) {
  constexpr std::int64_t kRunMask = (std::int64_t{1} << kRunBits) - 1;
  return number_of_store(mark) << kRunBits | (hash_int(mark) & kRunMask);
}

bool is_of_store(std::int64_t number, const std::string& mark) {
  return number >> kRunBits == number_of_store(mark);
}

std::map<std::string, std::string> worker_environment(const Settings& settings, const std::string& run) {
  std::map<std::string, std::string> environment;
  for (const char* name : kAllowed) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  for (const auto& [name, value] : settings.env) environment[name] = value;
  environment[kRunVariable] = run;
  return environment;
}

std::vector<std::string> as_list(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> list;
  list.reserve(environment.size());
  for (const auto& [name, value] : environment) list.push_back(name + "=" + value);
  return list;
}

void append_launcher_variables(std::vector<std::string>& environment) {
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view entry = *one;
    for (const char* prefix : {"OMPI_", "PMIX_", "PMI_", "SLURM_"}) {
      if (entry.starts_with(prefix)) environment.emplace_back(entry);
    }
  }
}

std::optional<std::filesystem::path> find_allocator(Allocator allocator) {
  static constexpr std::array<const char*, 4> kFolders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                                       "/usr/lib64", "/usr/local/lib"};
  const auto names = allocator == Allocator::tcmalloc
                         ? std::vector<std::string>{"libtcmalloc.so.4", "libtcmalloc_minimal.so.4"}
                         : std::vector<std::string>{"libjemalloc.so.2"};
  for (const auto& name : names) {
    for (const char* folder : kFolders) {
      auto candidate = std::filesystem::path(folder) / name;
      if (std::error_code ignored; std::filesystem::exists(candidate, ignored)) return candidate;
    }
  }
  return std::nullopt;
}

}  // namespace assay::measure
