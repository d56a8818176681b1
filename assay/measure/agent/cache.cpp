#include "assay/measure/agent/cache.hpp"

#include <algorithm>

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{8} << 30;

struct Kept {
  fs::file_time_type used;
  std::uintmax_t bytes;
  fs::path path;
};

}  // namespace

std::optional<std::string> cache_of(const fs::path& root, const plan::WorkerInfo& worker) {
  if (root.empty()) return std::nullopt;
  const auto folder = root / (worker.name + "-" + worker.release);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return std::nullopt;
  fs::permissions(root, fs::perms::owner_all, error);
  trim_cache(root, kMostBytes);
  return folder.string();
}

void trim_cache(const fs::path& root, std::uintmax_t bytes) {
  std::vector<Kept> all;
  std::uintmax_t sum = 0;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    std::error_code vanished;
    if (!it->is_regular_file(vanished) || it->is_symlink(vanished)) continue;
    const auto size = it->file_size(vanished);
    const auto used = it->last_write_time(vanished);
    if (vanished) continue;
    all.push_back({used, size, it->path()});
    sum += size;
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  for (const auto& one : all) {
    if (sum <= bytes) return;
    fs::remove(one.path, error);
    sum -= one.bytes;
  }
}

}  // namespace assay::measure
