#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"

namespace assay::store {

/// What tables take from a record beyond its summary. A store keeps it beside the record, so that they decode no
/// samples.
struct Digest {
  /// Settings as they took effect; more than one value where the processes of the run differ.
  std::map<std::string, std::vector<json>> effective;
  std::vector<Reason> reasons;
  std::optional<std::int64_t> peak_memory_bytes;                ///< all processes together; null where one is not known
  std::vector<std::map<std::string, double>> phase_medians_ns;  ///< one for each process that timed phases
  std::optional<double>
      layers_over_step;  ///< sum of the layers' median times over the median step, of the first process
  std::optional<Steady> steady;
  std::optional<double> probe_ns;        ///< median of the speed probe of the first process, while it was measured
  std::optional<double> pair_log_ratio;  ///< of a side b to side a of its group
  std::optional<double> watts;           ///< of all hosts while steps were timed
  std::optional<double> samples_per_joule;
  std::optional<std::int64_t> steady_samples;  ///< that the run's quantiles rest on
  std::optional<QuantileInterval> p90_interval;
  std::optional<QuantileInterval> p99_interval;
  std::optional<GeneratedSummary> generated;  ///< where text is generated
};

template <typename V>
void describe(V& v, Digest& d) {
  v("effective", d.effective);
  v("reasons", d.reasons);
  v("peak_memory_bytes", d.peak_memory_bytes);
  v("phase_medians_ns", d.phase_medians_ns);
  v("layers_over_step", d.layers_over_step);
  v("steady", d.steady);
  v("probe_ns", d.probe_ns);
  v("pair_log_ratio", d.pair_log_ratio);
  v("watts", d.watts);
  v("samples_per_joule", d.samples_per_joule);
  v("steady_samples", d.steady_samples);
  v("p90_interval", d.p90_interval);
  v("p99_interval", d.p99_interval);
  v("generated", d.generated);
}

Digest digest_of(const Record& record);

}  // namespace assay::store
