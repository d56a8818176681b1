#include "assay/stats/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace assay::stats {
namespace {

constexpr std::size_t kMostExact = 60;  // the exact distribution then has 31 x 3,660 cells

/// Twice the rank of each value, so that ranks between two others are whole numbers.
std::vector<std::int64_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return values[i] < values[j]; });
  std::vector<std::int64_t> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<std::int64_t>(first + 1 + end);
    first = end;
  }
  return ranks;
}

/// Ways to choose `count` of the ranks, by their sum.
std::vector<double> ways_by_sum(const std::vector<std::int64_t>& ranks, std::size_t count) {
  const auto most = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), std::int64_t{0}));
  std::vector<std::vector<double>> ways(count + 1, std::vector<double>(most + 1));
  ways[0][0] = 1;
  for (const auto rank : ranks) {
    const auto own = static_cast<std::size_t>(rank);
    for (std::size_t chosen = count; chosen > 0; --chosen) {
      for (std::size_t sum = most; sum >= own; --sum) ways[chosen][sum] += ways[chosen - 1][sum - own];
    }
  }
  return ways[count];
}

/// Twice the smaller tail of all ways to share the ranks between the sides.
double exact_p(const std::vector<std::int64_t>& ranks, std::size_t count, std::int64_t sum) {
  const auto ways = ways_by_sum(ranks, count);
  const auto at = ways.begin() + sum;
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  const double below = std::accumulate(ways.begin(), at + 1, 0.0);
  const double above = std::accumulate(at, ways.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above) / all);
}

/// Sum of t^3 - t over sets of t equal values.
double ties_of(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  double ties = 0;
  for (auto first = ranks.begin(); first != ranks.end();) {
    const auto end = std::upper_bound(first, ranks.end(), *first);
    const auto t = static_cast<double>(end - first);
    ties += t * t * t - t;
    first = end;
  }
  return ties;
}

/// `u` is how often b is above a, of n m pairs.
double normal_p(const std::vector<std::int64_t>& ranks, double n, double m, double u) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - ties_of(ranks) / (all * (all - 1)));
  if (variance <= 0) return 1;
  const double away = std::max(0.0, std::fabs(u - n * m / 2) - 0.5);
  return std::erfc(away / std::sqrt(2 * variance));
}

}  // namespace

std::optional<RankComparison> by_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  auto values = a;
  values.insert(values.end(), b.begin(), b.end());
  const auto ranks = doubled_ranks(values);
  const auto sum = std::accumulate(ranks.begin() + std::ssize(a), ranks.end(), std::int64_t{0});
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double u = static_cast<double>(sum) / 2 - m * (m + 1) / 2;
  RankComparison out;
  out.b_above_a = u / (n * m);
  out.p = values.size() <= kMostExact ? exact_p(ranks, b.size(), sum) : normal_p(ranks, n, m, u);
  return out;
}

}  // namespace assay::stats
