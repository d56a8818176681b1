#pragma once

#include <functional>

#include "assay/predict/serving/stacks/stack_ranges.hpp"

namespace assay::predict {

/// What rows say of one stack, or of several together.
struct FittedStack {
  StackConstants constants;
  double room = 1;                 ///< factor on the sequences that are taken to fit
  double cache_element_bytes = 2;  ///< of keys and values
  std::int64_t rows = 0;
  std::int64_t largest_tensor = 1;
  std::vector<std::string> devices;
  std::vector<std::string> models;
  ServingRanges ranges;
  std::vector<std::string> at_bounds;  ///< constants that the rows do not determine
};

template <typename V>
void describe(V& v, FittedStack& f) {
  required(v, "constants", f.constants);
  v("room", f.room);
  v("cache_element_bytes", f.cache_element_bytes);
  v("rows", f.rows);
  v("largest_tensor", f.largest_tensor);
  v("devices", f.devices);
  v("models", f.models);
  v("ranges", f.ranges);
  v("at_bounds", f.at_bounds);
}

/// Fits the rows of one stack or group; ranges are left as they are. `group`: what it leans on; null: the prior's
/// guess. Precondition: there are rows, all served in one way.
FittedStack fit_group(const ServingRowRefs& rows, const DeviceTimes& times, const StackPrior& prior,
                      const StackConstants* group);

/// The same as a whole way of calibrating, for rows that are left out.
using StackPredictor = std::function<FittedStack(const ServingRowRefs& kept)>;

/// Residuals of rows, each predicted from those of other folds alone. Folds without other rows are left out.
ServingResiduals left_out(const ServingRowRefs& rows, const DeviceTimes& times,
                          const std::function<std::string(const ServingRow&)>& fold, const StackPredictor& fit);

/// Distinct names, in order.
std::vector<std::string> distinct_names(const ServingRowRefs& rows,
                                        const std::function<std::string(const ServingRow&)>& name);

}  // namespace assay::predict
