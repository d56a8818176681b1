#include "assay/predict/devices/collective_law.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

struct CollectiveAt {
  enum : std::size_t { latency, bandwidth, norm, middle };
};

}  // namespace

double ring_bytes(const CollectiveWork& work) {
  const double sent = (work.devices - 1) / work.devices * work.bytes;
  return work.collective == model::Collective::all_reduce ? 2 * sent : sent;
}

const std::vector<LawConstantSpec>& collective_constants() {
  static const std::vector<LawConstantSpec> constants{
      {"latency_us", "microseconds of the smallest", 10, 1, 80},
      {"bandwidth", "share of the links' rate that the largest reach", 0.8, 0.02, 2},
      {"norm", "how sharply the larger of both counts", 2, 0.8, 10},
      {"middle", "nanoseconds for each square root of a byte, which sizes in between cost on top", 1, 1e-4, 50}};
  return constants;
}

double collective_seconds(const CollectiveWork& work, const DeviceSheet& sheet, const std::vector<double>& c) {
  if (work.devices <= 1) return 0;
  const double bytes = ring_bytes(work);
  const double latency = 1e-6 * c[CollectiveAt::latency];
  const double moved = bytes / (sheet.link_bytes_per_second * c[CollectiveAt::bandwidth]);
  const double larger = std::max(latency, moved);
  const double q = c[CollectiveAt::norm];
  const double both = larger * std::pow(std::pow(latency / larger, q) + std::pow(moved / larger, q), 1 / q);
  return both + 1e-9 * c[CollectiveAt::middle] * std::sqrt(bytes);
}

double collective_roofline(const CollectiveWork& work, const DeviceSheet& sheet) {
  return ring_bytes(work) / sheet.link_bytes_per_second;
}

KernelLaw fit_collective(const std::vector<CollectiveWork>& works, const std::vector<double>& seconds,
                         const DeviceSheet& sheet, const std::string& source) {
  LawFit fit{collective_constants(),
             {},
             [&](const std::vector<double>& c, std::size_t row) { return collective_seconds(works[row], sheet, c); },
             seconds,
             source};
  const double least = 1e6 * *std::min_element(seconds.begin(), seconds.end());
  for (const double norm : {1.2, 3.0}) {
    for (const double share : {0.8, 0.2}) {
      fit.starts.push_back(
          {{CollectiveAt::latency, least}, {CollectiveAt::norm, norm}, {CollectiveAt::bandwidth, share}});
    }
  }
  return fit_law(fit);
}

KernelLaw data_sheet_collective_law() {
  return data_sheet_law(collective_constants(), {1e-3, 1, 10, 1e-4});
}

}  // namespace assay::predict
