#include "assay/model/fitting/generic_form.hpp"

#include <algorithm>
#include <cmath>

namespace assay::model {
namespace {

constexpr double kLeastLogA = -10, kMostLogA = 2.5;  // of a summand over the mean time
constexpr double kLeastP = -1, kMostP = 4;
constexpr double kLeastQ = -2, kMostQ = 2;
constexpr double kLeastC = 1e-6;  // of the mean time

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

std::size_t place(Eigen::Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

GenericForm::GenericForm(const Table& table) {
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    (table.factors[f].role == Role::intrinsic ? sums_ : products_).push_back(levels_of(table, f));
  }
  if (sums_.empty()) sums_.push_back({"", 1, {0.0}, std::vector<std::uint32_t>(table.rows.size(), 0)});
  for (const auto& row : table.rows) seconds_.push_back(row.seconds);
  mean_seconds_ = geometric_mean(seconds_);
  for (double& seconds : seconds_) seconds /= mean_seconds_;
  least_seconds_ = *std::min_element(seconds_.begin(), seconds_.end());
  for (const auto& factor : sums_) powers_.emplace_back(factor.logs.size());
  for (const auto& factor : products_) powers_.emplace_back(factor.logs.size());
}

GenericForm::Levels GenericForm::levels_of(const Table& table, std::size_t factor) {
  std::vector<double> column;
  for (const auto& row : table.rows) column.push_back(row.values[factor]);
  Levels found{table.factors[factor].name, geometric_mean(column), {}, {}};
  const auto distinct = levels(table, factor);
  for (const double level : distinct) found.logs.push_back(std::log(level / found.mean));
  for (const double value : column) {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), value);
    found.of_row.push_back(static_cast<std::uint32_t>(at - distinct.begin()));
  }
  return found;
}

Box GenericForm::box() const {
  Box box;
  const auto add = [&](std::size_t count, double low, double high) {
    box.low.insert(box.low.end(), count, low);
    box.high.insert(box.high.end(), count, high);
  };
  add(sums_.size(), kLeastLogA, kMostLogA);
  add(sums_.size(), kLeastP, kMostP);
  add(products_.size(), kLeastQ, kMostQ);
  add(1, 0, least_seconds_);
  return box;
}

double GenericForm::cost(const std::vector<double>& x, double penalty) const {
  const auto summands = sums_.size();
  double sizes = x.back();
  for (std::size_t i = 0; i < summands; ++i) {
    const double power = x[summands + i];
    sizes += std::exp(x[i]) + std::abs(power);
    for (std::size_t level = 0; level < powers_[i].size(); ++level) {
      powers_[i][level] = std::exp(x[i] + power * sums_[i].logs[level]);
    }
  }
  for (std::size_t j = 0; j < products_.size(); ++j) {
    const double power = x[2 * summands + j];
    sizes += std::abs(power);
    auto& levels = powers_[summands + j];
    for (std::size_t level = 0; level < levels.size(); ++level)
      levels[level] = std::exp(power * products_[j].logs[level]);
  }
  double error = 0;
  for (std::size_t row = 0; row < seconds_.size(); ++row) {
    double said = 0;
    for (std::size_t i = 0; i < summands; ++i) said += powers_[i][sums_[i].of_row[row]];
    for (std::size_t j = 0; j < products_.size(); ++j) said *= powers_[summands + j][products_[j].of_row[row]];
    error += std::abs((said + x.back()) / seconds_[row] - 1);
  }
  return error / static_cast<double>(seconds_.size()) + penalty * sizes;
}

