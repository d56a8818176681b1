#include "assay/tune/search/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "assay/core/error.hpp"

namespace assay::tune {
namespace {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr double kRoot5 = 2.23606797749978969;
/// Of the covariance's diagonal, so that equal points can be factored.
constexpr double kJitter = 1e-9;

/// A point is a column.
Matrix columns(const std::vector<std::vector<double>>& points, std::size_t begin, std::size_t end) {
  Matrix out(static_cast<Index>(points.at(begin).size()), static_cast<Index>(end - begin));
  for (std::size_t i = begin; i < end; ++i) {
    out.col(static_cast<Index>(i - begin)) =
        Eigen::Map<const Vector>(points[i].data(), static_cast<Index>(points[i].size()));
  }
  return out;
}

Matrix columns(const std::vector<Observation>& observations) {
  std::vector<std::vector<double>> points;
  for (const auto& observation : observations) points.push_back(observation.point);
  return columns(points, 0, points.size());
}

Vector values_of(const std::vector<Observation>& observations) {
  Vector out(static_cast<Index>(observations.size()));
  for (Index i = 0; i < out.size(); ++i) out[i] = observations[static_cast<std::size_t>(i)].value;
  return out;
}

/// Squared distances of columns in units of the lengths.
Matrix squared_distances(const Matrix& a, const Matrix& b, const std::vector<double>& lengths) {
  const Eigen::Map<const Vector> length(lengths.data(), static_cast<Index>(lengths.size()));
  const Matrix x = length.cwiseInverse().asDiagonal() * a;
  const Matrix y = length.cwiseInverse().asDiagonal() * b;
  Matrix out = -2 * (x.transpose() * y);
  out.colwise() += x.colwise().squaredNorm().transpose();
  out.rowwise() += y.colwise().squaredNorm();
  return out.cwiseMax(0);
}

Matrix kernel(const Matrix& a, const Matrix& b, const Hyperparameters& h) {
  const Eigen::ArrayXXd s = kRoot5 * squared_distances(a, b, h.lengths).array().sqrt();
  Matrix out = (h.scale * h.scale * (1 + s + s.square() / 3) * (-s).exp()).matrix();
  out.noalias() += h.slope * h.slope * (a.transpose() * b);
  return out;
}

/// Of single values at the columns, before anything was observed.
Vector prior_variances(const Matrix& points, const Hyperparameters& h) {
  return (h.scale * h.scale + h.slope * h.slope * points.colwise().squaredNorm().array()).transpose();
}

/// What each value's variance has beyond that of the function.
Vector noise_of(const std::vector<Observation>& observations, const Hyperparameters& h,
                const std::vector<double>& doubt) {
  Vector out(static_cast<Index>(observations.size()));
  for (std::size_t i = 0; i < observations.size(); ++i) {
    out[static_cast<Index>(i)] =
        h.noise * h.noise / observations[i].evaluations + (doubt.empty() ? 0 : doubt[i]) + kJitter * h.scale * h.scale;
  }
  return out;
}

Vector packed(const Hyperparameters& h) {
  const auto features = static_cast<Index>(h.lengths.size());
  Vector out(features + 3);
  out.head(features) = Eigen::Map<const Vector>(h.lengths.data(), features).array().log();
  out.tail(3) << std::log(h.scale), std::log(h.slope), std::log(h.noise);
  return out;
}

Hyperparameters unpacked(const Vector& logs) {
  const Index features = logs.size() - 3;
  Hyperparameters out;
  for (Index i = 0; i < features; ++i) out.lengths.push_back(std::exp(logs[i]));
  out.scale = std::exp(logs[features]);
  out.slope = std::exp(logs[features + 1]);
  out.noise = std::exp(logs[features + 2]);
  return out;
}

/// The logarithm of the posterior density of hyperparameters (but for a constant), and its gradient by their
/// logarithms.
class Density {
 public:
  Density(const std::vector<Observation>& observations, const Prior& prior, const std::vector<double>& doubt)
      : observations_(observations),
        doubt_(doubt),
        middle_(packed(prior.medians)),
        spread_(Vector::Constant(middle_.size(), prior.spread)),
        points_(columns(observations)),
        values_(values_of(observations)) {
    spread_.head(points_.rows()) = Eigen::Map<const Vector>(prior.length_spreads.data(), points_.rows());
    for (Index f = 0; f < points_.rows(); ++f) {
      const Vector x = points_.row(f);
      squares_.push_back((x.replicate(1, x.size()) - x.transpose().replicate(x.size(), 1)).cwiseAbs2());
    }
    products_ = points_.transpose() * points_;
  }

