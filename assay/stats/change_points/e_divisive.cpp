#include "assay/stats/change_points/e_divisive.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/stats/moments.hpp"

namespace assay::stats {
namespace {

using Series = std::span<const double>;

/// Candidates are looked for at this multiple of the p that is asked for in the end: a change that stands next to a
/// larger one shows its strength only when that one is split off.
constexpr double kWeak = 10;

/// The two levels beside a split, as far as the test needs them.
struct Residuals {
  double squares = 0;   ///< of the distances from the level's mean
  double products = 0;  ///< of neighbouring distances

  void add(Series level, double mean) {
    for (std::size_t i = 0; i < level.size(); ++i) {
      squares += (level[i] - mean) * (level[i] - mean);
      if (i > 0) products += (level[i] - mean) * (level[i - 1] - mean);
    }
  }
};

double mean_of(Series level) {
  return mean({level.begin(), level.end()});
}

/// How many independent values one value of the series is worth: (1-r)/(1+r) for the autocorrelation r of neighbours,
/// of which only what exceeds its standard error 1/sqrt(n) is believed.
double worth(const Residuals& residuals, double n) {
  if (residuals.squares <= 0) return 1;
  const double r = std::max(0.0, residuals.products / residuals.squares - 1 / std::sqrt(n));
  return (1 - r) / (1 + r);
}

/// Whether a test takes all values for independent. While a series is being split it has to: a step that is not split
/// off yet looks like correlation.
enum class Values { independent, correlated };

/// Student's test of the levels before and from `at` on.
ChangePoint judge(Series series, std::size_t begin, std::size_t at, std::size_t end, Values values) {
  const Series before = series.subspan(begin, at - begin);
  const Series after = series.subspan(at, end - at);
  const double mean_before = mean_of(before);
  const double mean_after = mean_of(after);
  Residuals residuals;
  residuals.add(before, mean_before);
  residuals.add(after, mean_after);
  const auto m = static_cast<double>(before.size());
  const auto n = static_cast<double>(after.size());
  const double share = values == Values::correlated ? worth(residuals, m + n) : 1;
  const double freedom = std::max(1.0, (m + n) * share - 2);
  const double error = std::sqrt(residuals.squares / (m + n - 2) * (1 / m + 1 / n) / share);
  const double difference = mean_after - mean_before;
  if (error <= 0) return {at, difference, {difference, difference}, difference == 0 ? 1.0 : 0.0};
  const boost::math::students_t_distribution<double> student(freedom);
  const double half = boost::math::quantile(student, 0.975) * error;
  const double p = 2 * boost::math::cdf(boost::math::complement(student, std::abs(difference) / error));
  return {at, difference, {difference - half, difference + half}, p};
}

struct Split {
  std::size_t at = 0;  ///< 0: there is none
  double divergence = 0;
};

/// The largest Q between `begin` and `end` at an index where a level may begin.
Split best_split(Series series, std::size_t begin, std::size_t end, const ChangeRule& rule) {
  const auto q = divergences(series.subspan(begin, end - begin));
  Split best;
  for (std::size_t at = begin + rule.shortest; at + rule.shortest <= end; ++at) {
    if (!rule.starts.empty() && !std::binary_search(rule.starts.begin(), rule.starts.end(), at)) continue;
    if (best.at == 0 || q[at - begin] > best.divergence) best = {at, q[at - begin]};
  }
  return best;
}

/// Where the values from `begin` to `end` split, 0 where the test does not agree. A level that ends again before `end`
/// may not differ from all that follows, but from what comes first of it: so the end is varied, too.
std::size_t significant_split(Series series, std::size_t begin, std::size_t end, const ChangeRule& rule) {
  const auto agrees = [&](std::size_t at, std::size_t until, double p) {
    return at > 0 && judge(series, begin, at, until, Values::independent).p <= p;
  };
  const Split whole = best_split(series, begin, end, rule);
  if (agrees(whole.at, end, kWeak * rule.p)) return whole.at;
  Split best;
  std::size_t best_end = end;
  for (std::size_t until = begin + 2 * rule.shortest; until + rule.shortest <= end; ++until) {
    const Split part = best_split(series, begin, until, rule);
    if (part.at == 0 || part.divergence <= best.divergence) continue;
    best = part;
    best_end = until;
  }
  return agrees(best.at, best_end, rule.p) ? best.at : 0;  // chosen among many, so it has to be strong
}

/// Adds the change points between `begin` and `end`, in order.
void split(Series series, std::size_t begin, std::size_t end, const ChangeRule& rule, std::vector<std::size_t>& out) {
  const std::size_t at = significant_split(series, begin, end, rule);
  if (at == 0) return;
  split(series, begin, at, rule, out);
  out.push_back(at);
  split(series, at, end, rule, out);
}

std::vector<std::size_t> candidates(Series series, const ChangeRule& rule) {
  std::vector<std::size_t> out;
  for (std::size_t begin = 0; begin < series.size();) {
    const std::size_t end = std::min(begin + rule.window, series.size());
    split(series, begin, end, rule, out);
    if (end == series.size()) break;
    begin = std::max(begin + rule.window / 2, out.empty() ? 0 : out.back());
  }
  return out;
}

/// A point's neighbours: the change points beside it, or the ends of the series.
std::pair<std::size_t, std::size_t> neighbours(const std::vector<std::size_t>& points, std::size_t i, Series series) {
  return {i == 0 ? 0 : points[i - 1], i + 1 == points.size() ? series.size() : points[i + 1]};
}

std::vector<ChangePoint> judge_all(Series series, const std::vector<std::size_t>& points) {
  std::vector<ChangePoint> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [begin, end] = neighbours(points, i, series);
    out.push_back(judge(series, begin, points[i], end, Values::correlated));
  }
  return out;
}

/// Takes away the point of the largest p, then the one of the smallest difference, until all keep the rule.
void drop_weak(Series series, const ChangeRule& rule, std::vector<std::size_t>& points) {
  while (!points.empty()) {
    const auto judged = judge_all(series, points);
    auto weakest =
        std::max_element(judged.begin(), judged.end(), [](const auto& a, const auto& b) { return a.p < b.p; });
    if (weakest->p <= rule.p) {
      weakest = std::min_element(judged.begin(), judged.end(), [](const auto& a, const auto& b) {
        return std::abs(a.difference) < std::abs(b.difference);
      });
      if (std::abs(weakest->difference) >= rule.least) return;
    }
    points.erase(points.begin() + (weakest - judged.begin()));
  }
}

/// Puts each point where Q is largest between its neighbours, no further away than a window.
void place_anew(Series series, const ChangeRule& rule, std::vector<std::size_t>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    auto [begin, end] = neighbours(points, i, series);
    begin = std::max(begin, points[i] - std::min(points[i], rule.window));
    end = std::min(end, points[i] + rule.window);
    if (const Split split = best_split(series, begin, end, rule); split.at > 0) points[i] = split.at;
  }
}

}  // namespace

