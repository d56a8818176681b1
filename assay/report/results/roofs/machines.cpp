#include "assay/report/results/roofs/machines.hpp"

#include <algorithm>

#include "assay/model/links/link.hpp"
#include "assay/report/results/results.hpp"

namespace assay::report {
namespace {

void add_rooflines(store::Archive& store, model::Machines& machines) {
  const auto roofs = known_roofline(store);
  for (const auto& peak : roofs.peaks) {
    auto& known = machines[peak.platform].peak;
    known = std::max(known.value_or(0), peak.flops_per_second);
  }
  for (const auto& roof : roofs.bandwidths) machines[roof.platform].memory_bandwidth = roof.bytes_per_second;
}

bool can_be_fitted(const model::LinkPoints& points) {
  std::vector<double> sizes;
  for (const auto& point : points.points) {
    if (point.collective == points.points.front().collective) sizes.push_back(point.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  return std::unique(sizes.begin(), sizes.end()) - sizes.begin() >= 3;
}

void add_links(store::Archive& store, model::Machines& machines) {
  std::map<std::string, double> errors;
  for (const auto& points : model::link_points(store.trials({}), store.runs({}))) {
    if (!can_be_fitted(points)) continue;
    const auto& fitted = fit_link(points).collectives.front();
    const auto known = errors.find(points.platform);
    if (known != errors.end() && known->second <= fitted.held_out_error) continue;
    errors[points.platform] = fitted.held_out_error;
    const auto& link = fitted.pieces.back().algorithms.front().constants;
    auto& machine = machines[points.platform];
    if (link.alpha_seconds.value > 0) machine.link_latency = link.alpha_seconds.value;
    if (link.beta_seconds_per_byte.value > 0) machine.link_bandwidth = 1 / link.beta_seconds_per_byte.value;
  }
}

}  // namespace

model::Machines known_machines(store::Archive& store) {
  model::Machines machines;
  add_rooflines(store, machines);
  add_links(store, machines);
  return machines;
}

}  // namespace assay::report
