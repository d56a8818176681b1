#include "assay/predict/traces/trace_files.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "assay/core/error.hpp"
#include "assay/core/text/file.hpp"

namespace assay::predict {
namespace {

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const auto name = it->path().string();
    if (name.ends_with(".json") || name.ends_with(".json.gz")) files.push_back(name);
  }
  if (error) file_failed(error.value(), "read", path);
  if (files.empty()) {
    fail(ErrorKind::usage, "{} has no file that ends in .json or .json.gz. Give a folder with traces, or traces.",
         path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<GpuTrace> read_gpu_traces(const std::vector<std::string>& paths) {
  std::vector<GpuTrace> traces;
  std::set<std::int64_t> taken;
  for (const auto& path : paths) {
    for (const auto& file : files_of(path)) {
      traces.push_back(read_gpu_trace(read_file(file, kMostTraceBytes), file));
      if (traces.back().rank) taken.insert(*traces.back().rank);
    }
  }
  std::int64_t free = 0;
  for (auto& trace : traces) {
    if (trace.rank) continue;
    while (taken.count(free) > 0) ++free;
    trace.rank = free;
    taken.insert(free);
  }
  std::stable_sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return *a.rank < *b.rank; });
  return traces;
}

}  // namespace assay::predict
