#include "assay/tune/measured.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/error.hpp"
#include "assay/core/text/hash.hpp"
#include "assay/measure/agent/summary.hpp"

namespace assay::tune {
namespace {

/// What a tuning is about, whatever it has measured so far: two of one name and different spaces keep apart.
std::string subject_of(const std::vector<Trial>& candidates, const Goal& goal) {
  json about = {{"goal", title(goal)}, {"candidates", json::array()}};
  for (const auto& trial : candidates) about["candidates"].push_back(trial_id(trial));
  return "tune " + hash_hex(canonical_json(about));
}

/// Samples that one step of a side stands for, or tokens that it writes.
double samples_of(const Trial& trial, GoalMetric metric) {
  const auto& asked = trial.workload.generate;
  const auto of_process =
      metric == GoalMetric::tokens && asked ? asked->sequences * asked->output_tokens : trial.workload.batch;
  return static_cast<double>(of_process * trial.settings.instances.value_or(1));
}

}  // namespace

MeasuredObjective::MeasuredObjective(MeasuredSetup setup, store::Store& store, Work work)
    : setup_(std::move(setup)), store_(store), work_(std::move(work)) {
  subject_ = subject_of(setup_.candidates, setup_.goal);
  for (const auto& trial : setup_.candidates) ids_.push_back(trial_id(trial));
}

std::size_t MeasuredObjective::index_of(const Trial& trial) {
  const auto id = trial_id(trial);
  const auto found = std::find(ids_.begin(), ids_.end(), id);
  if (found != ids_.end()) return static_cast<std::size_t>(found - ids_.begin());
  ids_.push_back(id);
  setup_.candidates.push_back(trial);
  return ids_.size() - 1;
}

plan::Campaign MeasuredObjective::campaign(const std::string& what) const {
  plan::Campaign campaign;
  campaign.name = fmt::format("{} {}", setup_.name, what);
  campaign.seed = setup_.seed;
  campaign.measure = setup_.measure;
  return campaign;
}

std::vector<MeasuredObjective::MeasuredRun> MeasuredObjective::evaluations(const std::string& campaign,
                                                                           std::size_t candidate) {
  const store::Filter filter{.campaign = campaign, .trial = ids_[candidate]};
  std::map<std::int64_t, Tail> tails;  // by the run's index
  if (setup_.goal.judges_tail()) {
    store_.records(filter, [&](const Record& record) {
      if (record.outcome.kind != OutcomeKind::ok) return;
      const auto& trial = setup_.candidates[candidate];
      const auto samples = setup_.goal.limit_of == TimeOf::first_token
                               ? measure::steady_first_tokens(record.ranks, trial)
                               : measure::steady_samples(record.ranks, trial);
      tails[record.index] = tail_of(*setup_.goal.limit, samples);
    });
  }
  std::vector<MeasuredRun> out;
  for (auto& row : store_.runs(filter)) out.push_back({row, tails[row.index]});
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.row.index < y.row.index; });
  return out;
}

void MeasuredObjective::count(const MeasuredRun& one, std::size_t candidate) {
  ++spent_.runs;
  spent_.seconds += static_cast<double>(one.row.duration_ns) / 1e9;
  tails_[candidate].samples += one.tail.samples;
  tails_[candidate].over += one.tail.over;
}

std::vector<std::optional<double>> MeasuredObjective::measure(const std::vector<std::size_t>& candidates) {
  std::map<std::size_t, std::int64_t> next;  // index of the evaluation that this call asks for first
  for (const auto candidate : candidates) next.emplace(candidate, asked_[candidate]++);
  auto plan = campaign("search");
  plan.grows = subject_;
  for (const auto& [candidate, unused] : next) {
    plan.trials.push_back(setup_.candidates.at(candidate));
    plan.runs_of_trial.push_back(asked_[candidate]);
  }
  plan.runs = *std::max_element(plan.runs_of_trial.begin(), plan.runs_of_trial.end());
  const auto id = work_(plan);
  std::vector<std::optional<double>> out;
  for (const auto candidate : candidates) {
    const auto index = next[candidate]++;
    const auto all = evaluations(id, candidate);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.row.index == index; });
    ASSAY_CHECK(found != all.end());
    count(*found, candidate);
    const auto& row = found->row;
    const auto cost = row.outcome == OutcomeKind::ok ? cost_of(setup_.goal, row.summary, found->tail) : std::nullopt;
    out.push_back(cost ? std::optional(std::log(*cost)) : std::nullopt);
  }
  return out;
}

std::optional<double> MeasuredObjective::log_ratio(const MeasuredRun& a, const MeasuredRun& b, std::size_t index_a,
                                                   std::size_t index_b) const {
  if (a.row.outcome != OutcomeKind::ok || b.row.outcome != OutcomeKind::ok) return {};
  if (!setup_.lockstep) {
    const auto cost_a = cost_of(setup_.goal, a.row.summary, a.tail);
    const auto cost_b = cost_of(setup_.goal, b.row.summary, b.tail);
    return cost_a && cost_b ? std::optional(std::log(*cost_b / *cost_a)) : std::nullopt;
  }
  if (!b.row.digest.pair_log_ratio) return {};
  double ratio = *b.row.digest.pair_log_ratio;  // of steps
  if (const auto metric = setup_.goal.metric; metric != GoalMetric::latency) {
    ratio += std::log(samples_of(setup_.candidates[index_a], metric) / samples_of(setup_.candidates[index_b], metric));
  }
  return ratio + std::log(penalty_of(setup_.goal, b.tail) / penalty_of(setup_.goal, a.tail));
}

std::vector<double> MeasuredObjective::race(std::size_t a, std::size_t b, std::int64_t pairs) {
  auto& before = raced_[{a, b}];
  auto plan = campaign("race");
  plan.lockstep = setup_.lockstep;
  plan.trials = {setup_.candidates.at(a), setup_.candidates.at(b)};
  plan.runs = before + pairs;
  const auto id = work_(plan);
  const auto rows_a = evaluations(id, a);
  const auto rows_b = evaluations(id, b);
  std::vector<double> out;
  for (std::size_t i = 0; i < std::min(rows_a.size(), rows_b.size()); ++i) {
    if (rows_a[i].row.index < before || rows_a[i].row.index >= before + pairs) continue;
    count(rows_a[i], a);
    count(rows_b[i], b);
    if (const auto ratio = log_ratio(rows_a[i], rows_b[i], a, b)) out.push_back(*ratio);
  }
  before += pairs;
  return out;
}

Tail MeasuredObjective::tail(std::size_t candidate) const {
  const auto known = tails_.find(candidate);
  return known == tails_.end() ? Tail{} : known->second;
}

bool MeasuredObjective::within_limit(std::size_t candidate) const {
  return !setup_.goal.judges_tail() || tune::within_limit(*setup_.goal.limit, tail(candidate));
}

}  // namespace assay::tune
