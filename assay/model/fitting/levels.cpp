#include "assay/model/fitting/levels.hpp"

#include <algorithm>
#include <cmath>

namespace assay::model {
namespace {

constexpr int kMostRounds = 40;
constexpr double kStep = 1e-6;         // of a number, for slopes
constexpr double kEnough = 1e-10;      // a round that gains less than this share ends the search
constexpr double kUnseen = 1e-5;       // of the time: a term below this everywhere is not seen
constexpr double kLargestNumber = 60;  // a number beyond is not a constant of any measured time

double mean_log(const Table& table) {
  double sum = 0;
  for (const auto& row : table.rows) sum += std::log(row.seconds);
  return sum / static_cast<double>(table.rows.size());
}

}  // namespace

LevelProblem::LevelProblem(const Family& family, Law form, std::vector<Table> of_levels, double penalty)
    : family_(family),
      form_(std::move(form)),
      of_levels_(std::move(of_levels)),
      penalty_(penalty),
      found_(family.constants(form_)),
      least_(found_.size(), 0) {
  for (const auto& table : of_levels_) rows_ += static_cast<Eigen::Index>(table.rows.size());
  for (std::size_t c = 0; c < found_.size(); ++c) {
    if (found_[c].exponent) continue;
    std::vector<double> alone;
    for (std::size_t k = 0; k < found_.size(); ++k) alone.push_back(found_[k].exponent ? found_[k].value : k == c);
    const auto law = family_.with_constants(form_, alone);
    double most = 0;
    for (const auto& table : of_levels_) {
      const Evaluator evaluator(law, table.factors);
      for (const auto& row : table.rows) most = std::max(most, evaluator.seconds(row.values) / row.seconds);
    }
    least_[c] = most > 0 ? kUnseen / most : 1;
  }
}

double LevelProblem::number_of(std::size_t constant, double value) const {
  return found_[constant].exponent ? value : std::log(std::max(value, least_[constant]));
}

double LevelProblem::value_of(std::size_t constant, double number) const {
  return found_[constant].exponent ? number : std::exp(number);
}

LevelProblem::Values LevelProblem::beginning() const {
  double all = 0;
  for (const auto& table : of_levels_) all += mean_log(table) / static_cast<double>(levels());
  Values values;
  for (const auto& table : of_levels_) {
    const double times = std::exp(mean_log(table) - all);
    auto& of_level = values.emplace_back();
    for (std::size_t c = 0; c < constants(); ++c) {
      of_level.push_back(found_[c].exponent ? found_[c].value : times * std::max(found_[c].value, least_[c]));
    }
  }
  return values;
}

LevelProblem::Numbers LevelProblem::numbers(const Values& values, const std::vector<bool>& own) const {
  Numbers numbers;
  std::vector<double> x;
  for (std::size_t c = 0; c < constants(); ++c) {
    auto& at = numbers.at.emplace_back();
    double mean = 0;
    for (std::size_t level = 0; level < levels(); ++level) {
      mean += values[level][c] / static_cast<double>(levels());
      at.push_back(static_cast<Eigen::Index>(x.size()));
      if (own[c]) x.push_back(number_of(c, values[level][c]));
    }
    // Of the values, not of the logarithms: one level without the term would draw all others to nothing.
    if (!own[c]) x.push_back(number_of(c, mean));
  }
  numbers.x = Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  return numbers;
}

LevelProblem::Values LevelProblem::values_of(const Numbers& numbers) const {
  Values values(levels(), std::vector<double>(constants()));
  for (std::size_t level = 0; level < levels(); ++level) {
    for (std::size_t c = 0; c < constants(); ++c) values[level][c] = value_of(c, numbers.x(numbers.at[c][level]));
  }
  return values;
}

/// Logarithms of what the law of a level says of its rows.
void LevelProblem::say(std::size_t level, const std::vector<double>& values, Eigen::Index from,
                       Eigen::VectorXd& out) const {
  const auto& table = of_levels_[level];
  const Evaluator evaluator(family_.with_constants(form_, values), table.factors);
  for (const auto& row : table.rows) out(from++) = std::log(evaluator.seconds(row.values));
}

Eigen::VectorXd LevelProblem::residuals(const Numbers& numbers) const {
  Eigen::VectorXd out(rows_);
  const auto values = values_of(numbers);
  Eigen::Index from = 0;
  for (std::size_t level = 0; level < levels(); ++level) {
    say(level, values[level], from, out);
    for (const auto& row : of_levels_[level].rows) out(from++) -= std::log(row.seconds);
  }
  return out;
}

Eigen::MatrixXd LevelProblem::slopes(const Numbers& numbers, const Eigen::VectorXd& residuals) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows_, numbers.x.size());
  const auto values = values_of(numbers);
  Eigen::VectorXd moved(rows_);
  Eigen::Index from = 0;
  for (std::size_t level = 0; level < levels(); ++level) {
    const auto& rows = of_levels_[level].rows;
    const auto count = static_cast<Eigen::Index>(rows.size());
    for (std::size_t c = 0; c < constants(); ++c) {
      auto changed = values[level];
      changed[c] = value_of(c, numbers.x(numbers.at[c][level]) + kStep);
      say(level, changed, from, moved);
      for (Eigen::Index i = 0; i < count; ++i) {
        const double said = moved(from + i) - std::log(rows[static_cast<std::size_t>(i)].seconds);
        out(from + i, numbers.at[c][level]) = (said - residuals(from + i)) / kStep;
      }
    }
    from += count;
  }
  return out;
}

