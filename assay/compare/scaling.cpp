#include "assay/compare/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/stats/difference.hpp"
#include "assay/stats/moments.hpp"

namespace assay::compare {
namespace {

/// What weak scaling grows: sequences where text is generated, since engines have no batch then.
std::int64_t samples_of_step(const Workload& workload) {
  return workload.generate ? workload.generate->sequences : workload.batch;
}

void set_samples_of_step(Workload& workload, std::int64_t samples) {
  (workload.generate ? workload.generate->sequences : workload.batch) = samples;
}

/// Adds a point, and its trial where no other point has the same.
void add_point(const Trial& base, CurvePoint point, ScaleCurve& curve, std::vector<Trial>& trials) {
  Trial trial = base;
  set_samples_of_step(trial.workload, point.batch);
  trial.settings.intra_op = point.threads;
  if (point.instances > 1) trial.settings.instances = point.instances;
  point.trial_id = trial_id(trial);
  const auto same = [&](const Trial& other) { return trial_id(other) == point.trial_id; };
  if (std::none_of(trials.begin(), trials.end(), same)) trials.push_back(trial);
  curve.points.push_back(std::move(point));
}

ScaleCurve curve_by_threads(const Trial& base, ScalingKind kind, const std::vector<std::int64_t>& cpus,
                            std::vector<Trial>& trials) {
  ScaleCurve curve{kind, ScaledBy::threads, {}};
  for (const auto n : cpus) {
    CurvePoint point;
    point.cpus = point.threads = n;
    point.batch = samples_of_step(base.workload) * (kind == ScalingKind::weak ? n : 1);
    add_point(base, point, curve, trials);
  }
  return curve;
}

ScaleCurve curve_by_instances(const Trial& base, ScalingKind kind, const std::vector<std::int64_t>& cpus,
                              std::vector<Trial>& trials, std::vector<std::string>& left_out) {
  ScaleCurve curve{kind, ScaledBy::instances, {}};
  const auto threads = base.settings.intra_op.value_or(1);
  for (const auto n : cpus) {
    if (n % threads != 0) continue;
    CurvePoint point;
    point.cpus = n;
    point.threads = threads;
    point.instances = n / threads;
    point.batch = samples_of_step(base.workload);
    if (kind == ScalingKind::strong) {
      if (point.batch % point.instances != 0) {
        const auto what = base.workload.generate ? fmt::format("{} sequences", point.batch)
                                                 : fmt::format("a batch of {}", point.batch);
        left_out.push_back(
            fmt::format("strong by instances, {} CPUs: {} cannot be shared by {} instances", n, what, point.instances));
        continue;
      }
      point.batch /= point.instances;
    }
    add_point(base, point, curve, trials);
  }
  return curve;
}

/// How far `point` is above `first`, given logarithms of their runs' rates.
void set_speedup(CurvePoint& point, const CurvePoint& first, const std::vector<double>& first_rates,
                 const std::vector<double>& rates, ScalingKind kind) {
  const double speedup = std::exp(stats::mean(rates) - stats::mean(first_rates));
  const double growth = static_cast<double>(point.cpus) / static_cast<double>(first.cpus);
  point.speedup = speedup;
  point.efficiency = speedup / growth;
  if (const auto difference = stats::welch(first_rates, rates)) {
    const auto interval = stats::interval_of(*difference);
    point.speedup_low = std::exp(interval.low);
    point.speedup_high = std::exp(interval.high);
  }
  if (kind == ScalingKind::strong && growth > 1) {
    point.serial_share = std::max(0.0, (1 / speedup - 1 / growth) / (1 - 1 / growth));
  }
}

/// Samples per second; of generated text, sequences: a sample of its summary is a step with all of them.
double rate_of(const Summary& summary, const Workload& workload) {
  if (!workload.generate) return summary.samples_per_second.value_or(0);
  if (!summary.generated) return 0;
  return summary.generated->output_tokens_per_second / static_cast<double>(workload.generate->output_tokens);
}

}  // namespace

std::vector<std::int64_t> doubling_up_to(std::int64_t most) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

ScalingPlan plan_scaling(const Trial& base, const std::vector<std::int64_t>& cpus) {
  ScalingPlan plan;
  auto& study = plan.study;
  study.workload = base.workload;
  study.worker = base.worker;
  for (const auto kind : {ScalingKind::strong, ScalingKind::weak}) {
    study.curves.push_back(curve_by_threads(base, kind, cpus, plan.trials));
    auto curve = curve_by_instances(base, kind, cpus, plan.trials, study.left_out);
    if (curve.points.size() > 1) study.curves.push_back(std::move(curve));
  }
  return plan;
}

void measure_curves(ScalingStudy& study, const std::vector<store::RunRow>& rows) {
  std::map<std::string, std::vector<double>> log_rates;
  std::map<std::string, std::int64_t> disturbed;
  for (const auto& row : rows) {
    const auto rate = rate_of(row.summary, study.workload);
    if (!row.counted || row.outcome != OutcomeKind::ok || rate <= 0) continue;
    if (row.trusted) {
      log_rates[row.trial].push_back(std::log(rate));
    } else {
      ++disturbed[row.trial];
    }
  }
  for (auto& curve : study.curves) {
    for (auto& point : curve.points) {
      const auto& rates = log_rates[point.trial_id];
      point.runs = static_cast<std::int64_t>(rates.size());
      point.disturbed = disturbed[point.trial_id];
      if (rates.empty()) continue;
      point.samples_per_second = std::exp(stats::mean(rates));
      const auto& first = curve.points.front();
      const auto& first_rates = log_rates[first.trial_id];
      if (!first_rates.empty() && &first != &point) set_speedup(point, first, first_rates, rates, curve.kind);
    }
  }
}

}  // namespace assay::compare
