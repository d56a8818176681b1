#include "assay/report/results/tail_quantile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assay/stats/quantile.hpp"
#include "assay/stats/tail.hpp"

namespace assay::report {
namespace {

std::int64_t needed_for(TailPercent percent) {
  // Asked of every run, and each takes hundreds of tails of a binomial to find: they are found once.
  static const auto p90 = static_cast<std::int64_t>(stats::samples_for_quantile(0.9));
  static const auto p99 = static_cast<std::int64_t>(stats::samples_for_quantile(0.99));
  return percent == TailPercent::p90 ? p90 : p99;
}

/// "4 runs have 30 to 55 steady samples; a p90 needs 64 in a run: --seconds asks for more"
std::string too_few(const std::vector<const Summary*>& summaries, TailPercent percent) {
  if (summaries.empty()) return "no good runs";
  std::vector<std::int64_t> counts;
  for (const auto* summary : summaries) counts.push_back(steady_samples(*summary));
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const auto range = *least == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *least, *most);
  return fmt::format("{} {} steady samples; a {} needs {} in a run: --seconds asks for more",
                     counts.size() == 1 ? "the run has" : fmt::format("{} runs have", counts.size()), range,
                     name_of(percent), needed_for(percent));
}

}  // namespace

std::int64_t steady_samples(const Summary& summary) {
  return summary.steady_samples.value_or(std::max<std::int64_t>(0, summary.n - summary.steady_from));
}

std::optional<std::int64_t> tail_ns(const Summary& summary, TailPercent percent) {
  if (steady_samples(summary) < needed_for(percent)) return std::nullopt;
  return percent == TailPercent::p90 ? summary.p90_ns : summary.p99_ns;
}

TailQuantile tail_quantile(const std::vector<const Summary*>& summaries, TailPercent percent, double confidence) {
  std::vector<double> values;
  for (const auto* summary : summaries) {
    if (const auto ns = tail_ns(*summary, percent)) values.push_back(static_cast<double>(*ns));
  }
  TailQuantile out;
  if (values.empty()) {
    out.reason = too_few(summaries, percent);
    return out;
  }
  out.ns = stats::median(values);
  out.interval = stats::median_interval(values, confidence);
  if (!out.interval) {
    out.reason = fmt::format("{} good runs with a {}; a 95 % interval needs {}", values.size(), name_of(percent),
                             stats::fewest_for_interval(confidence));
  }
  return out;
}

}  // namespace assay::report
