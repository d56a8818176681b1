#include "assay/predict/devices/kernel_law.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/stats/quantile.hpp"

namespace assay::predict {
namespace {

constexpr double kSoftness = 0.1;  // log residuals beyond it count by their size, not their square
constexpr double kNormal90 = 1.6449;
constexpr std::size_t kFolds = 5;
constexpr double kLawSlopeStep = 1e-4;

std::vector<double> exponentials(const std::vector<double>& logs) {
  std::vector<double> values;
  values.reserve(logs.size());
  for (const double one : logs) values.push_back(std::exp(one));
  return values;
}

class LawFitter {
 public:
  explicit LawFitter(const LawFit& fit) : fit_(fit) {}

  /// Logarithms of the constants that are best for these rows.
  std::vector<double> best(const std::vector<std::size_t>& rows, const std::vector<std::vector<double>>& starts) const {
    std::vector<double> found;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& start : starts) {
      const auto at =
          bounded_least_squares([&](const auto& logs) { return residuals(rows, logs, true); }, bounded(start));
      double squares = 0;
      for (const double one : residuals(rows, at, true)) squares += one * one;
      if (squares >= least) continue;
      least = squares;
      found = at;
    }
    return found;
  }

  std::vector<double> residuals(const std::vector<std::size_t>& rows, const std::vector<double>& logs,
                                bool soft) const {
    const auto values = exponentials(logs);
    std::vector<double> left;
    left.reserve(rows.size());
    for (const auto row : rows) {
      const double one = std::log(fit_.seconds(values, row) / fit_.measured[row]);
      left.push_back(soft ? softened(one, kSoftness) : one);
    }
    return left;
  }

  std::vector<std::vector<double>> starts() const {
    std::vector<double> usual;
    for (const auto& one : fit_.constants) usual.push_back(std::log(one.start));
    if (fit_.starts.empty()) return {usual};
    std::vector<std::vector<double>> all;
    for (const auto& changes : fit_.starts) {
      all.push_back(usual);
      for (const auto& change : changes) all.back()[change.constant] = std::log(change.value);
    }
    return all;
  }

  /// The 90 % intervals of constants that lie inside of their bounds.
  std::vector<LawConstant> constants(const std::vector<std::size_t>& rows, const std::vector<double>& logs) const {
    const auto widths = standard_errors(rows, logs);
    std::vector<LawConstant> all;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      LawConstant one{fit_.constants[i].name, std::exp(logs[i]), std::nullopt, std::nullopt};
      if (widths[i]) {
        one.low = std::max(fit_.constants[i].low, std::exp(logs[i] - kNormal90 * *widths[i]));
        one.high = std::min(fit_.constants[i].high, std::exp(logs[i] + kNormal90 * *widths[i]));
      }
      all.push_back(one);
    }
    return all;
  }

 private:
  std::vector<BoundedConstant> bounded(const std::vector<double>& start) const {
    std::vector<BoundedConstant> all;
    for (std::size_t i = 0; i < start.size(); ++i) {
      const double low = std::log(fit_.constants[i].low);
      const double high = std::log(fit_.constants[i].high);
      all.push_back({std::clamp(start[i], low, high), low, high});
    }
    return all;
  }

  bool at_bound(std::size_t i, double log) const {
    constexpr double kNear = 1e-6;
    return log <= std::log(fit_.constants[i].low) + kNear || log >= std::log(fit_.constants[i].high) - kNear;
  }

  std::vector<std::optional<double>> standard_errors(const std::vector<std::size_t>& rows,
                                                     const std::vector<double>& logs) const {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      if (!at_bound(i, logs[i])) free.push_back(i);
    }
    std::vector<std::optional<double>> widths(logs.size());
    if (free.empty() || rows.size() <= free.size()) return widths;
    const auto at = residuals(rows, logs, true);
    const auto count = static_cast<Eigen::Index>(rows.size());
    const auto base = Eigen::Map<const Eigen::VectorXd>(at.data(), count);
    Eigen::MatrixXd slopes(count, static_cast<Eigen::Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) {
      auto moved = logs;
      moved[free[k]] += kLawSlopeStep;
      const auto there = residuals(rows, moved, true);
      slopes.col(static_cast<Eigen::Index>(k)) =
          (Eigen::Map<const Eigen::VectorXd>(there.data(), count) - base) / kLawSlopeStep;
    }
    const double variance = base.squaredNorm() / static_cast<double>(rows.size() - free.size());
    const Eigen::MatrixXd squares = slopes.transpose() * slopes;
    const Eigen::FullPivLU<Eigen::MatrixXd> solver(squares);
    if (!solver.isInvertible()) return widths;
    const Eigen::MatrixXd inverse = solver.inverse();
    for (std::size_t k = 0; k < free.size(); ++k) {
      const double one = variance * inverse(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(k));
      if (one > 0 && std::isfinite(one)) widths[free[k]] = std::sqrt(one);
    }
    return widths;
  }

  const LawFit& fit_;
};

/// |log residuals| of rows that were left out in turn, a fifth at a time.
std::vector<double> left_out_residuals(const LawFitter& fitter, std::size_t count, const std::vector<double>& start) {
  std::vector<double> all;
  for (std::size_t fold = 0; fold < std::min(kFolds, count); ++fold) {
    std::vector<std::size_t> kept;
    std::vector<std::size_t> left_out;
    for (std::size_t row = 0; row < count; ++row) (row % kFolds == fold ? left_out : kept).push_back(row);
    if (kept.empty() || left_out.empty()) continue;
    for (const double one : fitter.residuals(left_out, fitter.best(kept, {start}), false)) {
      all.push_back(std::abs(one));
    }
  }
  return all;
}

}  // namespace

std::vector<double> KernelLaw::values() const {
  std::vector<double> all;
  all.reserve(constants.size());
  for (const auto& one : constants) all.push_back(one.value);
  return all;
}

double softened(double residual, double softness) {
  const double part = residual / softness;
  return std::copysign(softness * std::sqrt(2 * (std::sqrt(1 + part * part) - 1)), residual);
}

double conformal_width(std::vector<double> residuals, double share) {
  ASSAY_CHECK(!residuals.empty());
  for (auto& one : residuals) one = std::abs(one);
  std::sort(residuals.begin(), residuals.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(residuals.size() + 1)));
  return residuals[std::min(std::max<std::size_t>(rank, 1), residuals.size()) - 1];
}

KernelLaw fit_law(const LawFit& fit) {
  ASSAY_CHECK(!fit.measured.empty());
  const LawFitter fitter(fit);
  std::vector<std::size_t> rows(fit.measured.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const auto best = fitter.best(rows, fitter.starts());
  KernelLaw law;
  law.constants = fitter.constants(rows, best);
  law.basis = LawBasis::measured;
  law.source = fit.source;
  law.rows = static_cast<std::int64_t>(rows.size());
  const auto residuals = left_out_residuals(fitter, rows.size(), best);
  if (residuals.empty()) return law;
  law.median_error = std::expm1(stats::median(residuals));
  law.range = conformal_width(residuals, 0.9);
  return law;
}

KernelLaw data_sheet_law(const std::vector<LawConstantSpec>& constants, const std::vector<double>& values) {
  ASSAY_CHECK(constants.size() == values.size());
  KernelLaw law;
  for (std::size_t i = 0; i < values.size(); ++i) {
    law.constants.push_back({constants[i].name, values[i], std::nullopt, std::nullopt});
  }
  law.source = "data sheet: nothing was measured";
  return law;
}

}  // namespace assay::predict
