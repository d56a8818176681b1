#pragma once

#include <Eigen/Dense>
#include <vector>

#include "assay/model/fitting/evolve.hpp"
#include "assay/model/law.hpp"

namespace assay::model {

/// The generic expression of 2305.11665 as read here, t = (sum a_i I_i^p_i) (prod E_j^q_j) + C, over one table. Inside,
/// factors and times are divided by their geometric means, so that constants are of one size.
class GenericForm {
 public:
  explicit GenericForm(const Table& table);

  /// Numbers: ln a_i, p_i, q_j, then C for evolution or ln C for least squares.
  Eigen::Index size() const { return static_cast<Eigen::Index>(2 * sums_.size() + products_.size() + 1); }
  Box box() const;

  /// Mean relative error, plus `penalty` times the sum of the constants' sizes. With C itself as its last number.
  double cost(const std::vector<double>& x, double penalty) const;

  /// ln(said / measured) of each row, and how it changes with each number. With ln C as the last number.
  void residuals(const Eigen::VectorXd& x, Eigen::VectorXd& out) const;
  void slopes(const Eigen::VectorXd& x, Eigen::MatrixXd& out) const;
  Eigen::Index rows() const { return static_cast<Eigen::Index>(seconds_.size()); }

  Law law(const Eigen::VectorXd& x) const;
  Eigen::VectorXd numbers(const Law& law) const;

 private:
  /// A factor's levels as logarithms, and which one each row has: a power is taken once a level, not once a row.
  struct Levels {
    std::string name;
    double mean = 1;  ///< geometric
    std::vector<double> logs;
    std::vector<std::uint32_t> of_row;
  };
  static Levels levels_of(const Table& table, std::size_t factor);
  void parts(const Eigen::VectorXd& x, Eigen::MatrixXd& summands, Eigen::VectorXd& product) const;

  std::vector<Levels> sums_;      ///< intrinsic; one without a factor where there is none
  std::vector<Levels> products_;  ///< extrinsic and parallel
  std::vector<double> seconds_;   ///< over their geometric mean
  double mean_seconds_ = 1;
  double least_seconds_ = 1;
  mutable std::vector<std::vector<double>> powers_;  ///< by factor and level; room for cost()
};

}  // namespace assay::model
