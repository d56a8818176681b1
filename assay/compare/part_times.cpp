#include "assay/compare/part_times.hpp"

#include <cmath>
#include <map>

#include "assay/core/workloads/learning.hpp"

namespace assay::compare {

void take_times_of(TimeOf what, std::vector<store::RunRow>& rows) {
  if (what == TimeOf::step) return;
  std::map<std::string, double> references;  // by group
  for (auto& row : rows) {
    row.summary.median_ns = time_of(row.summary, what);
    row.digest.pair_log_ratio.reset();
    if (row.pair && row.pair->side == PairSide::a && row.counted && row.summary.median_ns.value_or(0) > 0)
      references[row.pair->id] = static_cast<double>(*row.summary.median_ns);
  }
  for (auto& row : rows) {
    if (!row.pair || row.pair->side == PairSide::a || row.summary.median_ns.value_or(0) <= 0) continue;
    const auto reference = references.find(row.pair->id);
    if (reference == references.end()) continue;
    row.digest.pair_log_ratio = std::log(static_cast<double>(*row.summary.median_ns) / reference->second);
  }
}

void take_times_to_accuracy(Material& material) {
  material.to_accuracy = true;
  for (auto& row : material.rows) {
    row.summary.median_ns.reset();
    row.digest.pair_log_ratio.reset();
    const auto found = row.digest.effective.find(kLearned);
    if (found == row.digest.effective.end() || row.outcome != OutcomeKind::ok) continue;
    const auto learned = from_json<Learned>(found->second.at(0), kLearned);
    if (learned.reached) row.summary.median_ns = learned.ns;
  }
}

}  // namespace assay::compare
