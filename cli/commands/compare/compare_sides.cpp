#include "cli/commands/compare/compare_sides.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "assay/compare/selector.hpp"
#include "assay/plan/network_source.hpp"
#include "assay/store/location.hpp"
#include "cli/command.hpp"

namespace assay::cli {
namespace {

/// A setting of one side may not be left to the plan, and a flag must not say what a side says.
std::vector<Trial> trials_of(const CompareOptions& o, const std::string& side, const plan::Catalog& catalog) {
  auto flags = o.plan;
  const auto [axis, text] = compare::axis_of(side);
  for (const auto& written : flags.axes) {
    if (written.first == axis) {
      fail(ErrorKind::usage, "{} is given by the sides and by a flag. Leave out the flag.", shown(written.first));
    }
  }
  if (axis.starts_with("settings.env.")) {
    flags.env.push_back(axis.substr(std::string("settings.env.").size()) + "=" + text);
  } else {
    flags.axes.emplace_back(axis, text);
  }
  return plan::expand({sweep_of(flags)}, o.runs, catalog);
}

/// What a trial has in common with its partners in other campaigns.
std::string common_part(const Trial& trial) {
  auto whole = to_json(trial);
  compare::take_off_own_code(trial, whole);
  return whole.dump();
}

/// Before hours of measuring: what a file held once cannot be measured when it holds something else.
void check_unchanged(const Trial& trial, const std::string& side, const plan::Catalog& catalog) {
  const auto* worker = catalog.find(trial.worker);
  if (worker == nullptr) fail(ErrorKind::usage, "--run: the worker of {} is not installed here.", title(trial));
  try {
    plan::planned_source(*worker, trial.workload);
  } catch (const Error&) {
    fail(ErrorKind::usage,
         "--run: {} has changed since {} was measured. Keep both, such as ./before and ./after, and measure each; or "
         "compare what was measured, without --run.",
         shown(title(trial.workload)), shown(side));
  }
}

}  // namespace

std::vector<std::string> sides_of(const CompareOptions& o) {
  std::vector<std::string> sides{o.a};
  if (!o.b.empty()) sides.push_back(o.b);
  sides.insert(sides.end(), o.others.begin(), o.others.end());
  return sides;
}

std::vector<std::string> campaign_sides(const CompareOptions& o, const plan::Catalog& catalog) {
  const auto location = store::locate(o.work.store);
  if (location.is_file && !std::filesystem::exists(location.place)) return {};
  const auto sides = sides_of(o);
  for (const auto& worker : catalog.workers()) {
    if (std::find(sides.begin(), sides.end(), worker.name) != sides.end()) return {};
  }
  const auto store = store::open_store(o.work.store, store::Access::read);
  const auto rows = store->campaigns();
  std::vector<std::string> ids;
  for (const auto& side : sides) {
    const auto found = compare::find_campaign(side, rows);
    if (!found) return {};
    ids.push_back(found->id);
  }
  return ids;
}

std::vector<TrialGroup> stored_groups(const CompareOptions& o, const std::vector<std::string>& campaigns,
                                      const plan::Catalog& catalog) {
  const auto store = store::open_store(o.work.store, store::Access::read);
  std::vector<std::vector<store::TrialRow>> trials;
  for (const auto& id : campaigns) trials.push_back(store->trials({.campaign = id}));
  const bool single = std::all_of(trials.begin(), trials.end(), [](const auto& of_one) { return of_one.size() == 1; });
  std::vector<TrialGroup> groups;
  for (const auto& first : trials.front()) {
    const auto wanted = common_part(first.trial);
    TrialGroup group;
    std::set<std::string> known;
    for (const auto& of_one : trials) {
      const auto found = std::find_if(of_one.begin(), of_one.end(),
                                      [&](const auto& row) { return single || common_part(row.trial) == wanted; });
      if (found == of_one.end() || !known.insert(found->id).second) break;
      group.push_back(found->trial);
    }
    if (group.size() != trials.size()) continue;
    for (std::size_t i = 0; i < group.size(); ++i) check_unchanged(group[i], sides_of(o)[i], catalog);
    groups.push_back(std::move(group));
  }
  if (groups.empty()) {
    std::vector<std::string> sides;
    for (const auto& side : sides_of(o)) sides.push_back(shown(side));
    fail(ErrorKind::usage,
         "--run: {} have no trials that differ in one thing and could be measured side by side. Where their trials are "
         "the same, `assay compare` without --run compares the measurements.",
         fmt::join(sides, " and "));
  }
  return groups;
}

std::vector<TrialGroup> groups_of(const CompareOptions& o, const plan::Catalog& catalog) {
  std::vector<TrialGroup> groups;
  std::map<std::string, std::string> known;  // trial to the side that has it
  for (const auto& side : sides_of(o)) {
    const auto trials = trials_of(o, side, catalog);
    if (groups.empty()) groups.resize(trials.size());
    if (trials.size() != groups.size()) {
      fail(ErrorKind::usage, "{} gives {} trials and {} gives {}: each needs a partner. Give fewer values in one flag.",
           shown(o.a), groups.size(), shown(side), trials.size());
    }
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const auto [other, is_new] = known.emplace(trial_id(trials[i]), side);
      if (!is_new) {
        fail(ErrorKind::usage, "{} and {} are the same trial. `assay doctor --calibrate` compares one with itself.",
             shown(other->second), shown(side));
      }
      groups[i].push_back(trials[i]);
    }
  }
  return groups;
}

}  // namespace assay::cli
