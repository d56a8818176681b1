#include "assay/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "assay/compare/estimate.hpp"

namespace assay::compare {
namespace {

/// Runs of either side that are equal but for what the sides say.
struct Group {
  Rows a;
  Rows b;
};

std::map<std::string, Group> groups_of(const Material& material, const Selector& a, const Selector& b,
                                       const TrialsById& trials) {
  const CommonParts common(trials, {a, b});
  std::map<std::string, Group> groups;
  for (const auto& row : material.rows) {
    const auto trial = trials.find(row.trial);
    if (trial == trials.end()) continue;
    const bool is_a = a.matches(row, *trial->second);
    const bool is_b = b.matches(row, *trial->second);
    if (is_a == is_b) continue;  // neither, or both: it tells nothing of their difference
    auto& group = groups[common.of(row)];
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

std::string sentence_by_ranks(const Comparison& c) {
  const auto reached = fmt::format(
      "{} runs of the first and {} of the second have reached the accuracy (p = {:.2g}, "
      "by ranks)",
      reached_text(c.a), reached_text(c.b), *c.p);
  if (c.verdict == Verdict::no_difference) return fmt::format("No difference seen: {}.", reached);
  const char* more = c.verdict == Verdict::slower ? "more" : "less";
  if (!c.ratio) return fmt::format("The second takes {} time: {}.", more, reached);
  return fmt::format("The second takes {:.1f} % {} time by the medians: {}.", 100 * std::fabs(*c.ratio - 1), more,
                     reached);
}

}  // namespace

Comparisons compare(const Material& material, const Selector& a, const Selector& b) {
  const auto trials = trials_by_id(material);
  auto groups = groups_of(material, a, b, trials);
  if (a.kind() == Selector::Kind::campaign && b.kind() == Selector::Kind::campaign) match_single_trials(groups);

  std::unordered_map<std::string, std::size_t> position;  // as planned
  for (std::size_t i = 0; i < material.trials.size(); ++i) position[material.trials[i].id] = i;
  Comparisons out;
  for (const auto& [key, group] : groups) {
    if (group.a.empty() || group.b.empty()) {
      ++(group.a.empty() ? out.only_b : out.only_a);
    } else {
      out.all.push_back(estimate(group.a, group.b, material, trials));
    }
  }
  std::stable_sort(out.all.begin(), out.all.end(), [&](const Comparison& x, const Comparison& y) {
    return position[x.a.trial_id] < position[y.a.trial_id];
  });
  std::vector<Comparison*> family;
  for (auto& one : out.all) family.push_back(&one);
  judge(family);
  return out;
}

std::string reached_text(const Side& side) {
  return fmt::format("{} of {}", side.runs - side.not_reached, side.runs);
}

std::string sentence(const Comparison& c) {
  if (c.ranks && c.verdict != Verdict::undecided) return sentence_by_ranks(c);
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
  if (comparison.verdict != Verdict::slower) return false;
  // Without a ratio the second has no median time, which is longer than any that the first may have.
  return comparison.ratio ? *comparison.ratio - 1 >= gate : comparison.a.median_ns.has_value();
}

bool leaves_gate_open(const Comparison& comparison, double gate) {
  if (comparison.ranks && comparison.verdict == Verdict::faster) return false;
  if (comparison.ranks && comparison.verdict == Verdict::slower)
    return !comparison.ratio && !comparison.a.median_ns;  // slower, by nobody knows how much
  if (comparison.verdict == Verdict::undecided || !comparison.ratio_interval) return true;
  return comparison.verdict == Verdict::no_difference && comparison.ratio_interval->high - 1 >= gate;
}

}  // namespace assay::compare
