#pragma once

#include <string>
#include <vector>

#include "assay/report/result.hpp"

namespace assay::report {

/// The fastest gemm measured on a platform at a precision, by whichever worker: what the hardware can be made to do.
struct Peak {
  std::string platform;
  std::string precision;
  double flops_per_second = 0;
  std::string trial_id;
};

/// From results of gemm trials; results of anything else are passed over.
std::vector<Peak> peaks_of(const std::vector<Result>& results);

/// Sets FLOP/s of each result whose workload tells its FLOPs, and its share of the peak of its platform and precision,
/// or why there is none.
void add_shares(std::vector<Result>& results, const std::vector<Peak>& peaks);

}  // namespace assay::report
