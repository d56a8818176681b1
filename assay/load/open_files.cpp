#include "assay/load/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace assay::load {
namespace {

constexpr std::size_t kOpenFilesOfOthers = 64;

}  // namespace

std::size_t allow_connections(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + kOpenFilesOfOthers;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  const auto files = static_cast<std::size_t>(limit.rlim_cur);
  return std::min(wanted, files > kOpenFilesOfOthers ? files - kOpenFilesOfOthers : 1);
}

}  // namespace assay::load
