#include "assay/model/links/link_points.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "assay/compare/runs.hpp"

namespace assay::model {
namespace {

constexpr std::int64_t kDefaultBytes = std::int64_t{1} << 20;  // of the option `bytes`, in every worker

struct CollectiveTrial {
  LinkPoint point;    ///< without a time
  Trial conditions;   ///< the trial without what a link is fitted over: collective, bytes and ranks
  std::string group;  ///< id of `conditions`
};

std::optional<CollectiveTrial> collective_trial(const Trial& trial) {
  const auto& names = EnumNames<Collective>::names;
  const auto name = std::find(names.begin(), names.end(), trial.workload.network);
  if (name == names.end() || trial.placement.ranks < 2) return std::nullopt;
  CollectiveTrial found{{}, trial, ""};
  auto& options = found.conditions.workload.options;
  std::int64_t bytes = kDefaultBytes;
  if (const auto option = options.find("bytes"); option != options.end()) {
    const auto* value = std::get_if<std::int64_t>(&option->second);
    if (value == nullptr) return std::nullopt;
    bytes = *value;
    options.erase(option);
  }
  found.point.collective = static_cast<Collective>(name - names.begin());
  found.point.ranks = trial.placement.ranks;
  found.point.bytes = static_cast<double>(bytes);
  found.conditions.workload.network = "collectives";
  found.conditions.placement.ranks = 1;
  found.group = trial_id(found.conditions);
  return found;
}

std::string source_title(const Trial& conditions) {
  auto text = fmt::format("{} {}", conditions.worker.name, conditions.worker.release);
  for (const auto& [name, value] : conditions.workload.options) {
    text += fmt::format(", {}={}", name, plain_text(mapping::scalar_to_json(value)));
  }
  const auto rest = assay::conditions(conditions);
  return rest.empty() ? text : text + ", " + rest;
}

}  // namespace

std::vector<LinkPoints> link_points(const std::vector<store::TrialRow>& trials,
                                    const std::vector<store::RunRow>& runs) {
  std::map<std::string, CollectiveTrial> collectives;
  for (const auto& row : trials) {
    if (auto found = collective_trial(row.trial)) collectives.emplace(row.id, std::move(*found));
  }
  const auto counts = [](const store::RunRow& run) { return run.counted && compare::gave_time(run); };
  std::map<std::string, bool> has_trusted;  // trial and platform
  for (const auto& run : runs) {
    if (counts(run) && run.trusted) has_trusted[run.trial + run.platform] = true;
  }
  std::map<std::string, LinkPoints> groups;
  for (const auto& run : runs) {
    const auto trial = collectives.find(run.trial);
    if (trial == collectives.end() || !counts(run)) continue;
    if (!run.trusted && has_trusted.count(run.trial + run.platform) > 0) continue;
    auto& group = groups[trial->second.group + run.platform];
    if (group.source.empty()) group.source = source_title(trial->second.conditions);
    group.platform = run.platform;
    auto point = trial->second.point;
    point.seconds = static_cast<double>(*run.summary.median_ns) / 1e9;
    point.run = fmt::format("{}/{}/{}", run.campaign, run.trial, run.index);
    group.points.push_back(std::move(point));
    group.disturbed += run.trusted ? 0 : 1;
  }
  std::vector<LinkPoints> found;
  for (auto& entry : groups) found.push_back(std::move(entry.second));
  return found;
}

}  // namespace assay::model
