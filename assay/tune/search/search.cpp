#include "assay/tune/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/core/error.hpp"
#include "assay/tune/search/cost_model.hpp"
#include "assay/tune/search/race.hpp"

namespace assay::tune {
namespace {

/// Of the budget, before a race may begin.
constexpr double kBeforeRace = 0.75;
/// Runs that always remain for the race: two pairs.
constexpr std::int64_t kRaceRuns = 4;
constexpr std::size_t kFinalists = 4;
/// Evaluations of one candidate before the race at most; more only look like progress to a model that is too sure.
constexpr std::size_t kEvaluations = 2;

/// What to measure next, and what it is expected to gain over the best so far, as a logarithm.
struct Choice {
  std::size_t candidate = 0;
  double gain = 0;
};

class Search {
 public:
  Search(const Problem& problem, Objective& objective)
      : problem_(problem), objective_(objective), model_(problem.candidates) {
    found_.measured.resize(problem.candidates.size());
  }

  Found run() {
    const auto seeds = usable_seeds();
    const auto others = all_but(seeds);
    if (room(kBeforeRace, std::ssize(problem_.candidates))) {
      auto order = seeds;
      order.insert(order.end(), others.begin(), others.end());
      measure_rounds(std::move(order));
    } else {
      measure(seeds, Why::seed);
      if (!others.empty() && room(kBeforeRace, std::ssize(others))) {  // of seconds, known only by now
        measure_rounds(others);
      } else {
        improve();
      }
    }
    for (const auto& prediction : model_.predictions()) found_.expected.emplace_back(prediction.mean);
    const auto finalists = best_measured();
    auto beliefs = beliefs_of(finalists);
    found_.best = finalists[race(finalists, beliefs)];
    return std::move(found_);
  }

 private:
  /// Whether `runs` more fit into this share of the budget; of seconds, if each takes as long as those so far.
  bool room(double share, std::int64_t runs) const {
    const auto spent = objective_.spent();
    const auto& budget = problem_.budget;
    if (budget.runs) {
      const auto limit = static_cast<std::int64_t>(std::floor(share * static_cast<double>(*budget.runs)));
      if (spent.runs + runs > limit) return false;
    }
    if (budget.seconds) {
      // Nobody knows before the first run how long a grid would take.
      if (spent.runs == 0) return false;
      const double each = spent.seconds / static_cast<double>(spent.runs);
      if (spent.seconds + each * static_cast<double>(runs) > share * *budget.seconds) return false;
    }
    return true;
  }

  /// Each once, as many as the budget has runs. Something must be measured before a model can say what.
  std::vector<std::size_t> usable_seeds() const {
    std::vector<std::size_t> out;
    std::set<std::size_t> seen;
    for (const auto seed : problem_.seeds) {
      ASSAY_CHECK(seed < problem_.candidates.size());
      if (seen.insert(seed).second) out.push_back(seed);
    }
    if (out.empty()) out.push_back(0);
    const auto most = static_cast<std::size_t>(problem_.budget.runs.value_or(static_cast<std::int64_t>(out.size())));
    if (out.size() > most) out.resize(most);
    return out;
  }

  void measure(const std::vector<std::size_t>& candidates, Why why, std::optional<double> gain = {}) {
    const auto costs = objective_.measure(candidates);
    ASSAY_CHECK(costs.size() == candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Step step;
      step.why = why;
      step.candidate = candidates[i];
      if (gain) expect(step, *gain);
      if (costs[i]) {
        step.cost = std::exp(*costs[i]);
        found_.measured[candidates[i]].push_back(*costs[i]);
      } else {
        failed_.insert(candidates[i]);
        step.decision = "failed: left out from here on";
      }
      found_.steps.push_back(std::move(step));
    }
  }

  /// Writes what the model says of the step's candidate before it is measured.
  void expect(Step& step, double gain) const {
    step.expected = std::exp(model_.predictions()[step.candidate].mean);
    const bool again = !found_.measured[step.candidate].empty();
    step.decision = fmt::format("{}may gain {:.1f} %", again ? "measured again, " : "", 100 * gain);
  }

  std::vector<std::size_t> all_but(const std::vector<std::size_t>& seeds) const {
    const std::set<std::size_t> first(seeds.begin(), seeds.end());
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < problem_.candidates.size(); ++i) {
      if (!first.count(i)) out.push_back(i);
    }
    return out;
  }

  /// What is missing of the grid, and then all of it, round by round while another whole one fits.
  void measure_rounds(std::vector<std::size_t> order) {
    measure(order, Why::grid);
    order = all_but({});
    for (;;) {
      std::erase_if(order, [&](std::size_t candidate) { return failed_.count(candidate) > 0; });
      if (order.empty() || !room(kBeforeRace, std::ssize(order))) break;
      measure(order, Why::grid);
    }
    learn();
  }

  void learn() {
    usable();
    model_.update(found_.measured, failed_);
  }

