#include "assay/store/records/digest.hpp"

#include <algorithm>

#include "assay/core/workloads/scenario.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::store {
namespace {

std::optional<double> median_of(const std::vector<std::int64_t>& values) {
  if (values.empty()) return {};
  return stats::median({values.begin(), values.end()});
}

void add_effective(const RankResult& rank, Digest& digest) {
  if (!rank.effective.is_object()) return;
  for (const auto& [name, value] : rank.effective.items()) {
    auto& values = digest.effective[name];
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
}

void add_phases(const RankResult& rank, Digest& digest) {
  std::map<std::string, double> medians;
  for (const auto& [name, values] : rank.phases_ns) {
    if (const auto median = median_of(values)) medians[name] = *median;
  }
  if (!medians.empty()) digest.phase_medians_ns.push_back(std::move(medians));
}

std::optional<double> layers_over_step(const Record& record) {
  if (record.ranks.empty() || record.ranks[0].layers.empty() || record.summary.median_ns.value_or(0) <= 0) return {};
  double sum = 0;
  for (const auto& layer : record.ranks[0].layers) {
    sum += median_of(layer.forward_ns).value_or(0) + median_of(layer.backward_ns).value_or(0);
  }
  return sum / static_cast<double>(*record.summary.median_ns);
}

std::optional<double> probe_of(const Record& record) {
  if (record.ranks.empty()) return {};
  std::vector<std::int64_t> times;
  for (const auto& slice : record.ranks[0].slices) {
    if (!slice.warmup && slice.probe_ns) times.push_back(*slice.probe_ns);
  }
  if (record.ranks[0].probe_after_ns) times.push_back(*record.ranks[0].probe_after_ns);
  return median_of(times);
}

/// The line on a scenario that a process of its run left among its notes: it stands beside the numbers.
void add_verdict(const RankResult& rank, Digest& digest) {
  if (!rank.load) return;
  for (const auto& note : rank.notes) {
    const auto begins = [&](const char* name) { return note.starts_with(std::string(name) + ": "); };
    const auto& names = EnumNames<ScenarioKind>::names;
    if (!std::any_of(names.begin(), names.end(), begins)) continue;
    digest.reasons.push_back({kScenarioReason, note, false});
    return;
  }
}

}  // namespace

Digest digest_of(const Record& record) {
  Digest digest;
  digest.reasons = record.validity.reasons;
  digest.layers_over_step = layers_over_step(record);
  digest.steady = record.steady;
  digest.probe_ns = probe_of(record);
  digest.pair_log_ratio = record.pair_log_ratio;
  digest.watts = record.summary.watts;
  digest.samples_per_joule = record.summary.samples_per_joule;
  digest.steady_samples = record.summary.steady_samples;
  digest.p90_interval = record.summary.p90_interval;
  digest.p99_interval = record.summary.p99_interval;
  digest.generated = record.summary.generated;
  std::optional<std::int64_t> memory = record.ranks.empty() ? std::nullopt : std::optional<std::int64_t>(0);
  for (const auto& rank : record.ranks) {
    add_effective(rank, digest);
    add_phases(rank, digest);
    add_verdict(rank, digest);
    memory = memory && rank.peak_memory_bytes ? std::optional(*memory + *rank.peak_memory_bytes) : std::nullopt;
  }
  digest.peak_memory_bytes = memory;
  return digest;
}

}  // namespace assay::store
