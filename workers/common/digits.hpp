#pragma once

#include <string_view>
#include <vector>

#include "assay/core/workloads/learning.hpp"
#include "workers/common/graph.hpp"
#include "workers/common/worker.hpp"

namespace assay::worker {

/// Images as fp32 [count, 1, 8, 8], and what they show as integers [count].
struct DigitSamples {
  Value images;
  Value labels;
};

/// Scikit-learn's digits, for networks that are trained to an accuracy: samples, what is held out, orders and batches
/// as assay_digits.py has them, so that all frameworks see the same.
class Lessons {
 public:
  static constexpr double kMomentum = 0.9;  ///< of SGD
  static constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

  /// `text` is digits.txt. Throws Refused by name where the workload or its network cannot learn.
  Lessons(const Prepare& prepare, const Graph& graph, std::string_view text);

  const Learning& how() const { return how_; }
  const DigitSamples& held_out() const { return held_out_; }

  /// From the first batch on, again.
  void begin();
  /// The batch of the next step.
  DigitSamples next();
  /// Goes on to the next epoch where this one is over: draws its order.
  void turn();

 private:
  void draw();

  Learning how_;
  std::int64_t batch_, seed_, steps_;
  DigitSamples trained_, held_out_;
  std::int64_t epoch_ = 0;
  std::int64_t at_ = 0;  ///< step of the epoch
  std::vector<std::int64_t> order_;
};

}  // namespace assay::worker
