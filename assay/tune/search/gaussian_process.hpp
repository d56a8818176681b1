#pragma once

#include <cstddef>
#include <vector>

namespace assay::tune {

/// What is known of one point: a value that `evaluations` of it gave.
struct Observation {
  std::vector<double> point;
  double value = 0;
  double evaluations = 1;  ///< the noise of the value has 1/evaluations of the variance of one
};

/// Of the kernel k(x, y) = scale^2 m(r) + slope^2 x.y with r^2 = sum ((x_i - y_i) / length_i)^2 and
/// m(r) = (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r): Matern 5/2 with a length for each feature, on a linear trend.
struct Hyperparameters {
  std::vector<double> lengths;
  double scale = 0.4;
  double slope = 0.3;
  double noise = 0.03;  ///< standard deviation of one evaluation
};

/// Logarithms of hyperparameters are normal before anything was observed.
struct Prior {
  Hyperparameters medians;
  std::vector<double> length_spreads;  ///< standard deviations of the logarithms of the lengths
  double spread = 0.7;                 ///< of the others
};

struct Posterior {
  double mean = 0;
  double variance = 0;  ///< of the function itself, without the noise of an evaluation
};

/// The posterior of a function with an unknown constant mean (generalised least squares) and given hyperparameters.
class GaussianProcess {
 public:
  /// Precondition: at least one observation, all points of the same length as `lengths`. The variance of the i-th
  /// value is increased by `doubt[i]` where `doubt` is not empty: of values that may be wrong.
  GaussianProcess(Hyperparameters hyperparameters, const std::vector<Observation>& observations,
                  std::vector<double> doubt = {});

  std::vector<Posterior> predict(const std::vector<std::vector<double>>& points) const;
  /// Covariances of the function at these points, by rows.
  std::vector<std::vector<double>> covariance(const std::vector<std::vector<double>>& points) const;
  /// The i-th observation as the others predict it, with the variance of a value: of noise and function.
  std::vector<Posterior> left_out() const;

  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  double mean() const { return mean_; }
  const std::vector<double>& doubt() const { return doubt_; }

 private:
  Hyperparameters hyperparameters_;
  std::vector<Observation> observations_;
  std::vector<double> doubt_;
  std::vector<double> factor_;   ///< Cholesky factor of the covariance of the values, by columns
  std::vector<double> weights_;  ///< covariance^-1 (values - mean)
  std::vector<double> ones_;     ///< factor^-1 1
  double mean_ = 0;
};

/// Hyperparameters of greatest posterior density: marginal likelihood times the prior. Climbs from `start` and from the
/// prior's medians; the same input gives the same result.
Hyperparameters fit(const std::vector<Observation>& observations, const Hyperparameters& start, const Prior& prior,
                    const std::vector<double>& doubt = {});

/// A process fitted to observations of which a few may be far too large: an evaluation that was disturbed. They are
/// those that the others contradict; each gets a doubt as large as its surprise.
GaussianProcess fit_despite_outliers(const std::vector<Observation>& observations, const Hyperparameters& start,
                                     const Prior& prior);

/// E max(0, best - X) of X normal: what trying it gains over `best` where less is better. 0 without deviation unless
/// the mean itself is better.
double expected_improvement(double mean, double deviation, double best);

}  // namespace assay::tune