void GenericForm::parts(const Eigen::VectorXd& x, Eigen::MatrixXd& summands, Eigen::VectorXd& product) const {
  const auto count = static_cast<Eigen::Index>(sums_.size());
  summands.resize(rows(), count);
  product.setOnes(rows());
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& factor = sums_[place(i)];
    for (Eigen::Index row = 0; row < rows(); ++row) {
      summands(row, i) = std::exp(x(i) + x(count + i) * factor.logs[factor.of_row[place(row)]]);
    }
  }
  Eigen::VectorXd logs = Eigen::VectorXd::Zero(rows());
  for (std::size_t j = 0; j < products_.size(); ++j) {
    const double power = x(2 * count + static_cast<Eigen::Index>(j));
    for (Eigen::Index row = 0; row < rows(); ++row) {
      logs(row) += power * products_[j].logs[products_[j].of_row[place(row)]];
    }
  }
  product = logs.array().exp();
}

void GenericForm::residuals(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
  Eigen::MatrixXd summands;
  Eigen::VectorXd product;
  parts(x, summands, product);
  const double constant = std::exp(x(size() - 1));
  out.resize(rows());
  for (Eigen::Index row = 0; row < rows(); ++row) {
    out(row) = std::log((summands.row(row).sum() * product(row) + constant) / seconds_[place(row)]);
  }
}

void GenericForm::slopes(const Eigen::VectorXd& x, Eigen::MatrixXd& out) const {
  Eigen::MatrixXd summands;
  Eigen::VectorXd product;
  parts(x, summands, product);
  const auto count = static_cast<Eigen::Index>(sums_.size());
  const double constant = std::exp(x(size() - 1));
  out.resize(rows(), size());
  for (Eigen::Index row = 0; row < rows(); ++row) {
    const double work = summands.row(row).sum() * product(row);
    const double said = work + constant;
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto& factor = sums_[place(i)];
      out(row, i) = summands(row, i) * product(row) / said;
      out(row, count + i) = out(row, i) * factor.logs[factor.of_row[place(row)]];
    }
    for (std::size_t j = 0; j < products_.size(); ++j) {
      const auto& factor = products_[j];
      out(row, 2 * count + static_cast<Eigen::Index>(j)) = work / said * factor.logs[factor.of_row[place(row)]];
    }
    out(row, size() - 1) = constant / said;
  }
}

Law GenericForm::law(const Eigen::VectorXd& x) const {
  Law law{"generic", {}};
  const auto count = static_cast<Eigen::Index>(sums_.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& factor = sums_[place(i)];
    Term term{mean_seconds_ * std::exp(x(i)), {}, ""};
    if (!factor.name.empty()) {
      term.powers.push_back({factor.name, Shape::plain, x(count + i)});
      term.coefficient *= std::pow(factor.mean, -x(count + i));
    }
    for (std::size_t j = 0; j < products_.size(); ++j) {
      const double power = x(2 * count + static_cast<Eigen::Index>(j));
      term.powers.push_back({products_[j].name, Shape::plain, power});
      term.coefficient *= std::pow(products_[j].mean, -power);
    }
    law.terms.push_back(std::move(term));
  }
  law.terms.push_back({mean_seconds_ * std::exp(x(size() - 1)), {}, ""});
  return law;
}

Eigen::VectorXd GenericForm::numbers(const Law& law) const {
  Eigen::VectorXd x(size());
  const auto count = static_cast<Eigen::Index>(sums_.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& term = law.terms.at(place(i));
    const auto& factor = sums_[place(i)];
    const bool has_factor = !factor.name.empty();
    double log_a = std::log(term.coefficient / mean_seconds_);
    x(count + i) = has_factor ? term.powers.at(0).exponent : 0;
    log_a += x(count + i) * std::log(factor.mean);
    for (std::size_t j = 0; j < products_.size(); ++j) {
      const double power = term.powers.at(j + (has_factor ? 1 : 0)).exponent;
      x(2 * count + static_cast<Eigen::Index>(j)) = power;
      log_a += power * std::log(products_[j].mean);
    }
    x(i) = log_a;
  }
  x(size() - 1) = std::log(std::max(kLeastC, law.terms.back().coefficient / mean_seconds_));
  return x;
}

}  // namespace assay::model
