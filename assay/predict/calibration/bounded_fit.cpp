#include "assay/predict/calibration/bounded_fit.hpp"

#include <Eigen/Dense>
#include <algorithm>

#include "assay/core/error.hpp"

namespace assay::predict {
namespace {

constexpr int kMostSteps = 200;
constexpr double kSlopeStep = 1e-5;
constexpr double kMostDamping = 1e12;
constexpr double kSmallGain = 1e-10;  // of the sum of squares: below it, a step is the last

class BoundedFit {
 public:
  BoundedFit(const Residuals& residuals, const std::vector<BoundedConstant>& constants)
      : residuals_(residuals), constants_(constants) {
    for (const auto& one : constants) {
      ASSAY_CHECK(one.low <= one.start && one.start <= one.high);
      at_.push_back(one.start);
    }
    left_ = left_at(at_);
    ASSAY_CHECK(left_.size() > 0);
  }

  std::vector<double> run() {
    for (int i = 0; i < kMostSteps && step(); ++i) {
    }
    return at_;
  }

 private:
  Eigen::VectorXd left_at(const std::vector<double>& at) const {
    const auto values = residuals_(at);
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }

  /// Towards the side that has room.
  Eigen::MatrixXd slopes() const {
    Eigen::MatrixXd slopes(left_.size(), static_cast<Eigen::Index>(at_.size()));
    for (std::size_t i = 0; i < at_.size(); ++i) {
      auto moved = at_;
      moved[i] += at_[i] + kSlopeStep <= constants_[i].high ? kSlopeStep : -kSlopeStep;
      slopes.col(static_cast<Eigen::Index>(i)) = (left_at(moved) - left_) / (moved[i] - at_[i]);
    }
    return slopes;
  }

  /// Those that are not pressed against a bound.
  std::vector<std::size_t> free_ones(const Eigen::VectorXd& downhill) const {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const double way = downhill(static_cast<Eigen::Index>(i));
      const bool held = (at_[i] <= constants_[i].low && way <= 0) || (at_[i] >= constants_[i].high && way >= 0);
      if (!held) free.push_back(i);
    }
    return free;
  }

  std::vector<double> moved_by(const std::vector<std::size_t>& free, const Eigen::VectorXd& way) const {
    auto moved = at_;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const auto i = free[k];
      moved[i] = std::clamp(at_[i] + way(static_cast<Eigen::Index>(k)), constants_[i].low, constants_[i].high);
    }
    return moved;
  }

  /// False where nothing more is gained.
  bool step() {
    const auto all_slopes = slopes();
    const Eigen::VectorXd downhill = -all_slopes.transpose() * left_;
    const auto free = free_ones(downhill);
    if (free.empty()) return false;
    const auto count = static_cast<Eigen::Index>(free.size());
    Eigen::MatrixXd slopes(left_.size(), count);
    for (Eigen::Index k = 0; k < count; ++k) {
      slopes.col(k) = all_slopes.col(static_cast<Eigen::Index>(free[static_cast<std::size_t>(k)]));
    }
    const Eigen::MatrixXd squares = slopes.transpose() * slopes;
    const double before = left_.squaredNorm();
    for (; damping_ <= kMostDamping; damping_ *= 4) {
      // Where an observation tells nothing of a constant, its diagonal is 0: it stays where it is.
      const Eigen::VectorXd lift = (squares.diagonal() * damping_).array() + 1e-14;
      const Eigen::MatrixXd damped = squares + Eigen::MatrixXd(lift.asDiagonal());
      const auto moved = moved_by(free, damped.ldlt().solve(-slopes.transpose() * left_));
      const auto left = left_at(moved);
      const double after = left.squaredNorm();
      if (after < before) {
        at_ = moved;
        left_ = left;
        damping_ = std::max(1e-12, damping_ / 8);
        return before - after > kSmallGain * before;
      }
    }
    return false;
  }

  const Residuals& residuals_;
  const std::vector<BoundedConstant>& constants_;
  std::vector<double> at_;
  Eigen::VectorXd left_;
  double damping_ = 1e-3;
};

}  // namespace

std::vector<double> bounded_least_squares(const Residuals& residuals, const std::vector<BoundedConstant>& constants) {
  return BoundedFit(residuals, constants).run();
}

}  // namespace assay::predict
