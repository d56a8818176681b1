#include "assay/model/links/link_constants.hpp"

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "assay/model/least_squares.hpp"
#include "assay/stats/moments.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::model {
namespace {

constexpr int kReweightings = 3;
constexpr int kResamples = 400;
constexpr std::uint64_t kBootstrapSeed = 9;
constexpr double kLeastOwnPart = 0.25;  // of gamma's column, beside those of alpha and beta

Eigen::MatrixXd uses_of(const std::vector<LinkTime>& times) {
  Eigen::MatrixXd uses(times.size(), 3);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto& t = times[i];
    uses.row(static_cast<Eigen::Index>(i)) << t.use.alpha_times, t.use.beta_times * t.bytes,
        t.use.gamma_times * t.bytes;
  }
  return uses;
}

Eigen::VectorXd measured_seconds(const std::vector<LinkTime>& times) {
  Eigen::VectorXd seconds(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) seconds(static_cast<Eigen::Index>(i)) = times[i].seconds;
  return seconds;
}

/// Whether gamma's column has a part that alpha's and beta's do not have.
bool tells_gamma(const Eigen::MatrixXd& weighted) {
  const Eigen::VectorXd gamma = weighted.col(2);
  if (gamma.norm() == 0) return false;
  Eigen::MatrixXd others = weighted.leftCols(2);
  for (Eigen::Index i = 0; i < 2; ++i) {
    if (others.col(i).norm() > 0) others.col(i).normalize();
  }
  const Eigen::VectorXd rest = gamma - others * others.completeOrthogonalDecomposition().solve(gamma);
  return rest.norm() > kLeastOwnPart * gamma.norm();
}

/// A linear problem in relative errors: rows are divided by what the fit says of each time.
struct RelativeFit {
  Eigen::MatrixXd weighted;
  Eigen::VectorXd expected;
  Eigen::VectorXd constants;
  bool gamma_told = false;
};

RelativeFit fit_relative(const std::vector<LinkTime>& times) {
  const Eigen::VectorXd seconds = measured_seconds(times);
  Eigen::MatrixXd uses = uses_of(times);
  RelativeFit fit;
  fit.gamma_told = tells_gamma(seconds.cwiseInverse().asDiagonal() * uses);
  if (!fit.gamma_told) uses.conservativeResize(Eigen::NoChange, 2);
  fit.expected = seconds;
  for (int round = 0; round < kReweightings; ++round) {
    fit.weighted = fit.expected.cwiseInverse().asDiagonal() * uses;
    fit.constants = non_negative_least_squares(fit.weighted, seconds.cwiseQuotient(fit.expected));
    fit.expected = (uses * fit.constants).cwiseMax(1e-3 * seconds);
  }
  fit.weighted = fit.expected.cwiseInverse().asDiagonal() * uses;
  return fit;
}

/// Residuals as large as errors are, by how much each time pulls the fit to itself.
Eigen::VectorXd residuals_of(const RelativeFit& fit, const Eigen::VectorXd& relative) {
  const auto decomposed = fit.weighted.completeOrthogonalDecomposition();
  const Eigen::MatrixXd pull = decomposed.pseudoInverse();
  Eigen::VectorXd residuals = relative - fit.weighted * fit.constants;
  for (Eigen::Index i = 0; i < residuals.size(); ++i) {
    residuals(i) /= std::sqrt(std::max(0.05, 1 - fit.weighted.row(i).dot(pull.col(i))));
  }
  return residuals;
}

