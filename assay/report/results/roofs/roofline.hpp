#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/report/document.hpp"
#include "assay/report/results/result.hpp"

namespace assay::report {

/// Square gemms that one worker must have been measured at, and its good runs of each, before the best gemm is known. A
/// triad needs as many runs.
constexpr std::array<std::int64_t, 3> kPeakSizes{1024, 2048, 4096};
constexpr std::int64_t kPeakRuns = 2;

/// The fastest gemm measured on a platform at a precision, by whichever worker: what the hardware can be made to do.
struct Peak {
  std::string platform;
  std::string precision;
  double flops_per_second = 0;
  std::string trial_id;
};

/// The fastest triad measured on a platform, of those too large for caches.
struct Bandwidth {
  std::string platform;
  double bytes_per_second = 0;
  std::string trial_id;
};

/// What machines can do at most. A step that takes f FLOPs and b bytes cannot be faster than the larger of f / peak and
/// b / bandwidth (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
struct Roofline {
  std::vector<Peak> peaks;
  std::vector<Bandwidth> bandwidths;

  /// Null where none was measured.
  const Peak* peak(const std::string& platform, const std::string& precision) const;
  const Bandwidth* bandwidth(const std::string& platform) const;
};

/// From results of gemm and triad trials; results of anything else are passed over.
Roofline roofline_of(const std::vector<Result>& results);

/// The same of roofs that were measured whole: a gemm of one size, or one run of it, says nothing of what the hardware
/// can do. Of a peak that is known every gemm may be the fastest.
Roofline whole_roofline_of(const std::vector<Result>& results);

/// Sets what each result achieved where its workload tells FLOPs or bytes, and its shares of the peak and of the
/// roofline of its platform and precision, or why there are none.
void add_shares(std::vector<Result>& results, const Roofline& roofline);

/// Achieved FLOP/s, bytes/s and shares of each result, and for each platform a picture of the roofline with the results
/// as letters, `width` columns wide. Says so where there is nothing to show.
Document roofline_document(const std::vector<Result>& results, const Roofline& roofline, std::size_t width);

}  // namespace assay::report
