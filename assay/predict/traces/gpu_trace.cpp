#include "assay/predict/traces/gpu_trace.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "assay/core/text/json.hpp"
#include "assay/core/text/lower.hpp"
#include "assay/core/text/naming.hpp"
#include "assay/core/text/utf8.hpp"
#include "assay/predict/traces/gzip.hpp"
#include "assay/predict/traces/trace_event.hpp"

namespace assay::predict {
namespace {

constexpr JsonLimits kGpuTraceLimits{kMostTraceBytes, 64, 100'000'000};

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

RuntimeCallKind call_kind(const std::string& name) {
  if (contains(name, "WaitEvent")) return RuntimeCallKind::wait;
  if (contains(name, "EventRecord")) return RuntimeCallKind::record;
  if (contains(name, "Synchronize")) return RuntimeCallKind::synchronise;
  if (contains(name, "Launch") || contains(name, "Memcpy") || contains(name, "Memset")) return RuntimeCallKind::launch;
  return RuntimeCallKind::other;
}

bool is_collective(const WrittenEvent& event) {
  return event.name.starts_with("nccl") || event.name.starts_with("rccl") || contains(event.name, "ncclKernel") ||
         contains(event.name, "ncclDevKernel") || !event.collective.empty();
}

bool sums(const std::string& collective) {
  return contains(collective, "allreduce") || contains(collective, "all_reduce") ||
         contains(collective, "reduce_scatter");
}

/// Sorts what the file has into the lists of a trace.
class TraceSorter {
 public:
  explicit TraceSorter(GpuTrace& trace) : trace_(trace) { name_index(""); }

  void add(const WrittenEvent& event) {
    if (event.phase != "X") return;
    const auto category = lower(event.category);
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" || category == "memcpy" ||
        category == "memset") {
      add_work(event, category != "kernel");
    } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "runtime") {
      const auto kind = call_kind(event.name);
      trace_.calls.push_back({event.begin_ns, event.end_ns(), kind,
                              kind == RuntimeCallKind::launch && contains(event.name, "Memcpy"), event.thread,
                              event.correlation});
    } else if (category == "cuda_sync") {
      trace_.syncs.push_back({queue_of(event.device, event.stream), event.correlation,
                              queue_of(event.device, event.source_stream), event.record_correlation});
    } else if (category == "cpu_op" || category == "operator") {
      trace_.operators.push_back({event.begin_ns, event.end_ns(), name_index(event.name), event.thread, event.sequence,
                                  event.external, event.first_input_bytes(),
                                  sums(event.collective) ? event.message_bytes() : 0});
    } else if (category == "user_annotation") {
      trace_.marks.push_back(
          {event.begin_ns, event.end_ns(), name_index(event.name), event.thread, event.first_input_bytes()});
    } else if (category == "cuda_profiler_range") {
      ++trace_.counter_ranges;
    }
  }

  void finish() {
    const auto in_order = [](auto& list) {
      std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
      });
    };
    in_order(trace_.works);
    in_order(trace_.calls);
    in_order(trace_.operators);
    in_order(trace_.marks);
  }

 private:
  static std::int64_t queue_of(std::int64_t device, std::int64_t stream) {
    constexpr std::int64_t kMost = 1 << 20;
    if (stream < 0 || stream >= kMost) return -1;
    return std::clamp<std::int64_t>(device, 0, kMost) * kMost + stream;
  }

  void add_work(const WrittenEvent& event, bool copies) {
    GpuWork work;
    work.begin_ns = event.begin_ns;
    work.end_ns = event.end_ns();
    work.queue = queue_of(event.device, event.stream);
    work.kind = copies ? GpuWorkKind::copy : is_collective(event) ? GpuWorkKind::communication : GpuWorkKind::compute;
    work.name = name_index(event.name);
    work.correlation = event.correlation;
    work.external = event.external;
    work.group = name_index(event.group);
    work.has_one_peer = event.collective == "send" || event.collective == "recv";
    trace_.works.push_back(work);
  }

  std::uint32_t name_index(const std::string& name) {
    const auto [found, is_new] = index_.emplace(name, static_cast<std::uint32_t>(trace_.names.size()));
    if (is_new) trace_.names.push_back(name);
    return found->second;
  }

  GpuTrace& trace_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

}  // namespace

GpuTrace read_gpu_trace(std::string_view bytes, const std::string& name) {
  return naming(name, [&] {
    std::string unpacked;
    if (is_gzip(bytes)) {
      unpacked = unpack_gzip(bytes, kMostTraceBytes);
      bytes = unpacked;
    }
    GpuTrace trace;
    trace.name = name;
    TraceSorter sorter(trace);
    const auto head = read_events(bytes, kGpuTraceLimits, [&](const WrittenEvent& event) { sorter.add(event); });
    sorter.finish();
    trace.rank = head.rank;
    trace.job_ranks = head.job_ranks;
    return trace;
  });
}

}  // namespace assay::predict