  /// Candidates that were measured and never failed. Throws where there is none.
  std::vector<std::size_t> usable() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < found_.measured.size(); ++i) {
      if (!found_.measured[i].empty() && !failed_.count(i)) out.push_back(i);
    }
    if (out.empty()) {
      fail(ErrorKind::failure, "all {} candidates that were measured failed: `assay show` says why", failed_.size());
    }
    return out;
  }

  /// One candidate at a time, for as long as a race would not gain more.
  void improve() {
    for (learn(); room(kBeforeRace, 1) || room(1, 1 + kRaceRuns); learn()) {
      const auto choice = most_promising();
      if (!choice || (!room(kBeforeRace, 1) && choice->gain < gain_of_a_pair() / 2)) return;
      measure({choice->candidate}, Why::improvement, choice->gain);
    }
  }

  /// By expected improvement on the best mean, not on the best evaluation: that one was also lucky.
  std::optional<Choice> most_promising() const {
    const auto& predictions = model_.predictions();
    const double best = predictions[best_measured().front()].mean;
    std::optional<Choice> out;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      if (failed_.count(i) || found_.measured[i].size() >= kEvaluations) continue;
      // How far one evaluation moves the mean: little where its noise exceeds what is unknown.
      const double variance = predictions[i].variance;
      const double moves = variance / std::sqrt(variance + model_.noise() * model_.noise());
      const double gain = expected_improvement(predictions[i].mean, moves, best);
      if (!out || gain > out->gain) out = Choice{i, gain};
    }
    return out;
  }

  /// The finalists, best first.
  std::vector<std::size_t> best_measured() const {
    auto out = usable();
    const auto& predictions = model_.predictions();
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return predictions[a].mean < predictions[b].mean; });
    if (out.size() > kFinalists) out.resize(kFinalists);
    return out;
  }

  Beliefs beliefs_of(const std::vector<std::size_t>& finalists) const {
    std::vector<double> means;
    for (const auto candidate : finalists) means.push_back(model_.predictions()[candidate].mean);
    std::size_t evaluations = 0;
    for (const auto& costs : found_.measured) evaluations += costs.size();
    return {std::move(means), model_.covariance(finalists), model_.noise(), evaluations};
  }

  double gain_of_a_pair() const {
    const auto finalists = best_measured();
    const auto beliefs = beliefs_of(finalists);
    double out = 0;
    for (std::size_t i = 1; i < finalists.size(); ++i) out = std::max(out, beliefs.promise(0, i, 1));
    return out;
  }

  /// Pairs while the budget lasts; who is ahead at the end, as an index of finalists.
  std::size_t race(const std::vector<std::size_t>& finalists, Beliefs& beliefs) {
    std::size_t ahead = 0;
    std::set<std::size_t> out;
    while (room(1, 2) && out.size() + 1 < finalists.size()) {
      std::optional<std::size_t> challenger;
      for (std::size_t i = 0; i < finalists.size(); ++i) {
        if (i == ahead || out.count(i)) continue;
        const auto pairs = pairs_left();
        if (!challenger || beliefs.promise(ahead, i, pairs) > beliefs.promise(ahead, *challenger, pairs))
          challenger = i;
      }
      Step step;
      step.why = Why::race;
      step.candidate = finalists[*challenger];
      step.against = finalists[ahead];
      const auto ratios = objective_.race(finalists[ahead], finalists[*challenger], 1);
      if (ratios.empty()) {
        out.insert(*challenger);
        step.decision = "the pair failed: out of the race";
      } else {
        step.cost = std::exp(ratios.front());
        beliefs.add(ahead, *challenger, ratios.front());
        const auto difference = beliefs.difference(ahead, *challenger);
        step.decision = in_words(difference);
        if (overtakes(difference)) ahead = *challenger;
      }
      found_.steps.push_back(std::move(step));
    }
    return ahead;
  }

  std::size_t pairs_left() const {
    constexpr std::int64_t kEnough = 32;
    std::int64_t pairs = 1;
    while (pairs < kEnough && room(1, 2 * (pairs + 1))) ++pairs;
    return static_cast<std::size_t>(pairs);
  }

  static std::string in_words(const stats::Difference& difference) {
    const auto interval = stats::interval_of(difference);
    return fmt::format("{}: costs {:.3f} of the one ahead (95 %: {:.3f} to {:.3f})",
                       overtakes(difference) ? "takes the lead" : "falls behind", std::exp(difference.estimate),
                       std::exp(interval.low), std::exp(interval.high));
  }

  const Problem& problem_;
  Objective& objective_;
  CostModel model_;
  Found found_;
  std::set<std::size_t> failed_;
};

void check(const Problem& problem) {
  if (problem.candidates.empty()) fail(ErrorKind::usage, "there are no candidates to search: allow more settings");
  const auto& budget = problem.budget;
  if (!budget.runs && !budget.seconds) fail(ErrorKind::usage, "a search needs a budget: give runs, seconds or both");
  if (budget.runs && *budget.runs < 1) {
    fail(ErrorKind::usage, "a budget of {} runs measures nothing: give at least 1", *budget.runs);
  }
}

}  // namespace

Found search(const Problem& problem, Objective& objective) {
  check(problem);
  return Search(problem, objective).run();
}

}  // namespace assay::tune
