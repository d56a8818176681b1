#include "assay/compare/families.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "assay/compare/estimate.hpp"

namespace assay::compare {
namespace {

/// Runs of each side that are equal but for what the sides say.
using SidesRows = std::vector<Rows>;

/// The one side that a run belongs to; null where it belongs to none or to several: then it says nothing of
/// their difference.
std::optional<std::size_t> side_of(const store::RunRow& row, const Trial& trial, const std::vector<Selector>& sides) {
  std::optional<std::size_t> found;
  for (std::size_t side = 0; side < sides.size(); ++side) {
    if (!sides[side].matches(row, trial)) continue;
    if (found) return std::nullopt;
    found = side;
  }
  return found;
}

/// In the order in which trials were planned.
std::vector<SidesRows> rows_of_families(const Material& material, const std::vector<Selector>& sides,
                                        const TrialsById& trials) {
  const CommonParts common(trials, sides);
  std::unordered_map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < material.trials.size(); ++i) position[material.trials[i].id] = i;
  std::map<std::string, SidesRows> families;
  std::map<std::string, std::size_t> first;  // position of a family's first trial
  for (const auto& row : material.rows) {
    const auto trial = trials.find(row.trial);
    if (trial == trials.end()) continue;
    const auto side = side_of(row, *trial->second, sides);
    if (!side) continue;
    const auto key = common.of(row);
    auto& rows = families.try_emplace(key, sides.size()).first->second;
    rows[*side].push_back(&row);
    const auto known = first.try_emplace(key, position[row.trial]).first;
    known->second = std::min(known->second, position[row.trial]);
  }
  std::vector<std::pair<std::size_t, SidesRows>> ordered;
  for (auto& [key, rows] : families) ordered.emplace_back(first[key], std::move(rows));
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<SidesRows> out;
  for (auto& [at, rows] : ordered) out.push_back(std::move(rows));
  return out;
}

/// How `side` stands to `reference`, from the comparison of the two.
SideStanding standing_of(const Family& family, std::size_t side, std::size_t reference) {
  SideStanding out;
  for (const auto& pair : family.pairs) {
    if (pair.first != side && pair.second != side) continue;
    const auto& c = pair.comparison;
    out.side = pair.first == side ? c.a : c.b;
    if (side == reference) {
      out.ratio = 1;
      return out;
    }
    if (pair.first == reference) {
      out.ratio = c.ratio;
      out.ratio_interval = c.ratio_interval;
      return out;
    }
    if (pair.second != reference) continue;
    if (c.ratio) out.ratio = 1 / *c.ratio;
    if (c.ratio_interval) out.ratio_interval = stats::Interval{1 / c.ratio_interval->high, 1 / c.ratio_interval->low};
    return out;
  }
  return out;
}

/// The side whose ratio to the first is the smallest.
std::size_t fastest_of(const Family& family) {
  std::size_t fastest = 0;
  double least = 1;
  for (const auto& pair : family.pairs) {
    if (pair.first != 0 || !pair.comparison.ratio || *pair.comparison.ratio >= least) continue;
    least = *pair.comparison.ratio;
    fastest = pair.second;
  }
  return fastest;
}

Family family_of(const SidesRows& rows, const Material& material, const TrialsById& trials, FamilyReference reference) {
  Family family;
  for (std::size_t first = 0; first < rows.size(); ++first) {
    for (std::size_t second = first + 1; second < rows.size(); ++second) {
      family.pairs.push_back({first, second, estimate(rows[first], rows[second], material, trials)});
    }
  }
  if (reference == FamilyReference::fastest) family.reference = fastest_of(family);
  for (std::size_t side = 0; side < rows.size(); ++side) {
    family.sides.push_back(standing_of(family, side, family.reference));
  }
  return family;
}

std::string pair_by_ranks(const Comparison& c, const std::string& first, const std::string& second) {
  const auto reached = fmt::format("{} and {} runs have reached the accuracy", reached_text(c.b), reached_text(c.a));
  if (c.verdict == Verdict::no_difference) {
    return fmt::format("{} and {}: no difference seen: {} (p = {:.2g}, by ranks).", second, first, reached, *c.p);
  }
  return fmt::format("{} takes {} time than {}: {} (p = {:.2g}, by ranks).", second,
                     c.verdict == Verdict::slower ? "more" : "less", first, reached, *c.p);
}

}  // namespace

Families compare_all(const Material& material, const std::vector<Selector>& sides, FamilyReference reference) {
  ASSAY_CHECK(sides.size() >= 2);
  const auto trials = trials_by_id(material);
  Families out;
  for (const auto& rows : rows_of_families(material, sides, trials)) {
    if (std::any_of(rows.begin(), rows.end(), [](const auto& of_side) { return of_side.empty(); })) {
      ++out.incomplete;
    } else {
      out.all.push_back(family_of(rows, material, trials, reference));
    }
  }
  std::vector<Comparison*> all;
  for (auto& family : out.all) {
    for (auto& pair : family.pairs) all.push_back(&pair.comparison);
  }
  judge(all);
  return out;
}

std::string sentence(const FamilyPair& pair, const std::vector<std::string>& names) {
  const auto& c = pair.comparison;
  const auto& first = names.at(pair.first);
  const auto& second = names.at(pair.second);
  if (c.ranks && c.verdict != Verdict::undecided) return pair_by_ranks(c, first, second);
  const std::string what = c.method == Method::lockstep ? fmt::format("{} groups", c.pairs)
                                                        : fmt::format("{} and {} processes", c.a.runs, c.b.runs);
  switch (c.verdict) {
    case Verdict::undecided:
      return fmt::format("{} and {}: undecided, because {}.", second, first, c.reason);
    case Verdict::no_difference:
      return fmt::format(
          "{} and {}: no difference seen: {:+.1f} % ({:+.1f} to {:+.1f}); one of {:.1f} % would have been "
          "found ({}).",
          second, first, 100 * (*c.ratio - 1), 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1),
          100 * *c.detectable, what);
    default:
      return fmt::format("{} takes {:.1f} % {} time than {} ({:+.1f} to {:+.1f} %, p = {:.2g}, {}).", second,
                         100 * std::fabs(*c.ratio - 1), c.verdict == Verdict::slower ? "more" : "less", first,
                         100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1), *c.p, what);
  }
}

}  // namespace assay::compare
