#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "assay/core/text/json.hpp"

namespace assay::predict {

/// An event as a trace in Chrome's format has it, with the arguments of PyTorch's profiler that we use.
struct WrittenEvent {
  std::string phase;
  std::string category;
  std::string name;
  std::int64_t thread = 0;
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;  ///< never negative
  std::int64_t device = 0;
  std::int64_t stream = -1;
  std::int64_t correlation = -1;
  std::int64_t external = -1;
  std::int64_t sequence = -1;
  std::int64_t source_stream = -1;
  std::int64_t record_correlation = -1;
  std::string collective;  ///< "allreduce"
  std::string group;       ///< the process group's name
  std::string value_type;  ///< of the collective
  double message_values = 0;
  std::optional<double> first_input_values;
  std::optional<std::string> first_input_type;  ///< empty text: an undefined tensor

  std::int64_t end_ns() const { return begin_ns + length_ns; }
  double first_input_bytes() const;  ///< 0 where shapes were not recorded
  double message_bytes() const;
};

/// What is written of the whole trace.
struct TraceHead {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> job_ranks;  ///< how many the job has
};

/// Calls `take` for each event in the order of the file, which is never held as a whole. Times keep nanoseconds, which
/// a double of microseconds since 1970 does not. Throws Error{bad_input} for what is not JSON, has no traceEvents, or
/// breaks a limit.
TraceHead read_events(std::string_view text, const JsonLimits& limits,
                      const std::function<void(const WrittenEvent&)>& take);

}  // namespace assay::predict
