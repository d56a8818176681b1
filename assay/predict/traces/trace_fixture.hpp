#pragma once

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>

#include "assay/core/text/json.hpp"
#include "assay/predict/traces/gpu_trace.hpp"

namespace assay::predict {

/// Builds a trace as PyTorch's profiler writes it. Times are in microseconds.
class WrittenTrace {
 public:
  /// Of a job that does not say how many ranks it has, unless it is given.
  explicit WrittenTrace(std::int64_t rank = 0, std::optional<std::int64_t> job_ranks = std::nullopt) {
    info_["rank"] = rank;
    if (job_ranks) info_["world_size"] = *job_ranks;
  }

  WrittenTrace& mark(const std::string& name, double begin, double us) {
    return add("user_annotation", name, begin, us, 1, json::object());
  }

  /// A launch at `launched` that takes 3 us, and the kernel.
  WrittenTrace& kernel(const std::string& name, double launched, double begin, double us, int stream = 7) {
    add("cuda_runtime", "cudaLaunchKernel", launched, 3, 1, {{"correlation", ++correlation_}});
    return add("kernel", name, begin, us, stream, {{"correlation", correlation_}, {"stream", stream}, {"device", 0}});
  }

  WrittenTrace& copy(double launched, double call_us, double begin, double us, int stream = 7) {
    add("cuda_runtime", "cudaMemcpyAsync", launched, call_us, 1, {{"correlation", ++correlation_}});
    return add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", begin, us, stream,
               {{"correlation", correlation_}, {"stream", stream}, {"device", 0}});
  }

  WrittenTrace& call(const std::string& name, double begin, double us) {
    return add("cuda_runtime", name, begin, us, 1, {{"correlation", ++correlation_}});
  }

  /// What `stream` does next waits for an event that was recorded on `source`; both calls take 1 us.
  WrittenTrace& wait(double recorded, int source, double waited, int stream) {
    call("cudaEventRecord", recorded, 1);
    const int record = correlation_;
    call("cudaStreamWaitEvent", waited, 1);
    return add("cuda_sync", "Stream Wait Event", waited, 1, stream,
               {{"correlation", correlation_},
                {"stream", stream},
                {"device", 0},
                {"wait_on_stream", source},
                {"wait_on_cuda_event_record_corr_id", record}});
  }

  WrittenTrace& add(const std::string& category, const std::string& name, double begin, double us, int thread,
                    json args) {
    events_.push_back({{"ph", "X"},
                       {"cat", category},
                       {"name", name},
                       {"pid", 1},
                       {"tid", thread},
                       {"ts", begin},
                       {"dur", us},
                       {"args", std::move(args)}});
    return *this;
  }

  std::string text() const {
    return json{{"schemaVersion", 1}, {"distributedInfo", info_}, {"traceEvents", events_}}.dump();
  }

  GpuTrace trace() const { return read_gpu_trace(text(), "t.json"); }

 private:
  json info_ = json::object();
  int correlation_ = 0;
  json events_ = json::array();
};

/// As `gzip` packs it.
inline std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace assay::predict
