#include "assay/compare/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::compare {

std::vector<PartDifference> explain(const std::vector<PartTime>& a, const std::vector<PartTime>& b) {
  std::vector<PartDifference> out;
  std::map<std::string, std::size_t> position;
  const auto part = [&](const std::string& name) -> PartDifference& {
    const auto [it, added] = position.emplace(name, out.size());
    if (added) out.push_back({name, 0, 0});
    return out[it->second];
  };
  for (const auto& one : a) part(one.name).a_seconds += one.seconds;
  for (const auto& one : b) part(one.name).b_seconds += one.seconds;
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& x, const auto& y) { return std::fabs(x.seconds()) > std::fabs(y.seconds()); });
  return out;
}

std::vector<PartDifference> explain_phases(const Comparison& comparison) {
  if (comparison.a.phases_seconds.empty() || comparison.b.phases_seconds.empty()) return {};
  const auto parts = [](const Side& side) {
    std::vector<PartTime> out;
    for (const auto& [name, seconds] : side.phases_seconds) out.push_back({name, seconds});
    return out;
  };
  return explain(parts(comparison.a), parts(comparison.b));
}

}  // namespace assay::compare
