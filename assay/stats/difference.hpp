#pragma once

#include <vector>

#include "assay/stats/interval.hpp"

namespace assay::stats {

/// An estimated difference b - a with what is needed to judge it. Of logarithms it is the log of a ratio.
struct Difference {
  double estimate = 0;
  double standard_error = 0;
  double degrees = 1;  ///< of freedom of Student's distribution
};

/// Two-sided probability of an estimate this far from 0 where there is no difference.
double p_value(const Difference& difference);

Interval interval_of(const Difference& difference, double confidence = 0.95);

/// The smallest true difference that a test at `alpha` (two-sided) would find with probability `power`.
double detectable(const Difference& difference, double alpha = 0.01, double power = 0.8);

/// Of independent values of either side, each one per fresh process, by Welch's test. Null below two a side.
std::optional<Difference> welch(const std::vector<double>& a, const std::vector<double>& b);

/// Of pairs: the mean of their differences. Null below two pairs.
std::optional<Difference> paired(const std::vector<double>& differences);

/// One value and the covariate measured beside it.
struct Adjusted {
  double value;
  double covariate;
};

/// What a covariate explains.
struct CovariateFit {
  Difference difference;  ///< with the covariate taken off
  double slope = 0;
  double explained = 0;  ///< share of the variance within sides
};

/// b - a at the same covariate, with one slope for both sides (analysis of covariance). Null with fewer than three
/// values a side, or where the covariate does not vary within sides.
std::optional<CovariateFit> with_covariate(const std::vector<Adjusted>& a, const std::vector<Adjusted>& b);

/// p-values adjusted for being several, in the order given (Holm 1979).
std::vector<double> holm(const std::vector<double>& p_values);

/// Quantile of Student's distribution.
double student_quantile(double probability, double degrees);

}  // namespace assay::stats