/// 5 and 95 % of the constants over resamples.
void set_intervals(const RelativeFit& fit, const std::vector<LinkTime>& times, std::array<Estimate, 3>& constants) {
  const Eigen::VectorXd relative = measured_seconds(times).cwiseQuotient(fit.expected);
  const auto residuals = residuals_of(fit, relative);
  const Eigen::VectorXd centre = fit.weighted * fit.constants;
  std::mt19937_64 random(kBootstrapSeed);
  std::array<std::vector<double>, 3> drawn;
  for (int resample = 0; resample < kResamples; ++resample) {
    Eigen::VectorXd target = centre;
    for (Eigen::Index i = 0; i < target.size(); ++i) target(i) += (random() >> 63) != 0 ? residuals(i) : -residuals(i);
    const Eigen::VectorXd found = non_negative_least_squares(fit.weighted, target);
    for (Eigen::Index i = 0; i < found.size(); ++i) drawn[static_cast<std::size_t>(i)].push_back(found(i));
  }
  for (std::size_t i = 0; i < drawn.size() && !drawn[i].empty(); ++i) {
    constants[i].low = stats::quantile(drawn[i], 0.05);
    constants[i].high = stats::quantile(drawn[i], 0.95);
  }
}

Link solved_link(const RelativeFit& fit) {
  return {fit.constants(0), fit.constants(1), fit.gamma_told ? fit.constants(2) : 0};
}

/// Times of each cell.
std::vector<std::vector<LinkTime>> link_cells(const std::vector<LinkTime>& times) {
  std::map<std::tuple<Collective, std::int64_t, double>, std::vector<LinkTime>> cells;
  for (const auto& time : times) cells[{time.collective, time.ranks, time.bytes}].push_back(time);
  std::vector<std::vector<LinkTime>> found;
  for (auto& cell : cells) found.push_back(std::move(cell.second));
  return found;
}

}  // namespace

LinkTime link_time(const LinkPoint& point, CollectiveAlgorithm algorithm) {
  return {point.collective, point.ranks, point.bytes,
          point.seconds,    point.run,   link_use(point.collective, algorithm, point.ranks)};
}

double seconds_of(const LinkTime& time, const Link& link) {
  return time.use.alpha_times * link.alpha_seconds + time.bytes * (time.use.beta_times * link.beta_seconds_per_byte +
                                                                   time.use.gamma_times * link.gamma_seconds_per_byte);
}

LinkSolution solve_link(const std::vector<LinkTime>& times) {
  const auto fit = fit_relative(times);
  return {solved_link(fit), fit.gamma_told};
}

LinkConstants estimate_link(const std::vector<LinkTime>& times) {
  const auto cells = cell_medians(times);  // one run that hung must not pull the link to itself
  const auto fit = fit_relative(cells);
  const auto link = solved_link(fit);
  std::array<Estimate, 3> constants;
  constants[0].value = link.alpha_seconds;
  constants[1].value = link.beta_seconds_per_byte;
  constants[2].value = link.gamma_seconds_per_byte;
  if (cells.size() > static_cast<std::size_t>(fit.constants.size())) set_intervals(fit, cells, constants);
  LinkConstants found{constants[0], constants[1], std::nullopt, relative_error(times, link)};
  if (fit.gamma_told) found.gamma_seconds_per_byte = constants[2];
  return found;
}

double relative_error(const std::vector<LinkTime>& times, const Link& link) {
  double sum = 0;
  const auto cells = cell_medians(times);
  for (const auto& cell : cells) sum += std::pow(seconds_of(cell, link) / cell.seconds - 1, 2);
  return std::sqrt(sum / static_cast<double>(cells.size()));
}

std::vector<LinkTime> cell_medians(const std::vector<LinkTime>& times) {
  std::vector<LinkTime> medians;
  for (const auto& cell : link_cells(times)) {
    std::vector<double> seconds;
    for (const auto& time : cell) seconds.push_back(time.seconds);
    medians.push_back(cell.front());
    medians.back().seconds = stats::median(seconds);
  }
  return medians;
}

double cell_noise(const std::vector<LinkTime>& times) {
  double squares = 0;
  double cells = 0;
  for (const auto& cell : link_cells(times)) {
    std::vector<double> logs;
    for (const auto& time : cell) logs.push_back(std::log(time.seconds));
    const auto variance = stats::variance(logs);
    if (!variance) continue;
    squares += *variance / static_cast<double>(logs.size());
    cells += 1;
  }
  return cells > 0 ? std::sqrt(squares / cells) : 0;
}

}  // namespace assay::model
