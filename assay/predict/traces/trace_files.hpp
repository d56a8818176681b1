#pragma once

#include "assay/predict/traces/gpu_trace.hpp"

namespace assay::predict {

/// Of a folder its files that end in .json or .json.gz, in the order of their names; of anything else itself. Throws
/// Error{usage} for a folder without any.
std::vector<std::string> trace_files(const std::vector<std::string>& paths);

/// What a file says of its place in a job.
struct FileOfJob {
  std::string file;
  std::optional<std::int64_t> rank = {};
  std::optional<std::int64_t> job_ranks = {};
};

/// The rank of each file of one job: the lowest number that is free where a file does not name its own. Throws
/// Error{usage} where two are of the same rank, or of jobs of different sizes.
std::vector<std::int64_t> ranks_of_job(const std::vector<FileOfJob>& files);

/// Reads traces of the ranks of a job, in the order of their ranks. Throws what the functions above and
/// read_gpu_trace() throw.
std::vector<GpuTrace> read_gpu_traces(const std::vector<std::string>& paths);

}  // namespace assay::predict
