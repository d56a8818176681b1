#include "assay/compare/stopping.hpp"

#include <algorithm>
#include <map>

#include "assay/core/error.hpp"
#include "assay/stats/difference.hpp"
#include "assay/stats/looks.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::compare {
namespace {

struct Values {
  std::int64_t done = 0;
  std::vector<double> medians_ns;
};

std::optional<double> half_width(const std::vector<double>& medians, double confidence) {
  const auto interval = stats::median_interval(medians, confidence);
  if (!interval) return std::nullopt;
  return (interval->high - interval->low) / 2 / stats::median(medians);
}

/// Of the ratios to the group's reference, the one that is known least.
std::optional<double> half_width_of_ratio(const std::vector<store::RunRow>& rows, double confidence) {
  std::map<std::string, std::vector<double>> ratios;  // by trial
  for (const auto& row : rows) {
    if (row.outcome == OutcomeKind::ok && row.pair && row.pair->side == PairSide::b && row.digest.pair_log_ratio)
      ratios[row.trial].push_back(*row.digest.pair_log_ratio);
  }
  std::optional<double> widest;
  for (const auto& [trial, of_trial] : ratios) {
    const auto difference = stats::paired(of_trial);
    if (!difference) return std::nullopt;
    widest = std::max(widest.value_or(0), stats::interval_of(*difference, confidence).high - difference->estimate);
  }
  return widest;
}

double seconds_spent(const std::vector<store::RunRow>& rows) {
  double seconds = 0;
  for (const auto& row : rows) {
    // Partners were measured at the same time.
    if (!row.pair || row.pair->side == PairSide::a) seconds += static_cast<double>(row.duration_ns) / 1e9;
  }
  return seconds;
}

/// The first look that is not behind yet.
std::int64_t wanted_runs(const Stop& stop, const TrialProgress& progress, bool out_of_time) {
  for (const auto look : stats::looks(stop.most_runs)) {
    if (progress.runs < look) return out_of_time ? progress.runs : look;
    if (progress.runs == look && progress.half_width && *progress.half_width <= stop.half_width) return look;
  }
  return progress.runs;
}

}  // namespace

std::vector<TrialProgress> look(const store::CampaignRow& campaign, const std::vector<store::TrialRow>& trials,
                                const std::vector<store::RunRow>& rows) {
  ASSAY_CHECK(campaign.measure.stop.has_value());
  const Stop& stop = *campaign.measure.stop;
  const double confidence = stats::look_confidence(stop.most_runs);
  const bool out_of_time = stop.seconds && seconds_spent(rows) >= *stop.seconds;
  std::map<std::string, Values> values;
  for (const auto& row : rows) {
    auto& of_trial = values[row.trial];
    ++of_trial.done;
    if (row.outcome == OutcomeKind::ok && row.summary.median_ns)
      of_trial.medians_ns.push_back(static_cast<double>(*row.summary.median_ns));
  }
  std::vector<TrialProgress> out;
  for (const auto& trial : trials) {
    const auto& of_trial = values[trial.id];
    TrialProgress progress;
    progress.runs = of_trial.done;
    progress.half_width =
        campaign.lockstep ? half_width_of_ratio(rows, confidence) : half_width(of_trial.medians_ns, confidence);
    progress.wanted = wanted_runs(stop, progress, out_of_time);
    out.push_back(progress);
  }
  return out;
}

}  // namespace assay::compare
