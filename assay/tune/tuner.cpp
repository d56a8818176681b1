#include "assay/tune/tuner.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/error.hpp"
#include "assay/core/workloads/scenario.hpp"
#include "assay/stats/difference.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::tune {
namespace {

/// The place of a trial among others; it joins them where it is new.
std::size_t place_of(const Trial& trial, std::vector<Trial>& trials, std::map<std::string, std::size_t>& places) {
  const auto [place, is_new] = places.emplace(trial_id(trial), trials.size());
  if (is_new) trials.push_back(trial);
  return place->second;
}

/// Of log-ratios "best to other": what the best gains over the other.
Ratio gain_of(const std::vector<double>& log_ratios) {
  Ratio ratio;
  ratio.pairs = std::ssize(log_ratios);
  if (log_ratios.empty()) return ratio;
  double sum = 0;
  for (const double one : log_ratios) sum += one;
  ratio.value = std::exp(-sum / static_cast<double>(log_ratios.size()));
  if (const auto difference = stats::paired(log_ratios)) {
    const auto interval = stats::interval_of(*difference);
    ratio.low = std::exp(-interval.high);
    ratio.high = std::exp(-interval.low);
  }
  return ratio;
}

std::string title_in(const Trial& trial, const std::vector<std::string>& varied) {
  auto text = conditions(trial);
  const auto varies = [&](const char* name) { return std::find(varied.begin(), varied.end(), name) != varied.end(); };
  if (varies("precision")) text = trial.workload.precision + ", " + text;
  const auto scenario = scenario_of(trial.workload.load);
  if (varies("batch_wait") && scenario && scenario->batch_wait_seconds) {
    text = fmt::format("wait {:g}ms, {}", *scenario->batch_wait_seconds * 1e3, text);
  }
  if (varies("batch")) text = fmt::format("b{}, {}", trial.workload.batch, text);
  if (varies("sequences") || varies("cache_precision"))
    text = fmt::format("{}, {}", title(*trial.workload.generate), text);
  return text;
}

/// One tuning while it goes on.
class Tuner {
 public:
  Tuner(const Candidates& candidates, const Resources& resources, const TuneOptions& options,
        MeasuredObjective& objective)
      : candidates_(candidates), resources_(resources), options_(options), objective_(objective) {}

  Answer run() {
    find();
    if (options_.pairs > 0) {
      measure_gains();
      if (const auto faster = faster_baseline(eligible_gains())) {
        prefer(*faster);
        measure_gains();
      }
      if (options_.split) measure_factors();
    }
    answer_.results.verify_runs = objective_.spent().runs - answer_.results.search_runs;
    tell_cost();
    tell_limit();
    return std::move(answer_);
  }

 private:
  void find() {
    Problem problem;
    problem.candidates = features_of(candidates_.trials, resources_);
    problem.seeds = candidates_.seeds;
    problem.budget = options_.budget;
    found_ = search(problem, objective_);
    answer_.best = candidates_.trials.at(found_.best);
    auto& results = answer_.results;
    results.candidates = std::ssize(candidates_.trials);
    results.varied = varied_of(candidates_.trials);
    results.search_runs = objective_.spent().runs;
    results.search_seconds = objective_.spent().seconds;
    results.within_limit = objective_.within_limit(found_.best);
    tell_tried();
    tell_journal();
  }

  std::string title_of(std::size_t candidate) const {
    return title_in(candidates_.trials.at(candidate), answer_.results.varied);
  }

  void tell_tried() {
    for (std::size_t i = 0; i < candidates_.trials.size(); ++i) {
      if (found_.measured.at(i).empty()) continue;
      const auto& trial = candidates_.trials[i];
      Tried tried{trial_id(trial), title_of(i), trial.settings, {}, {}};
      for (const double cost : found_.measured[i]) tried.seconds.push_back(std::exp(cost));
      if (found_.expected.at(i)) tried.expected_seconds = std::exp(*found_.expected[i]);
      answer_.results.tried.push_back(std::move(tried));
    }
  }

  void tell_journal() {
    for (const auto& step : found_.steps) {
      Entry entry;
      entry.why = name_of(step.why);
      entry.what = title_of(step.candidate);
      if (step.against) entry.against = title_of(*step.against);
      (step.why == Why::race ? entry.ratio : entry.seconds) = step.cost;
      entry.expected_seconds = step.expected;
      entry.decision = step.decision;
      answer_.results.journal.push_back(std::move(entry));
    }
  }

  /// Pairs with each distinct baseline; those that are the same settings share them.
  void measure_gains() {
    std::map<std::size_t, std::vector<double>> known;
    for (const auto& rival : candidates_.rivals) {
      Gain gain{rival.baseline.name, rival.baseline.says, rival.baseline.settings, rival.baseline.inert, false, {}, {}};
      gain.same = rival.candidate == found_.best;
      if (!gain.same) {
        if (known.count(rival.candidate) == 0) {
          known[rival.candidate] = objective_.race(rival.candidate, found_.best, options_.pairs);
        }
        const auto& ratios = known[rival.candidate];
        gain.gain = gain_of(ratios);
        if (const auto difference = stats::paired(ratios)) gain.detectable = std::expm1(stats::detectable(*difference));
      }
      answer_.results.gains.push_back(std::move(gain));
    }
  }

