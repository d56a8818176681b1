#include "assay/compare/estimate.hpp"

#include <cmath>

#include "assay/compare/runs.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::compare {
namespace {

constexpr double kNotReached = 1e300;  // finite, because medians of two values add them
constexpr double kLongestTime = 1e200;

/// Times of trusted runs; the others are counted.
std::vector<double> times_to_accuracy(const Rows& rows, Side& side) {
  std::vector<double> out;
  for (const auto* row : rows) {
    const bool beyond = has_not_reached(*row);
    if (!beyond && !gave_time(*row)) continue;
    if (!row->trusted) {
      ++side.disturbed;
      continue;
    }
    side.not_reached += beyond ? 1 : 0;
    out.push_back(beyond ? kNotReached : static_cast<double>(*row->summary.median_ns));
  }
  side.runs = std::ssize(out);
  if (out.empty()) return out;
  if (const auto median = stats::median(out); median < kLongestTime) side.median_ns = median;
  return out;
}

void check_equal_epochs(const Side& a, const Side& b) {
  const auto first = learning_of(a.trial.workload);
  const auto second = learning_of(b.trial.workload);
  if (!first || !second || first->epochs == second->epochs) return;
  fail(ErrorKind::usage,
       "--of accuracy: {} of {} runs have not reached it, and runs of the two sides end after {} and {} epochs: one "
       "that was given fewer is not thereby slower. Measure both with the same --epochs.",
       a.not_reached + b.not_reached, a.runs + b.runs, first->epochs, second->epochs);
}

}  // namespace

bool has_not_reached(const store::RunRow& row) {
  const auto found = row.digest.effective.find(kLearned);
  if (found == row.digest.effective.end() || row.outcome != OutcomeKind::ok) return false;
  return !from_json<Learned>(found->second.at(0), kLearned).reached;
}

void compare_by_ranks(const Rows& a, const Rows& b, Comparison& out) {
  const auto times_a = times_to_accuracy(a, out.a);
  const auto times_b = times_to_accuracy(b, out.b);
  check_equal_epochs(out.a, out.b);
  out.method = Method::ranks;
  out.ranks = stats::by_ranks(times_a, times_b);
  if (out.a.median_ns && out.b.median_ns) out.ratio = *out.b.median_ns / *out.a.median_ns;
}

}  // namespace assay::compare
