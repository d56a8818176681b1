#pragma once

#include <Eigen/Dense>

namespace assay::model {

/// x >= 0 with the least |Ax - b|, by the active sets of Lawson and Hanson (1974). Columns may be of any scale.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}  // namespace assay::model
