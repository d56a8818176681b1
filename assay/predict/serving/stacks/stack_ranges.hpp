#pragma once

#include <string>
#include <vector>

#include "assay/predict/serving/stacks/stack_fitter.hpp"

namespace assay::predict {

/// |log residuals| of each time, of rows that the constants were not fitted to.
struct ServingResiduals {
  std::vector<double> first_token;
  std::vector<double> token;
  std::vector<double> throughput;
  std::size_t folds = 0;  ///< groups that were left out in turn: rows of one group are off together

  void add(const PreparedRow& row, const StackConstants& constants);
  void add(const ServingResiduals& other);
};

/// A time is known to a factor of exp(±range) in nine cases of ten.
struct ServingRanges {
  double first_token = 1;
  double token = 0.5;
  double throughput = 0.5;
};

template <typename V>
void describe(V& v, ServingRanges& r) {
  required(v, "first_token", r.first_token);
  required(v, "token", r.token);
  required(v, "throughput", r.throughput);
}

/// Of few groups wider, as Student's quantile is beyond the normal one.
ServingRanges ranges_of(const ServingResiduals& residuals);

/// Of each time the wider one.
ServingRanges wider(const ServingRanges& a, const ServingRanges& b);

/// What ranges grow by where a point is not as the rows were: for each doubling of the tensor split, on a device and
/// for a model that no row was of. `basis` says of each whether rows gave it or it is assumed.
struct ServingWidening {
  ServingRanges per_doubling{0.10, 0.05, 0.05};
  ServingRanges new_device{0.15, 0.10, 0.10};
  ServingRanges new_model{0.05, 0.05, 0.05};
  std::vector<std::string> fitted;  ///< names of those that rows gave; the others are assumed
};

template <typename V>
void describe(V& v, ServingWidening& w) {
  required(v, "per_doubling", w.per_doubling);
  required(v, "new_device", w.new_device);
  required(v, "new_model", w.new_model);
  v("fitted", w.fitted);
}

/// Rows that are left out together: one model and split and, of closed loops, one length, whatever the concurrency.
std::string fold_of(const ServingRow& row);

/// Throughput as the two measured times say it. Precondition: both were measured.
double measured_throughput(const ServingRow& row);

}  // namespace assay::predict