/// The penalty as a matrix: x' pull x is the squares of distances of own constants from their mean.
Eigen::MatrixXd LevelProblem::pull(const Numbers& numbers) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(numbers.x.size(), numbers.x.size());
  const double share = 1.0 / static_cast<double>(levels());
  for (const auto& at : numbers.at) {
    if (at.front() == at.back()) continue;
    for (const auto i : at) {
      for (const auto j : at) out(i, j) += penalty_ * ((i == j ? 1 : 0) - share);
    }
  }
  return out;
}

LevelProblem::Values LevelProblem::solved(const Values& start, const std::vector<bool>& own) const {
  auto best = numbers(start, own);
  const Eigen::MatrixXd held = pull(best);
  const auto cost = [&](const Eigen::VectorXd& errors, const Eigen::VectorXd& x) {
    return errors.squaredNorm() + x.dot(held * x);
  };
  Eigen::VectorXd errors = residuals(best);
  double least = cost(errors, best.x);
  double damping = 1e-3;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto slope = slopes(best, errors);
    const Eigen::MatrixXd curvature = slope.transpose() * slope + held;
    const Eigen::VectorXd downhill = -(slope.transpose() * errors + held * best.x);
    const double before = least;
    for (int tries = 0; tries < 8 && least >= before; ++tries) {
      Eigen::MatrixXd damped = curvature;
      damped.diagonal() += damping * curvature.diagonal() + Eigen::VectorXd::Constant(best.x.size(), 1e-12);
      auto next = best;
      next.x += damped.ldlt().solve(downhill);
      const Eigen::VectorXd of_next = residuals(next);
      const bool usable = of_next.allFinite() && next.x.cwiseAbs().maxCoeff() < kLargestNumber;
      const double found = usable ? cost(of_next, next.x) : before;
      if (found < before) {
        best = std::move(next);
        errors = of_next;
        least = found;
        damping = std::max(1e-9, damping / 10);
      } else {
        damping = std::min(1e9, damping * 10);
      }
    }
    if (least >= before * (1 - kEnough)) break;
  }
  return values_of(best);
}

Eigen::VectorXd LevelProblem::held_out_errors(const Values& at, const std::vector<bool>& own, std::size_t parts) const {
  const auto there = numbers(at, own);
  const Eigen::VectorXd errors = residuals(there);
  const auto slope = slopes(there, errors);
  const Eigen::MatrixXd held = pull(there);
  const Eigen::MatrixXd curvature = slope.transpose() * slope + held;
  const Eigen::VectorXd downhill = -(slope.transpose() * errors + held * there.x);
  Eigen::VectorXd out(rows_);
  for (std::size_t part = 0; part < parts; ++part) {
    Eigen::MatrixXd curved = curvature;
    Eigen::VectorXd down = downhill;
    std::vector<Eigen::Index> held_out;
    for (auto i = static_cast<Eigen::Index>(part); i < rows_; i += static_cast<Eigen::Index>(parts)) {
      held_out.push_back(i);
      curved -= slope.row(i).transpose() * slope.row(i);
      down += slope.row(i).transpose() * errors(i);
    }
    curved.diagonal() += 1e-9 * curvature.diagonal() + Eigen::VectorXd::Constant(down.size(), 1e-12);
    const Eigen::VectorXd step = curved.ldlt().solve(down);
    for (const auto i : held_out) out(i) = errors(i) + slope.row(i).dot(step);
  }
  return out;
}

}  // namespace assay::model
