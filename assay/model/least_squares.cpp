#include "assay/model/least_squares.hpp"

#include <vector>

namespace assay::model {
namespace {

/// Works on the normal equations: there are few columns, and they were scaled to length one.
class ActiveSets {
 public:
  ActiveSets(const Eigen::MatrixXd& a, const Eigen::VectorXd& b)
      : gram_(a.transpose() * a),
        right_(a.transpose() * b),
        x_(Eigen::VectorXd::Zero(a.cols())),
        free_(a.cols(), false) {
    tolerance_ = 1e-12 * std::max(1.0, right_.cwiseAbs().maxCoeff());
  }

  Eigen::VectorXd solve() {
    const auto most_rounds = 3 * x_.size() + 10;
    for (Eigen::Index round = 0; round < most_rounds && free_best(); ++round) settle();
    return x_;
  }

 private:
  /// Frees the variable at zero along which the error falls most. False where there is none.
  bool free_best() {
    const Eigen::VectorXd falls = right_ - gram_ * x_;
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      if (!is_free(i) && falls(i) > tolerance_ && (best < 0 || falls(i) > falls(best))) best = i;
    }
    if (best < 0) return false;
    free_[static_cast<std::size_t>(best)] = true;
    return true;
  }

  /// Moves to the least error over the free variables; one that would turn negative stops at zero and is held there.
  void settle() {
    while (true) {
      const Eigen::VectorXd wanted = least_over_free();
      double share = 1;
      for (Eigen::Index i = 0; i < x_.size(); ++i) {
        if (is_free(i) && wanted(i) <= 0) share = std::min(share, x_(i) / (x_(i) - wanted(i)));
      }
      const bool reached = share >= 1;
      x_ += std::max(0.0, share) * (wanted - x_);
      if (reached) return;
      for (Eigen::Index i = 0; i < x_.size(); ++i) {
        if (is_free(i) && x_(i) <= 1e-14) {
          x_(i) = 0;
          free_[static_cast<std::size_t>(i)] = false;
        }
      }
    }
  }

  Eigen::VectorXd least_over_free() const {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      if (is_free(i)) columns.push_back(i);
    }
    const Eigen::MatrixXd part = gram_(columns, columns);
    const Eigen::VectorXd solved = part.completeOrthogonalDecomposition().solve(right_(columns));
    Eigen::VectorXd wanted = Eigen::VectorXd::Zero(x_.size());
    wanted(columns) = solved;
    return wanted;
  }

  bool is_free(Eigen::Index i) const { return free_[static_cast<std::size_t>(i)]; }

  Eigen::MatrixXd gram_;
  Eigen::VectorXd right_;
  Eigen::VectorXd x_;
  std::vector<bool> free_;
  double tolerance_ = 0;
};

}  // namespace

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  Eigen::VectorXd lengths = a.colwise().norm();
  lengths = (lengths.array() > 0).select(lengths, 1.0);
  const double size = b.norm() > 0 ? b.norm() : 1;
  const Eigen::MatrixXd scaled = a * lengths.cwiseInverse().asDiagonal();
  return (ActiveSets(scaled, b / size).solve() * size).cwiseQuotient(lengths);
}

}  // namespace assay::model
