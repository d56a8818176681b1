#include "assay/compare/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "assay/compare/runs.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::compare {
namespace {

constexpr double kAlpha = 0.01;
constexpr double kLeastDifference = 0.01;
constexpr std::int64_t kFewestRuns = 6;   // below this nothing is said
constexpr std::int64_t kEnoughRuns = 10;  // below this only large differences are
constexpr double kLeastSmokeDifference = 0.05;
constexpr double kLeastExplained = 0.2;  // a covariate that explains less only costs a degree of freedom

std::map<std::string, double> phases_of(const Rows& rows) {
  std::map<std::string, std::vector<double>> values;
  for (const auto* row : rows) {
    for (const auto& process : row->digest.phase_medians_ns) {
      for (const auto& [phase, ns] : process) values[phase].push_back(ns / 1e9);
    }
  }
  std::map<std::string, double> out;
  for (auto& [phase, seconds] : values) out[phase] = stats::median(std::move(seconds));
  return out;
}

Side side_of(const Rows& rows, const TrialsById& trials) {
  Side side;
  side.trial_id = rows.front()->trial;
  side.trial = *trials.at(side.trial_id);
  side.platform = rows.front()->platform;
  for (const auto* row : rows) side.failed += row->outcome == OutcomeKind::ok ? 0 : 1;
  side.phases_seconds = phases_of(rows);
  return side;
}

/// Logarithm of a side's time over that of its group's reference; null where it is not known.
std::optional<double> level_of(const store::RunRow& row) {
  if (!row.pair || !gave_time(row)) return std::nullopt;
  return row.pair->side == PairSide::a ? 0 : row.digest.pair_log_ratio;
}

/// Logarithm of b over a of every lock-step group that has a run of each.
struct InLockstep {
  std::vector<double> log_ratios;
  Rows a;
  Rows b;
};

InLockstep in_lockstep(const Rows& a, const Rows& b) {
  std::unordered_map<std::string, const store::RunRow*> beside;
  for (const auto* row : a) {
    if (level_of(*row)) beside[row->pair->id] = row;
  }
  InLockstep out;
  for (const auto* row : b) {
    const auto level = level_of(*row);
    if (!level) continue;
    const auto other = beside.find(row->pair->id);
    if (other == beside.end() || other->second->trial == row->trial) continue;
    out.log_ratios.push_back(*level - *level_of(*other->second));
    out.a.push_back(other->second);
    out.b.push_back(row);
  }
  return out;
}

Rows trusted(const Rows& rows, std::int64_t& disturbed) {
  Rows out;
  for (const auto* row : rows) {
    if (!gave_time(*row)) continue;
    row->trusted ? out.push_back(row) : void(++disturbed);
  }
  return out;
}

std::vector<double> log_medians(const Rows& rows) {
  std::vector<double> out;
  for (const auto* row : rows) out.push_back(std::log(static_cast<double>(*row->summary.median_ns)));
  return out;
}

/// Empty where a run has no speed probe.
std::vector<stats::Adjusted> with_probe(const Rows& rows) {
  std::vector<stats::Adjusted> out;
  for (const auto* row : rows) {
    if (!row->digest.probe_ns || *row->digest.probe_ns <= 0) return {};
    out.push_back({std::log(static_cast<double>(*row->summary.median_ns)), std::log(*row->digest.probe_ns)});
  }
  return out;
}

void set_runs(Side& side, const Rows& rows) {
  side.runs = static_cast<std::int64_t>(rows.size());
  std::vector<double> medians;
  for (const auto* row : rows) medians.push_back(static_cast<double>(*row->summary.median_ns));
  if (!medians.empty()) side.median_ns = stats::median(std::move(medians));
}

/// A number that is doubtful, and said to be so, is of more use than none.
void set_median_of_disturbed(Side& side, const Rows& rows) {
  std::vector<double> medians;
  for (const auto* row : rows) {
    if (gave_time(*row)) medians.push_back(static_cast<double>(*row->summary.median_ns));
  }
  if (medians.empty()) return;
  side.median_ns = stats::median(std::move(medians));
  side.of_disturbed = true;
}

void compare_processes(const Rows& all_a, const Rows& all_b, Comparison& out) {
  const Rows a = trusted(all_a, out.a.disturbed);
  const Rows b = trusted(all_b, out.b.disturbed);
  set_runs(out.a, a);
  set_runs(out.b, b);
  if (a.empty()) set_median_of_disturbed(out.a, all_a);
  if (b.empty()) set_median_of_disturbed(out.b, all_b);
  out.method = Method::welch;
  out.difference = stats::welch(log_medians(a), log_medians(b));
  if (out.a.platform != out.b.platform) return;  // the probe of two machines differs as the machines do
  const auto fit = stats::with_covariate(with_probe(a), with_probe(b));
  if (!fit || fit->slope <= 0 || fit->explained < kLeastExplained) return;
  out.method = Method::covariate;
  out.difference = fit->difference;
}

double runs_that_count(const Comparison& c) {
  return static_cast<double>(c.method == Method::lockstep ? c.pairs : std::min(c.a.runs, c.b.runs));
}

double threshold_of(const Comparison& c, const std::vector<Calibration>& calibrations) {
  double threshold = runs_that_count(c) < static_cast<double>(kEnoughRuns) ? kLeastSmokeDifference : kLeastDifference;
  for (const auto& one : calibrations) {
    if (one.platform != c.a.platform && one.platform != c.b.platform) continue;
    threshold = std::max(threshold, std::expm1(by_chance(one.noise, c.method, runs_that_count(c))));
  }
  return threshold;
}

bool any_not_reached(const Rows& a, const Rows& b) {
  const auto beyond = [](const store::RunRow* row) { return has_not_reached(*row); };
  return std::any_of(a.begin(), a.end(), beyond) || std::any_of(b.begin(), b.end(), beyond);
}

std::string shortage(const Comparison& c) {
  for (const auto* side : {&c.a, &c.b}) {
    if (side->runs >= kFewestRuns) continue;
    std::string out =
        fmt::format("{} good run{} of {} {} {} too few ({} needed)", side->runs, side->runs == 1 ? "" : "s",
                    side->trial.worker.name, side->trial.worker.release, side->runs == 1 ? "is" : "are", kFewestRuns);
    if (side->disturbed > 0) out += fmt::format("; {} were disturbed", side->disturbed);
    if (side->failed > 0) out += fmt::format("; {} failed", side->failed);
    return out;
  }
  return "";
}

/// Of medians that both sides have, the ratio must say the same as the order.
void decide_by_ranks(Comparison& c) {
  const bool slower = c.ranks->b_above_a > 0.5;
  const double apart = c.ratio ? (slower ? *c.ratio - 1 : 1 - *c.ratio) : 1;
  c.verdict = Verdict::no_difference;
  if (*c.p < kAlpha && apart > c.threshold) c.verdict = slower ? Verdict::slower : Verdict::faster;
}

void decide(Comparison& c, double alpha) {
  c.reason = shortage(c);
  if (c.reason.empty() && c.ranks) return decide_by_ranks(c);
  if (!c.reason.empty() || !c.difference) return;
  c.detectable = std::max(c.threshold, std::expm1(stats::detectable(*c.difference, alpha)));
  if (*c.p < kAlpha && std::fabs(*c.ratio - 1) > c.threshold) {
    c.verdict = *c.ratio > 1 ? Verdict::slower : Verdict::faster;
  } else {
    c.verdict = Verdict::no_difference;
  }
}

}  // namespace