  double at(const Vector& logs, Vector& gradient) const {
    const auto h = unpacked(logs);
    const Index n = values_.size();
    const Index features = points_.rows();
    Matrix squared = Matrix::Zero(n, n);
    for (Index f = 0; f < features; ++f) {
      const double length = h.lengths[static_cast<std::size_t>(f)];
      squared += squares_[static_cast<std::size_t>(f)] / (length * length);
    }
    const Eigen::ArrayXXd s = kRoot5 * squared.array().sqrt();
    const Eigen::ArrayXXd decay = h.scale * h.scale * (-s).exp();
    const Matrix matern = ((1 + s + s.square() / 3) * decay).matrix();
    Matrix covariance = matern + h.slope * h.slope * products_;
    covariance.diagonal() += noise_of(observations_, h, doubt_);
    const Eigen::LLT<Matrix> factor(covariance);
    const Matrix inverse = factor.solve(Matrix::Identity(n, n));
    const double mean = (inverse * values_).sum() / inverse.sum();
    const Vector residual = values_.array() - mean;
    const Vector alpha = inverse * residual;
    const Matrix weight = alpha * alpha.transpose() - inverse;

    gradient.resize(logs.size());
    // d matern / d log length_f = 5/3 scale^2 (1 + s) exp(-s) (difference_f / length_f)^2.
    const Matrix slopes = (weight.array() * (1 + s) * decay * (5.0 / 3.0)).matrix();
    for (Index f = 0; f < features; ++f) {
      const double length = h.lengths[static_cast<std::size_t>(f)];
      gradient[f] = 0.5 * slopes.cwiseProduct(squares_[static_cast<std::size_t>(f)]).sum() / (length * length);
    }
    gradient[features] = weight.cwiseProduct(matern).sum();
    gradient[features + 1] = h.slope * h.slope * weight.cwiseProduct(products_).sum();
    double by_noise = 0;
    for (Index i = 0; i < n; ++i) {
      by_noise += weight(i, i) * h.noise * h.noise / observations_[static_cast<std::size_t>(i)].evaluations;
    }
    gradient[features + 2] = by_noise;
    double density = -0.5 * residual.dot(alpha) - factor.matrixLLT().diagonal().array().log().sum();
    const Vector z = (logs - middle_).cwiseQuotient(spread_);
    gradient -= z.cwiseQuotient(spread_);
    density -= 0.5 * z.squaredNorm();
    return density;
  }

