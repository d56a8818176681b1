#include "assay/stats/difference.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "assay/stats/moments.hpp"

namespace assay::stats {
namespace {

/// Sums of products around each side's own mean.
struct Within {
  double xx = 0;
  double xy = 0;
  double yy = 0;
  double mean_x = 0;
  double mean_y = 0;
};

Within within(const std::vector<Adjusted>& side) {
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& one : side) {
    x.push_back(one.covariate);
    y.push_back(one.value);
  }
  Within w;
  w.mean_x = mean(x);
  w.mean_y = mean(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    w.xx += (x[i] - w.mean_x) * (x[i] - w.mean_x);
    w.xy += (x[i] - w.mean_x) * (y[i] - w.mean_y);
    w.yy += (y[i] - w.mean_y) * (y[i] - w.mean_y);
  }
  return w;
}

}  // namespace

double student_quantile(double probability, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

double p_value(const Difference& difference) {
  if (difference.standard_error == 0) return difference.estimate == 0 ? 1 : 0;
  const double t = std::fabs(difference.estimate) / difference.standard_error;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(difference.degrees), t));
}

Interval interval_of(const Difference& difference, double confidence) {
  const double half = student_quantile((1 + confidence) / 2, difference.degrees) * difference.standard_error;
  return {difference.estimate - half, difference.estimate + half};
}

double detectable(const Difference& difference, double alpha, double power) {
  return (student_quantile(1 - alpha / 2, difference.degrees) + student_quantile(power, difference.degrees)) *
         difference.standard_error;
}

std::optional<Difference> welch(const std::vector<double>& a, const std::vector<double>& b) {
  const auto variance_a = variance(a);
  const auto variance_b = variance(b);
  if (!variance_a || !variance_b) return std::nullopt;
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double part_a = *variance_a / n;
  const double part_b = *variance_b / m;
  const double sum = part_a + part_b;
  Difference out{mean(b) - mean(a), std::sqrt(sum), n + m - 2};
  if (sum > 0) out.degrees = sum * sum / (part_a * part_a / (n - 1) + part_b * part_b / (m - 1));
  return out;
}

std::optional<Difference> paired(const std::vector<double>& differences) {
  const auto spread = variance(differences);
  if (!spread) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  return Difference{mean(differences), std::sqrt(*spread / n), n - 1};
}

std::optional<CovariateFit> with_covariate(const std::vector<Adjusted>& a, const std::vector<Adjusted>& b) {
  if (a.size() < 3 || b.size() < 3) return std::nullopt;
  const Within wa = within(a);
  const Within wb = within(b);
  const double xx = wa.xx + wb.xx;
  const double xy = wa.xy + wb.xy;
  const double yy = wa.yy + wb.yy;
  if (xx <= 0 || yy <= 0) return std::nullopt;
  CovariateFit fit;
  fit.slope = xy / xx;
  fit.explained = xy * xy / (xx * yy);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double degrees = n + m - 3;
  const double residual = std::max(0.0, yy - xy * fit.slope) / degrees;
  const double apart = wb.mean_x - wa.mean_x;
  fit.difference = {wb.mean_y - wa.mean_y - fit.slope * apart,
                    std::sqrt(residual * (1 / n + 1 / m + apart * apart / xx)), degrees};
  return fit;
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return p_values[i] < p_values[j]; });
  std::vector<double> out(p_values.size());
  double least = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    least = std::max(least, std::min(1.0, static_cast<double>(order.size() - rank) * p_values[order[rank]]));
    out[order[rank]] = least;
  }
  return out;
}

}  // namespace assay::stats
