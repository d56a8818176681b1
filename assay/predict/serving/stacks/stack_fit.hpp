#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "assay/predict/serving/stacks/stack_group.hpp"

namespace assay::predict {

/// A time with its range of 90 %.
struct RangedTime {
  double low = 0;
  double value = 0;
  double high = 0;
};

template <typename V>
void describe(V& v, RangedTime& t) {
  required(v, "low", t.low);
  required(v, "value", t.value);
  required(v, "high", t.high);
}

struct ServingPrediction {
  RangedTime first_token_seconds;
  RangedTime token_seconds;
  RangedTime tokens_per_second;
  ServingTimes times;
  std::string rests_on;  ///< "42 rows of trtllm 1.0.0rc3 fp8", or a group of stacks where this one was never seen
};

/// Which priors stacks are calibrated with.
struct ServingPriors {
  const StackPrior* closed = &chosen_prior(ServingMode::closed_loop);
  const StackPrior* at_once = &chosen_prior(ServingMode::static_batch);

  const StackPrior& of(ServingMode mode) const { return mode == ServingMode::closed_loop ? *closed : *at_once; }
};

/// Constants of every stack that rows name. A stack's few rows lean on those of its server and type, these on those of
/// the server, these on all. docs/serving.md has what is fitted and how ranges are made.
class CalibratedStacks {
 public:
  /// Precondition: at least one row, and every row's device is in `times`, which must outlive this.
  /// Without `ranges` the times alone are right, which is enough to compare priors.
  CalibratedStacks(const std::vector<ServingRow>& rows, const DeviceTimes& times, const ServingPriors& priors = {},
                   bool ranges = true);

  /// Of a point on a stack, also one that no row was of.
  ServingPrediction predict(const StackName& stack, const std::string& device, const ServingPoint& point) const;

  /// By name: "trtllm 1.0.0rc3 fp8", and the groups "trtllm, all fp8", "trtllm, all" and "all".
  const std::map<std::string, FittedStack>& stacks() const { return stacks_; }

  /// Of closed loops or of static batches.
  const ServingWidening& widening(ServingMode mode) const { return widening_.at(mode); }

  /// The stack itself or, where no row was of it, the nearest group.
  std::pair<std::string, const FittedStack*> nearest(const StackName& stack, ServingMode mode) const;

 private:
  using Groups = std::map<std::string, ServingRowRefs>;

  void fit_level(const Groups& groups, std::size_t level);
  void set_ranges(const std::string& name, const ServingRowRefs& rows, std::size_t level);
  void set_widening(const Groups& stacks, ServingMode mode);
  const StackConstants* parent_of(const ServingRow& row, std::size_t level) const;

  const DeviceTimes& times_;
  ServingPriors priors_;
  std::map<std::string, FittedStack> stacks_;
  std::map<ServingMode, ServingWidening> widening_;
};

}  // namespace assay::predict
