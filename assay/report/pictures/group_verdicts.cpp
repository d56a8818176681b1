#include "assay/report/pictures/group_verdicts.hpp"

#include <algorithm>
#include <set>

#include "assay/compare/families.hpp"

namespace assay::report {
namespace {

/// Runs of these contests in lock-step campaigns, and their trials.
compare::Material lockstep_rows_of(const Evidence& evidence, const std::vector<Contest>& contests,
                                   const std::vector<std::size_t>& chosen) {
  std::set<std::string> lockstep;
  for (const auto& campaign : evidence.campaigns) {
    if (campaign.lockstep) lockstep.insert(campaign.id);
  }
  std::set<std::pair<std::string, std::string>> sides;  // trial and platform
  compare::Material material;
  for (const auto at : chosen) {
    for (const auto& [runtime, result] : contests[at]) {
      if (sides.emplace(result->trial_id, result->platform).second)
        material.trials.push_back({result->trial_id, result->trial});
    }
  }
  for (const auto& row : evidence.runs) {
    if (row.counted && row.pair && lockstep.count(row.campaign) > 0 && sides.count({row.trial, row.platform}) > 0)
      material.rows.push_back(row);
  }
  material.calibrations = evidence.calibrations;
  return material;
}

GroupVerdict group_verdict_of(const compare::Family& family) {
  GroupVerdict out;
  const auto& fastest = family.sides[family.reference];
  out.fastest = runtime_of(fastest.side.trial);
  for (std::size_t i = 0; i < family.sides.size(); ++i) {
    const auto& side = family.sides[i];
    out.standings[runtime_of(side.side.trial)] = {side.ratio.value_or(1), side.ratio_interval, false, 0};
  }
  for (const auto& pair : family.pairs) {
    const bool first = pair.first == family.reference;
    if (!first && pair.second != family.reference) continue;
    const auto& other = family.sides[first ? pair.second : pair.first];
    auto& standing = out.standings[runtime_of(other.side.trial)];
    standing.groups = pair.comparison.pairs;
    standing.longer = pair.comparison.verdict == (first ? compare::Verdict::slower : compare::Verdict::faster);
  }
  return out;
}

bool is_by_groups(const compare::Family& family) {
  return std::all_of(family.pairs.begin(), family.pairs.end(), [](const compare::FamilyPair& pair) {
    return pair.comparison.method == compare::Method::lockstep && pair.comparison.ratio;
  });
}

}  // namespace

std::string runtime_of(const Trial& trial) {
  return trial.worker.name + " " + trial.worker.release;
}

std::vector<GroupVerdict> group_verdicts(const Evidence& evidence, const std::vector<Contest>& contests) {
  std::map<std::vector<std::string>, std::vector<std::size_t>> alike;  // contests by their runtimes
  std::map<std::pair<std::string, std::string>, std::size_t> place;    // of a contest, by trial and platform
  for (std::size_t at = 0; at < contests.size(); ++at) {
    std::vector<std::string> releases;
    for (const auto& [runtime, result] : contests[at]) {
      releases.push_back(result->trial.worker.name + "==" + result->trial.worker.release);
      place[{result->trial_id, result->platform}] = at;
    }
    alike[releases].push_back(at);
  }
  std::vector<GroupVerdict> out(contests.size());
  for (const auto& [releases, chosen] : alike) {
    const auto material = lockstep_rows_of(evidence, contests, chosen);
    if (releases.size() < 2 || material.rows.empty()) continue;
    std::vector<compare::Selector> sides;
    for (const auto& release : releases) {
      sides.emplace_back(release, std::vector<store::CampaignRow>{}, material.trials);
    }
    for (const auto& family : compare::compare_all(material, sides, compare::FamilyReference::fastest).all) {
      const auto& side = family.sides.front().side;
      if (is_by_groups(family)) out[place.at({side.trial_id, side.platform})] = group_verdict_of(family);
    }
  }
  return out;
}

}  // namespace assay::report