Comparison estimate(const Rows& a, const Rows& b, const Material& material, const TrialsById& trials) {
  Comparison out;
  out.a = side_of(a, trials);
  out.b = side_of(b, trials);
  if (material.to_accuracy && any_not_reached(a, b)) {
    compare_by_ranks(a, b, out);
    if (runs_that_count(out) >= 2) out.threshold = threshold_of(out, material.calibrations);
    return out;
  }
  const auto lockstep = in_lockstep(a, b);
  const auto groups = static_cast<std::int64_t>(lockstep.log_ratios.size());
  if (groups < kFewestRuns) compare_processes(a, b, out);
  // A few groups say more than a few runs, and less than enough of them.
  if (groups >= kFewestRuns || (groups >= 2 && std::min(out.a.runs, out.b.runs) < kFewestRuns)) {
    out.a.disturbed = out.b.disturbed = 0;
    out.method = Method::lockstep;
    out.pairs = groups;
    out.difference = stats::paired(lockstep.log_ratios);
    set_runs(out.a, lockstep.a);
    set_runs(out.b, lockstep.b);
  }
  if (out.difference) {
    out.ratio = std::exp(out.difference->estimate);
    const auto interval = stats::interval_of(*out.difference);
    out.ratio_interval = {std::exp(interval.low), std::exp(interval.high)};
  }
  if (runs_that_count(out) >= 2) out.threshold = threshold_of(out, material.calibrations);
  return out;
}

void judge(const std::vector<Comparison*>& family) {
  std::vector<double> p;
  for (const auto* one : family) {
    if (one->difference || one->ranks) p.push_back(one->ranks ? one->ranks->p : stats::p_value(*one->difference));
  }
  const auto adjusted = stats::holm(p);
  const double alpha = kAlpha / static_cast<double>(std::max<std::size_t>(1, p.size()));
  std::size_t at = 0;
  for (auto* one : family) {
    if (one->difference || one->ranks) one->p = adjusted[at++];
    decide(*one, alpha);
  }
}

TrialsById trials_by_id(const Material& material) {
  TrialsById trials;
  for (const auto& row : material.trials) trials[row.id] = &row.trial;
  return trials;
}

CommonParts::CommonParts(const TrialsById& trials, const std::vector<Selector>& sides)
    : across_platforms_(std::any_of(sides.begin(), sides.end(),
                                    [](const auto& side) { return side.kind() == Selector::Kind::platform; })) {
  for (const auto& [id, trial] : trials) {
    json whole = to_json(*trial);
    for (const auto& side : sides) side.take_off(*trial, whole);
    left_[id] = whole.dump();
  }
}

std::string CommonParts::of(const store::RunRow& row) const {
  return left_.at(row.trial) + (across_platforms_ ? "" : row.platform);
}

}  // namespace assay::compare