std::vector<double> divergences(Series series) {
  const std::size_t size = series.size();
  std::vector<double> out(size, 0);
  double before = 0;   // sum of |X-X'| over pairs
  double after = 0;    // the same of Y
  double between = 0;  // sum of |X-Y|
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) after += std::abs(series[i] - series[j]);
  }
  const auto average = [](double sum, double count) { return count > 1 ? sum / (count * (count - 1) / 2) : 0; };
  for (std::size_t at = 1; at < size; ++at) {
    const double moved = series[at - 1];
    double to_before = 0;
    double to_after = 0;
    for (std::size_t i = 0; i + 1 < at; ++i) to_before += std::abs(moved - series[i]);
    for (std::size_t j = at; j < size; ++j) to_after += std::abs(moved - series[j]);
    before += to_before;
    after -= to_after;
    between += to_after - to_before;
    const auto m = static_cast<double>(at);
    const auto n = static_cast<double>(size - at);
    out[at] = m * n / (m + n) * (2 * between / (m * n) - average(before, m) - average(after, n));
  }
  return out;
}

std::vector<ChangePoint> change_points(Series series, const ChangeRule& rule) {
  auto points = candidates(series, rule);
  drop_weak(series, rule, points);
  place_anew(series, rule, points);
  drop_weak(series, rule, points);
  return judge_all(series, points);
}

}  // namespace assay::stats
