#include "assay/predict/traces/trace_files.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

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

std::vector<std::string> trace_files(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& path : paths) {
    for (auto& file : files_of(path)) files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::int64_t> ranks_of_job(const std::vector<FileOfJob>& files) {
  std::map<std::int64_t, const FileOfJob*> taken;
  const FileOfJob* sized = nullptr;
  for (const auto& one : files) {
    if (one.job_ranks && sized != nullptr && one.job_ranks != sized->job_ranks) {
      fail(ErrorKind::usage, "{} is of a job of {} ranks and {} of one of {}. Give one trace of each rank of one job.",
           shown_path(sized->file), *sized->job_ranks, shown_path(one.file), *one.job_ranks);
    }
    if (one.job_ranks) sized = &one;
    if (!one.rank) continue;
    const auto [at, is_new] = taken.emplace(*one.rank, &one);
    if (!is_new) {
      fail(ErrorKind::usage, "{} and {} are both of rank {}. Give one trace of each rank of one job.",
           shown_path(at->second->file), shown_path(one.file), at->first);
    }
  }
  std::vector<std::int64_t> ranks;
  std::int64_t free = 0;
  for (const auto& one : files) {
    while (!one.rank && taken.count(free) > 0) ++free;
    ranks.push_back(one.rank.value_or(free));
    taken.emplace(ranks.back(), &one);
  }
  return ranks;
}

std::vector<GpuTrace> read_gpu_traces(const std::vector<std::string>& paths) {
  std::vector<GpuTrace> traces;
  std::vector<FileOfJob> files;
  for (const auto& file : trace_files(paths)) {
    traces.push_back(read_gpu_trace(read_file(file, kMostTraceBytes), file));
    files.push_back({file, traces.back().rank, traces.back().job_ranks});
  }
  const auto ranks = ranks_of_job(files);
  for (std::size_t i = 0; i < traces.size(); ++i) traces[i].rank = ranks[i];
  std::stable_sort(traces.begin(), traces.end(), [](const auto& a, const auto& b) { return *a.rank < *b.rank; });
  return traces;
}

}  // namespace assay::predict
