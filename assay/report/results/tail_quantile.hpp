#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/core/record.hpp"
#include "assay/stats/interval.hpp"

namespace assay::report {

/// The quantiles above the median that runs keep.
enum class TailPercent { p90, p99 };

/// A quantile of the steps of a trial: the median of its runs' own, of those with enough samples.
struct TailQuantile {
  std::optional<double> ns;
  std::optional<stats::Interval> interval;  ///< 95 %, order statistics over processes
  std::optional<std::string> reason;        ///< why there is no quantile, or no interval of it
};

/// Samples that a run's quantiles rest on; of records of older versions, what they say about it.
std::int64_t steady_samples(const Summary& summary);

/// A run's quantile; null where it has too few samples, also in records of versions that kept it then.
std::optional<std::int64_t> tail_ns(const Summary& summary, TailPercent percent);

/// `summaries` are those of the runs that count.
TailQuantile tail_quantile(const std::vector<const Summary*>& summaries, TailPercent percent, double confidence);

}  // namespace assay::report

namespace assay {

template <>
struct EnumNames<report::TailPercent> {
  static constexpr std::array<const char*, 2> names{"p90", "p99"};
};

}  // namespace assay
