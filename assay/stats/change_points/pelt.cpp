#include "assay/stats/change_points/pelt.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/core/error.hpp"
#include "assay/stats/moments.hpp"

namespace assay::stats {
namespace {

/// Cost of any segment in constant time, from sums of what came before.
class Cost {
 public:
  Cost(const std::vector<double>& values, double least_variance) : least_variance_(least_variance) {
    // Offsets from the mean keep the digits that squares of large values would lose.
    const double center = mean(values);
    sums_.reserve(values.size() + 1);
    squares_.reserve(values.size() + 1);
    sums_.push_back(0);
    squares_.push_back(0);
    for (const double value : values) {
      sums_.push_back(sums_.back() + (value - center));
      squares_.push_back(squares_.back() + (value - center) * (value - center));
    }
  }

  double operator()(std::size_t begin, std::size_t end) const {
    const auto n = static_cast<double>(end - begin);
    const double average = (sums_[end] - sums_[begin]) / n;
    const double variance = (squares_[end] - squares_[begin]) / n - average * average;
    return n * std::log(std::max(variance, least_variance_));
  }

 private:
  double least_variance_;
  std::vector<double> sums_;
  std::vector<double> squares_;
};

/// A place where the last segment may begin.
struct Candidate {
  std::size_t begin;
  std::size_t worse_from;  ///< from here on another one is at least as good
};

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

}  // namespace

std::vector<std::size_t> segment_starts(const std::vector<double>& values, const PeltOptions& options) {
  const std::size_t n = values.size();
  const std::size_t shortest = std::max<std::size_t>(1, options.shortest);
  ASSAY_CHECK(options.least_variance > 0);
  if (n < 2 * shortest) return {0};
  const Cost cost(values, options.least_variance);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(n + 1, 0);
  best[0] = -options.penalty;
  std::vector<Candidate> candidates{{0, kNever}};
  for (std::size_t end = shortest; end <= n; ++end) {
    if (end >= 2 * shortest) candidates.push_back({end - shortest, kNever});
    for (const auto& candidate : candidates) {
      const double total = best[candidate.begin] + cost(candidate.begin, end) + options.penalty;
      if (total < best[end]) {
        best[end] = total;
        begin_of_last[end] = candidate.begin;
      }
    }
    // A change at `end` is as good as going on from a dearer candidate, once the segment after it is long enough.
    for (auto& candidate : candidates) {
      const bool dearer = best[candidate.begin] + cost(candidate.begin, end) >= best[end];
      if (candidate.worse_from == kNever && dearer) candidate.worse_from = end + shortest;
    }
    std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.worse_from <= end + 1; });
  }
  std::vector<std::size_t> starts;
  for (std::size_t end = n; end > 0; end = begin_of_last[end]) starts.push_back(begin_of_last[end]);
  std::reverse(starts.begin(), starts.end());
  return starts;
}

}  // namespace assay::stats
