#include "assay/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

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

using Rows = std::vector<const store::RunRow*>;

/// Runs of either side that are equal but for what the sides say.
struct Group {
  Rows a;
  Rows b;
};

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

Side side_of(const Rows& rows, const std::unordered_map<std::string, const Trial*>& trials) {
  Side side;
  side.trial_id = rows.front()->trial;
  side.trial = *trials.at(side.trial_id);
  side.platform = rows.front()->platform;
  for (const auto* row : rows) side.failed += row->outcome == OutcomeKind::ok ? 0 : 1;
  side.phases_seconds = phases_of(rows);
  return side;
}

/// Logarithm of b over a of every pair that has a run on either side.
struct Pairs {
  std::vector<double> log_ratios;
  Rows a;
  Rows b;
};

Pairs pairs_of(const Group& group) {
  std::unordered_map<std::string, const store::RunRow*> partners;
  for (const auto* row : group.a) {
    if (row->pair && gave_time(*row) && row->digest.pair_log_ratio) partners[row->pair->id] = row;
  }
  Pairs pairs;
  for (const auto* row : group.b) {
    if (!row->pair || !gave_time(*row) || !row->digest.pair_log_ratio) continue;
    const auto partner = partners.find(row->pair->id);
    if (partner == partners.end() || partner->second->pair->side == row->pair->side) continue;
    pairs.log_ratios.push_back(row->pair->side == PairSide::b ? *row->digest.pair_log_ratio
                                                              : -*row->digest.pair_log_ratio);
    pairs.a.push_back(partner->second);
    pairs.b.push_back(row);
  }
  return pairs;
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

void compare_processes(const Group& group, Comparison& out) {
  const Rows a = trusted(group.a, out.a.disturbed);
  const Rows b = trusted(group.b, out.b.disturbed);
  set_runs(out.a, a);
  set_runs(out.b, b);
  if (a.empty()) set_median_of_disturbed(out.a, group.a);
  if (b.empty()) set_median_of_disturbed(out.b, group.b);
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

Comparison estimate(const Group& group, const Material& material,
                    const std::unordered_map<std::string, const Trial*>& trials) {
  Comparison out;
  out.a = side_of(group.a, trials);
  out.b = side_of(group.b, trials);
  const auto pairs = pairs_of(group);
  if (static_cast<std::int64_t>(pairs.log_ratios.size()) >= kFewestRuns) {
    out.method = Method::lockstep;
    out.pairs = static_cast<std::int64_t>(pairs.log_ratios.size());
    out.difference = stats::paired(pairs.log_ratios);
    set_runs(out.a, pairs.a);
    set_runs(out.b, pairs.b);
  } else {
    compare_processes(group, out);
  }
  if (out.difference) {
    out.ratio = std::exp(out.difference->estimate);
    const auto interval = stats::interval_of(*out.difference);
    out.ratio_interval = {std::exp(interval.low), std::exp(interval.high)};
  }
  if (runs_that_count(out) >= 2) out.threshold = threshold_of(out, material.calibrations);
  return out;
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

void decide(Comparison& c, double alpha) {
  c.reason = shortage(c);
  if (!c.reason.empty() || !c.difference) return;
  c.detectable = std::max(c.threshold, std::expm1(stats::detectable(*c.difference, alpha)));
  if (*c.p < kAlpha && std::fabs(*c.ratio - 1) > c.threshold) {
    c.verdict = *c.ratio > 1 ? Verdict::slower : Verdict::faster;
  } else {
    c.verdict = Verdict::no_difference;
  }
}

/// What a run has in common with those of the other side.
std::string key_of(const store::RunRow& row, const json& trial, bool across_platforms) {
  return trial.dump() + (across_platforms ? "" : row.platform);
}

std::map<std::string, Group> groups_of(const Material& material, const Selector& a, const Selector& b,
                                       const std::unordered_map<std::string, const Trial*>& trials) {
  std::unordered_map<std::string, json> left;  // of each trial, when both sides have taken off their part
  for (const auto& [id, trial] : trials) {
    json whole = to_json(*trial);
    a.take_off(whole);
    b.take_off(whole);
    left[id] = std::move(whole);
  }
  const bool across = a.kind() == Selector::Kind::platform || b.kind() == Selector::Kind::platform;
  std::map<std::string, Group> groups;
  for (const auto& row : material.rows) {
    const auto trial = trials.find(row.trial);
    if (trial == trials.end()) continue;
    const bool is_a = a.matches(row, *trial->second);
    const bool is_b = b.matches(row, *trial->second);
    if (is_a == is_b) continue;  // neither, or both: it tells nothing of their difference
    auto& group = groups[key_of(row, left.at(row.trial), across)];
    (is_a ? group.a : group.b).push_back(&row);
  }
  return groups;
}

/// Two campaigns of one trial each are compared with each other, whatever the trials.
void match_single_trials(std::map<std::string, Group>& groups) {
  if (groups.size() != 2) return;
  auto& first = groups.begin()->second;
  auto& second = std::next(groups.begin())->second;
  if (first.a.empty()) std::swap(first, second);
  if (!first.b.empty() || !second.a.empty() || first.a.front()->platform != second.b.front()->platform) return;
  first.b = second.b;
  groups.erase(std::next(groups.begin()));
}

}  // namespace

Comparisons compare(const Material& material, const Selector& a, const Selector& b) {
  std::unordered_map<std::string, const Trial*> trials;
  for (const auto& row : material.trials) trials[row.id] = &row.trial;
  auto groups = groups_of(material, a, b, trials);
  if (a.kind() == Selector::Kind::campaign && b.kind() == Selector::Kind::campaign) match_single_trials(groups);

  std::unordered_map<std::string, std::size_t> position;  // as planned
  for (std::size_t i = 0; i < material.trials.size(); ++i) position[material.trials[i].id] = i;
  Comparisons out;
  for (const auto& [key, group] : groups) {
    if (group.a.empty() || group.b.empty()) {
      ++(group.a.empty() ? out.only_b : out.only_a);
    } else {
      out.all.push_back(estimate(group, material, trials));
    }
  }
  std::stable_sort(out.all.begin(), out.all.end(), [&](const Comparison& x, const Comparison& y) {
    return position[x.a.trial_id] < position[y.a.trial_id];
  });
  std::vector<double> p;
  for (const auto& one : out.all) {
    if (one.difference) p.push_back(stats::p_value(*one.difference));
  }
  const auto adjusted = stats::holm(p);
  const double alpha = kAlpha / static_cast<double>(std::max<std::size_t>(1, p.size()));
  std::size_t at = 0;
  for (auto& one : out.all) {
    if (one.difference) one.p = adjusted[at++];
    decide(one, alpha);
  }
  return out;
}

std::string sentence(const Comparison& c) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const std::string what = c.method == Method::lockstep
                               ? fmt::format("{} lock-step pairs", c.pairs)
                               : fmt::format("{} and {} fresh processes{}", c.a.runs, c.b.runs,
                                             c.method == Method::covariate ? ", host's speed taken off" : "");
  switch (c.verdict) {
    case Verdict::undecided:
      return "Undecided: " + c.reason + ". Measure more runs, or pairs with `assay compare --run`.";
    case Verdict::no_difference:
      return fmt::format("No difference seen: {:+.1f} % ({:+.1f} to {:+.1f}); one of {} would have been found ({}).",
                         100 * (*c.ratio - 1), 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1),
                         percent(*c.detectable), what);
    default:
      const bool slower = c.verdict == Verdict::slower;
      return fmt::format("The second takes {} {} time ({:+.1f} to {:+.1f} %, p = {:.2g}, {}).",
                         percent(std::fabs(*c.ratio - 1)), slower ? "more" : "less", 100 * (c.ratio_interval->low - 1),
                         100 * (c.ratio_interval->high - 1), *c.p, what);
  }
}

bool fails_gate(const Comparison& comparison, double gate) {
  return comparison.verdict == Verdict::slower && *comparison.ratio - 1 >= gate;
}

bool leaves_gate_open(const Comparison& comparison, double gate) {
  if (comparison.verdict == Verdict::undecided || !comparison.ratio_interval) return true;
  return comparison.verdict == Verdict::no_difference && comparison.ratio_interval->high - 1 >= gate;
}

}  // namespace assay::compare