  /// Gains over what may take the place of the search's choice: not over what breaks a limit that it keeps.
  std::vector<Gain> eligible_gains() const {
    auto gains = answer_.results.gains;
    for (std::size_t i = 0; answer_.results.within_limit && i < gains.size(); ++i) {
      if (!objective_.within_limit(candidates_.rivals.at(i).candidate)) gains[i].gain = {};
    }
    return gains;
  }

  /// The baseline of that gain in place of what the search chose.
  void prefer(std::size_t place) {
    auto& results = answer_.results;
    const auto& rival = candidates_.rivals.at(place);
    Entry entry;
    entry.why = "measured again";
    entry.what = title_of(rival.candidate);
    entry.against = title_of(found_.best);
    entry.ratio = results.gains.at(place).gain.value;
    entry.decision = fmt::format("{} is faster than what the search chose: it is the answer", rival.baseline.name);
    results.journal.push_back(std::move(entry));
    results.gains.clear();
    found_.best = rival.candidate;
    answer_.best = candidates_.trials.at(found_.best);
    results.within_limit = objective_.within_limit(found_.best);
  }

  void measure_factors() {
    const auto steps =
        steps_between(candidates_.trials.at(candidates_.rivals.at(0).candidate), answer_.best, resources_);
    if (steps.size() < 2) return;
    auto before = candidates_.rivals[0].candidate;
    for (const auto& step : steps) {
      const auto next = objective_.index_of(step.trial);
      const auto gain = gain_of(objective_.race(before, next, options_.pairs));
      answer_.results.factors.push_back({step.name, step.settings, gain});
      before = next;
    }
  }

  /// By all steps of the best, those included that were measured after it was chosen.
  void tell_limit() {
    if (!objective_.limit()) return;
    const auto tail = objective_.tail(found_.best);
    answer_.results.limit = {tail.samples, tail.over, judge(*objective_.limit(), tail)};
    answer_.results.within_limit = objective_.within_limit(found_.best);
  }

  void tell_cost() {
    const auto& first = candidates_.rivals.at(0);
    const auto& measured = found_.measured.at(first.candidate);
    if (measured.empty() || answer_.results.gains.empty()) return;
    const auto& gain = answer_.results.gains.front();
    if (!gain.same && !gain.gain.value) return;
    answer_.results.seconds = std::exp(stats::median(measured)) / gain.gain.value.value_or(1);
  }

  const Candidates& candidates_;
  const Resources& resources_;
  const TuneOptions& options_;
  MeasuredObjective& objective_;
  Found found_;
  Answer answer_;
};

/// A guide without its instances: they would not share the queue.
void share_one_process(Baseline& baseline, const GuideInput& situation) {
  auto& settings = baseline.settings;
  if (settings.instances.value_or(1) == 1) return;
  baseline.inert.push_back(fmt::format("instances={}: {}", *settings.instances, kOneQueue));
  settings.instances.reset();
  settings.memory_bind.reset();
  settings = canonical(settings, situation.resources);
}

}  // namespace

Candidates candidates_of(const Space& space, const Trial& base, const plan::WorkerInfo& worker,
                         const GuideInput& situation, GoalMetric metric) {
  Candidates out;
  std::map<std::string, std::size_t> places;
  for (const auto& trial : space.candidates) place_of(trial, out.trials, places);
  const auto add_seed = [&](const Settings& settings) {
    Trial trial = base;
    const auto env = std::exchange(trial.settings, settings).env;
    for (const auto& [name, value] : env) trial.settings.env.emplace(name, value);
    const auto place = place_of(trial, out.trials, places);
    if (std::find(out.seeds.begin(), out.seeds.end(), place) == out.seeds.end()) out.seeds.push_back(place);
    return place;
  };
  for (auto& baseline : baselines(worker, situation)) {
    if (metric == GoalMetric::rate) share_one_process(baseline, situation);
    const auto place = add_seed(baseline.settings);
    out.rivals.push_back({std::move(baseline), place});
  }
  if (metric == GoalMetric::throughput && base.workload.mode == Mode::infer) {
    for (const auto& settings : shared_rule(worker, situation)) add_seed(settings);
  }
  return out;
}

std::optional<std::size_t> faster_baseline(const std::vector<Gain>& gains) {
  constexpr double kWorthIt = 0.99;
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    const auto& gain = gains[i].gain;
    if (!gain.value || !gain.high || *gain.high >= 1 || *gain.value >= kWorthIt) continue;
    if (!fastest || *gain.value < *gains[*fastest].gain.value) fastest = i;
  }
  return fastest;
}

Answer tune(const Candidates& candidates, const Resources& resources, const TuneOptions& options,
            MeasuredObjective& objective) {
  return Tuner(candidates, resources, options, objective).run();
}

}  // namespace assay::tune
