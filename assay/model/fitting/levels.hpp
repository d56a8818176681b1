#pragma once

#include <Eigen/Dense>
#include <vector>

#include "assay/model/fitting/family.hpp"

namespace assay::model {

/// Constants of one form of law for several levels, as numbers: logarithms of coefficients, and exponents. A constant
/// is shared by all levels, or each has its own.
class LevelProblem {
 public:
  /// `form` has the terms, `of_levels` the rows of each level without the factor of text.
  LevelProblem(const Family& family, Law form, std::vector<Table> of_levels, double penalty);

  /// Values of the constants, by level.
  using Values = std::vector<std::vector<double>>;

  /// Where a search begins: those of `form`, whose coefficients are scaled to the times of each level.
  Values beginning() const;

  /// Values with the least squares of ln(said / measured), and of the distances of own constants from their mean times
  /// the penalty, from `start` on. `own` says which constants each level has for itself.
  Values solved(const Values& start, const std::vector<bool>& own) const;

  /// Errors of each row where the part of the rows it is in was held out: the constants of the other parts are those of
  /// one step of least squares from `at`.
  Eigen::VectorXd held_out_errors(const Values& at, const std::vector<bool>& own, std::size_t parts) const;

  std::size_t constants() const { return found_.size(); }
  std::size_t levels() const { return of_levels_.size(); }
  const std::vector<FittedConstant>& found() const { return found_; }

 private:
  /// Numbers of all constants, and where each is: by constant, then by level.
  struct Numbers {
    Eigen::VectorXd x;
    std::vector<std::vector<Eigen::Index>> at;
  };
  Numbers numbers(const Values& values, const std::vector<bool>& own) const;
  Values values_of(const Numbers& numbers) const;
  double number_of(std::size_t constant, double value) const;
  double value_of(std::size_t constant, double number) const;
  Eigen::VectorXd residuals(const Numbers& numbers) const;
  Eigen::MatrixXd slopes(const Numbers& numbers, const Eigen::VectorXd& residuals) const;
  Eigen::MatrixXd pull(const Numbers& numbers) const;
  void say(std::size_t level, const std::vector<double>& values, Eigen::Index from, Eigen::VectorXd& out) const;

  const Family& family_;
  Law form_;
  std::vector<Table> of_levels_;
  double penalty_;
  std::vector<FittedConstant> found_;
  std::vector<double> least_;  ///< of each coefficient: below it, nothing of its term is seen
  Eigen::Index rows_ = 0;
};

}  // namespace assay::model
