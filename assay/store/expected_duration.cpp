#include "assay/store/expected_duration.hpp"

#include <filesystem>
#include <map>
#include <vector>

#include "assay/stats/quantile.hpp"
#include "assay/store/store.hpp"

namespace assay::store {
namespace {

/// Of each worker's runs: seconds that were not samples. Starting, preparing, probing, ending.
std::map<std::string, std::vector<double>> seconds_beside_samples(const std::string& path) {
  const auto store = open_store(path, Access::read);
  std::map<std::string, std::string> worker_of;
  for (const auto& row : store->trials({})) worker_of[row.id] = row.trial.worker.name;
  std::map<std::string, std::vector<double>> beside;
  for (const auto& run : store->runs({})) {
    if (!run.summary.median_ns) continue;
    const auto samples_ns = static_cast<double>(run.summary.n) * static_cast<double>(*run.summary.median_ns);
    const auto rest = 1e-9 * (static_cast<double>(run.duration_ns) - samples_ns);
    beside[worker_of[run.trial]].push_back(std::max(rest, 0.0));
  }
  return beside;
}

}  // namespace

std::optional<Expected> expected_duration(const plan::Campaign& campaign, const std::string& store) {
  const auto where = locate(store);
  if (where.is_file && !std::filesystem::exists(where.place)) return std::nullopt;
  Expected expected;
  std::map<std::string, double> start;
  for (auto& [worker, seconds] : seconds_beside_samples(store)) {
    expected.runs += static_cast<std::int64_t>(seconds.size());
    start[worker] = stats::median(seconds);
  }
  for (const auto& trial : campaign.trials) {
    const auto found = start.find(trial.worker.name);
    if (found == start.end()) return std::nullopt;
    const double each = found->second + campaign.measure.warmup_seconds + campaign.measure.seconds;
    expected.seconds += static_cast<double>(campaign.runs) * each;
  }
  return expected;
}

}  // namespace assay::store
