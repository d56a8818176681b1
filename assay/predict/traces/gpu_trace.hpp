#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::predict {

/// What a device spends time on.
enum class GpuWorkKind {
  compute,
  communication,  ///< kernels of NCCL and RCCL
  copy,           ///< of memory, and filling it
};

/// A kernel or a copy on a device. Times of a trace are nanoseconds of one clock.
struct GpuWork {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t queue = 0;  ///< device and stream
  GpuWorkKind kind = GpuWorkKind::compute;
  std::uint32_t name = 0;         ///< of GpuTrace::names
  std::int64_t correlation = -1;  ///< the runtime call that launched it; -1: not recorded
  std::int64_t external = -1;     ///< the operator, where the profiler wrote it
  std::uint32_t group = 0;        ///< of a collective: the name of its process group, of GpuTrace::names
  bool has_one_peer = false;      ///< a send or a receive: not every rank of the group takes part

  std::int64_t length_ns() const { return end_ns - begin_ns; }
};

enum class RuntimeCallKind {
  launch,       ///< of kernels and copies
  record,       ///< of an event
  wait,         ///< a stream waits for an event; the host does not
  synchronise,  ///< the host waits
  other,
};

/// A call of the CUDA or HIP runtime.
struct RuntimeCall {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  RuntimeCallKind kind = RuntimeCallKind::other;
  bool copies = false;
  std::int64_t thread = 0;
  std::int64_t correlation = -1;
};

/// What the profiler says of an event or a synchronisation, with streams (category cuda_sync).
struct SyncMark {
  std::int64_t queue = -1;        ///< that waits, or is waited for by the host
  std::int64_t correlation = -1;  ///< of the runtime call
  std::int64_t source_queue = -1;
  std::int64_t record_correlation = -1;  ///< of the call that recorded the event
};

/// An operator of the framework.
struct HostOperator {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
  std::int64_t thread = 0;
  std::int64_t sequence = -1;
  std::int64_t external = -1;
  double first_input_bytes = 0;  ///< 0 where shapes were not recorded
  double summed_bytes = 0;       ///< of a collective that sums: all-reduce and reduce-scatter
};

/// A part of the program that the profiler or the user named.
struct HostMark {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t name = 0;
  std::int64_t thread = 0;
  double first_input_bytes = 0;
};

/// What PyTorch's profiler wrote of one process. Lists are in the order in which things began; of those that began
/// together, the longest comes first.
struct GpuTrace {
  std::string name;  ///< of the file
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> job_ranks;  ///< how many the job has, where the trace says it
  std::vector<std::string> names;
  std::vector<GpuWork> works;
  std::vector<RuntimeCall> calls;
  std::vector<SyncMark> syncs;
  std::vector<HostOperator> operators;
  std::vector<HostMark> marks;
  std::size_t counter_ranges = 0;  ///< kernels whose hardware counters are there in place of their times

  const std::string& name_of(std::uint32_t index) const { return names[index]; }
};

/// Unpacked, a trace may have this many bytes.
constexpr std::size_t kMostTraceBytes = std::size_t{1} << 30;

/// Reads what `profiler.export_chrome_trace()` wrote, packed by gzip or not. Throws Error{bad_input} that begins with
/// `name` for what is not such a trace or breaks a limit.
GpuTrace read_gpu_trace(std::string_view bytes, const std::string& name);

}  // namespace assay::predict
