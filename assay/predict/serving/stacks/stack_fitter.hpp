#pragma once

#include <map>
#include <string>
#include <vector>

#include "assay/predict/serving/serving_row.hpp"
#include "assay/predict/serving/stacks/stack_prior.hpp"

namespace assay::predict {

/// Laws of devices by name, made for use; every device of the rows must be there.
using DeviceTimes = std::map<std::string, KernelTimes>;

using ServingRowRefs = std::vector<const ServingRow*>;

/// A row with its kernels' times under one choice of room and cache.
struct PreparedRow {
  const ServingRow* row = nullptr;
  ServingPoint point;
  PointParts parts;
};

using PreparedRows = std::vector<PreparedRow>;

PreparedRows prepared(const ServingRowRefs& rows, const DeviceTimes& times, double room, double cache_element_bytes);

/// Finds constants: the residuals of rows and the pull of the group's constants. All rows are served in one way.
class StackFitter {
 public:
  /// `is_root`: the group is the first guess of the prior.
  StackFitter(ServingMode mode, const StackPrior& prior, const StackConstants& group, bool is_root);

  StackConstants fit(const PreparedRows& rows) const;
  double cost(const PreparedRows& rows, const StackConstants& constants) const;

  /// Constants that the rows do not determine.
  std::vector<std::string> at_bounds(const StackConstants& constants) const;

 private:
  StackConstants from(const PreparedRows& rows, const StackConstants& start) const;
  StackConstants at(const std::vector<double>& logs) const;
  std::vector<double> residuals(const PreparedRows& rows, const std::vector<double>& logs) const;

  ServingMode mode_;
  const StackPrior& prior_;
  StackConstants group_;
  bool is_root_;
};

}  // namespace assay::predict