 private:
  const std::vector<Observation>& observations_;
  const std::vector<double>& doubt_;
  Vector middle_;  ///< of the prior
  Vector spread_;
  Matrix points_;
  Vector values_;
  std::vector<Matrix> squares_;
  Matrix products_;
};

/// Climbs by signs of the gradient with a step for each parameter (Rprop): no line search, and nothing to tune.
std::pair<double, Vector> climb(const Density& density, Vector at, int steps) {
  Vector step = Vector::Constant(at.size(), 0.2);
  Vector before = Vector::Zero(at.size());
  Vector gradient;
  Vector best = at;
  double highest = -1e300;
  for (int i = 0; i < steps; ++i) {
    const double height = density.at(at, gradient);
    if (!std::isfinite(height)) break;
    if (height > highest) {
      highest = height;
      best = at;
    }
    for (Index p = 0; p < at.size(); ++p) {
      const double turned = gradient[p] * before[p];
      step[p] = std::clamp(step[p] * (turned > 0 ? 1.3 : turned < 0 ? 0.5 : 1), 1e-3, 0.6);
      if (turned < 0) gradient[p] = 0;
      at[p] += gradient[p] > 0 ? step[p] : gradient[p] < 0 ? -step[p] : 0;
    }
    before = gradient;
  }
  return {highest, best};
}

constexpr int kSteps = 25;
/// Points that one block of predictions takes, so that it stays within a cache.
constexpr std::size_t kBlock = 512;

}  // namespace

Hyperparameters fit(const std::vector<Observation>& observations, const Hyperparameters& start, const Prior& prior,
                    const std::vector<double>& doubt) {
  ASSAY_CHECK(!observations.empty());
  const Density density(observations, prior, doubt);
  const auto warm = climb(density, packed(start), kSteps);
  const auto cold = climb(density, packed(prior.medians), kSteps);
  return unpacked(cold.first > warm.first ? cold.second : warm.second);
}

GaussianProcess::GaussianProcess(Hyperparameters hyperparameters, const std::vector<Observation>& observations,
                                 std::vector<double> doubt)
    : hyperparameters_(std::move(hyperparameters)), observations_(observations), doubt_(std::move(doubt)) {
  ASSAY_CHECK(!observations_.empty());
  const auto points = columns(observations_);
  ASSAY_CHECK(static_cast<std::size_t>(points.rows()) == hyperparameters_.lengths.size());
  const Index n = points.cols();
  Matrix covariance = kernel(points, points, hyperparameters_);
  covariance.diagonal() += noise_of(observations_, hyperparameters_, doubt_);
  const Eigen::LLT<Matrix> factor(covariance);
  ASSAY_CHECK(factor.info() == Eigen::Success);
  const Matrix lower = factor.matrixL();
  const Vector ones = lower.triangularView<Eigen::Lower>().solve(Vector::Ones(n));
  const Vector values = values_of(observations_);
  mean_ = factor.solve(values).sum() / ones.squaredNorm();
  const Vector weights = factor.solve((values.array() - mean_).matrix());
  factor_.assign(lower.data(), lower.data() + lower.size());
  weights_.assign(weights.data(), weights.data() + n);
  ones_.assign(ones.data(), ones.data() + n);
}

std::vector<Posterior> GaussianProcess::predict(const std::vector<std::vector<double>>& points) const {
  const auto n = static_cast<Index>(observations_.size());
  const Eigen::Map<const Matrix> lower(factor_.data(), n, n);
  const Eigen::Map<const Vector> weights(weights_.data(), n);
  const Eigen::Map<const Vector> ones(ones_.data(), n);
  const auto observed = columns(observations_);
  std::vector<Posterior> out;
  out.reserve(points.size());
  for (std::size_t begin = 0; begin < points.size(); begin += kBlock) {
    const auto block = columns(points, begin, std::min(begin + kBlock, points.size()));
    Matrix cross = kernel(observed, block, hyperparameters_);
    const Vector means = (cross.transpose() * weights).array() + mean_;
    lower.triangularView<Eigen::Lower>().solveInPlace(cross);
    // The mean is unknown too: (1 - 1' K^-1 k)^2 / (1' K^-1 1).
    const Vector of_mean = (1 - (cross.transpose() * ones).array()).square() / ones.squaredNorm();
    const Vector variances =
        prior_variances(block, hyperparameters_) - cross.colwise().squaredNorm().transpose() + of_mean;
    for (Index i = 0; i < means.size(); ++i) out.push_back({means[i], std::max(variances[i], 0.0)});
  }
  return out;
}

std::vector<std::vector<double>> GaussianProcess::covariance(const std::vector<std::vector<double>>& points) const {
  const auto n = static_cast<Index>(observations_.size());
  const Eigen::Map<const Matrix> lower(factor_.data(), n, n);
  const Eigen::Map<const Vector> ones(ones_.data(), n);
  const auto asked = columns(points, 0, points.size());
  Matrix cross = kernel(columns(observations_), asked, hyperparameters_);
  lower.triangularView<Eigen::Lower>().solveInPlace(cross);
  const Vector left = 1 - (cross.transpose() * ones).array();
  const Matrix found =
      kernel(asked, asked, hyperparameters_) - cross.transpose() * cross + left * left.transpose() / ones.squaredNorm();
  std::vector<std::vector<double>> out(points.size(), std::vector<double>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < points.size(); ++j) out[i][j] = found(static_cast<Index>(i), static_cast<Index>(j));
  }
  return out;
}

std::vector<Posterior> GaussianProcess::left_out() const {
  const auto n = static_cast<Index>(observations_.size());
  const Eigen::Map<const Matrix> lower(factor_.data(), n, n);
  const Matrix half = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
  std::vector<Posterior> out;
  for (Index i = 0; i < n; ++i) {
    const double variance = 1 / half.col(i).squaredNorm();
    const auto at = static_cast<std::size_t>(i);
    out.push_back({observations_[at].value - weights_[at] * variance, variance});
  }
  return out;
}

GaussianProcess fit_despite_outliers(const std::vector<Observation>& observations, const Hyperparameters& start,
                                     const Prior& prior) {
  // A value this many deviations above what the others say is doubted, unless it is too far off for a disturbance.
  constexpr double kSurprise = 3;
  constexpr double kLargestDisturbance = 1.0;
  GaussianProcess process(fit(observations, start, prior), observations);
  std::vector<double> doubt(observations.size(), 0);
  for (std::size_t doubted = 0; doubted < (observations.size() + 5) / 10; ++doubted) {
    const auto others = process.left_out();
    std::size_t worst = 0;
    double surprise = 0;
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const double excess = observations[i].value - others[i].mean;
      if (doubt[i] > 0 || excess > kLargestDisturbance) continue;
      if (excess / std::sqrt(others[i].variance) > surprise) {
        surprise = excess / std::sqrt(others[i].variance);
        worst = i;
      }
    }
    if (surprise < kSurprise) break;
    doubt[worst] = std::pow(observations[worst].value - others[worst].mean, 2);
    process = GaussianProcess(fit(observations, process.hyperparameters(), prior, doubt), observations, doubt);
  }
  return process;
}

double expected_improvement(double mean, double deviation, double best) {
  if (deviation <= 0) return std::max(best - mean, 0.0);
  constexpr double kRootTwoPi = 2.50662827463100050;
  const double z = (best - mean) / deviation;
  return (best - mean) * 0.5 * std::erfc(-z / std::sqrt(2.0)) + deviation * std::exp(-z * z / 2) / kRootTwoPi;
}

}  // namespace assay::tune
