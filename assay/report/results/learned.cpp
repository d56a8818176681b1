#include "assay/report/results/learned.hpp"

#include <algorithm>
#include <vector>

#include "assay/core/text/units.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr double kBeyond = 1e300;  // longer than any run; finite, because medians of two values add them
constexpr double kLongest = 1e200;

/// The median of values of which some are beyond all others.
std::optional<double> known_median(const std::vector<double>& values) {
  const auto median = stats::median(values);
  return median < kLongest ? std::optional(median) : std::nullopt;
}

}  // namespace

std::optional<LearnedResult> learned_of(const Details& details) {
  const auto found = details.effective.find(kLearned);
  if (found == details.effective.end()) return std::nullopt;
  LearnedResult out;
  out.lowest_accuracy = 1;
  std::vector<double> times;
  std::vector<double> epochs;
  std::vector<double> samples;
  for (const auto& [value, runs] : found->second) {
    const auto learned = from_json<Learned>(value, kLearned);
    out.runs += runs;
    if (learned.reached) out.reached += runs;
    out.lowest_accuracy = std::min(out.lowest_accuracy, learned.accuracy);
    for (std::int64_t run = 0; run < runs; ++run) {
      times.push_back(learned.reached ? static_cast<double>(learned.ns) : kBeyond);
      epochs.push_back(learned.reached ? static_cast<double>(learned.epochs) : kBeyond);
      samples.push_back(learned.reached ? static_cast<double>(learned.samples) : kBeyond);
    }
  }
  out.ns = known_median(times);
  out.epochs = known_median(epochs);
  out.samples = known_median(samples);
  const auto interval = stats::median_interval(times, 0.95);
  if (interval && interval->high < kLongest) out.ns_interval = interval;
  return out;
}

std::string learned_line(const LearnedResult& learned) {
  std::string out = fmt::format("accuracy: reached by {} of {} runs", learned.reached, learned.runs);
  if (learned.ns) out += fmt::format(", in {}", format_duration(*learned.ns));
  if (learned.ns_interval) {
    out += fmt::format(" (95 % interval {} - {})", format_duration(learned.ns_interval->low),
                       format_duration(learned.ns_interval->high));
  }
  if (learned.epochs) out += fmt::format(", {:g} epochs, {:.0f} samples", *learned.epochs, *learned.samples);
  if (learned.reached < learned.runs)
    out += fmt::format("; the lowest ended at {:.1f} %", 100 * learned.lowest_accuracy);
  return out;
}

}  // namespace assay::report
