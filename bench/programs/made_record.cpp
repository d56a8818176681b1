#include "made_record.hpp"

#include <cmath>

#include "assay/core/clock.hpp"
#include "assay/measure/agent/summary.hpp"

namespace assay::bench {

Trial made_trial(std::int64_t number, const std::string& prefix) {
  Trial trial;
  trial.workload.network = prefix + "toy";
  trial.workload.batch = number + 1;
  trial.worker = {"fake", "1.0"};
  return trial;
}

Record made_record(const store::Lease& lease, double scale, std::int64_t samples, std::mt19937_64& random) {
  const auto& run = lease.runs.at(0);
  std::normal_distribution<double> normal;
  const double step_ns =
      1e5 * static_cast<double>(run.trial.workload.batch + 2) * scale * std::exp(0.015 * normal(random));
  RankResult rank;
  for (std::int64_t i = 0; i < samples; ++i)
    rank.samples_ns.push_back(std::llround(step_ns * std::exp(0.03 * normal(random))));
  rank.slices.push_back({0, 0, samples, samples, false, 2'000'000});
  rank.probe_after_ns = 2'000'000;
  Record record;
  auto summarised = measure::summarise({rank}, run.trial);
  record.summary = summarised.summary;
  record.steady = summarised.steady;
  record.platform = "p";
  record.started_utc = utc_now();
  record.ranks.push_back(std::move(rank));
  record.campaign = lease.campaign;
  record.trial = run.trial_id;
  record.index = run.index;
  record.attempt = run.attempt;
  return record;
}

}  // namespace assay::bench
