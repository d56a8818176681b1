#include "assay/report/subjects/fleet.hpp"

#include <algorithm>
#include <map>

#include "assay/report/table.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostFailures = 5;

std::vector<FailedRuns> failures_of(const std::vector<store::RunRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  for (const auto& row : rows) {
    if (row.counted && row.outcome != OutcomeKind::ok) ++counts[{name_of(row.outcome), row.message}];
  }
  std::vector<FailedRuns> failures;
  for (const auto& [what, runs] : counts) failures.push_back({what.first, what.second, runs});
  std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.runs > b.runs; });
  return failures;
}

std::optional<double> seconds_left(const Fleet& fleet, const std::vector<store::RunRow>& rows) {
  std::vector<double> seconds;
  for (const auto& row : rows) seconds.push_back(1e-9 * static_cast<double>(row.duration_ns));
  if (seconds.empty() || fleet.at_work.empty()) return {};
  const auto agents = static_cast<double>(fleet.at_work.size());
  return stats::median(seconds) * static_cast<double>(fleet.runs - fleet.done) / agents;
}

std::string head_of_fleet(const Fleet& fleet) {
  std::string out =
      fmt::format("{} {}: {} of {} runs done", fleet.name, fleet.campaign.substr(0, 8), fleet.done, fleet.runs);
  if (fleet.failed > 0) out += fmt::format(", {} of them failed", fleet.failed);
  if (fleet.set_aside > 0) out += fmt::format(", {} measured again", fleet.set_aside);
  out += fmt::format("; {} running, {} ready", fleet.at_work.size(), fleet.ready);
  if (fleet.seconds_left) out += fmt::format("; about {:.0f} s left", *fleet.seconds_left);
  return out;
}

std::string state_of(const Submission& one) {
  if (!one.pending || !one.running) return "Slurm cannot be asked here";
  std::string text = fmt::format("{} running, {} pending", *one.running, *one.pending);
  if (one.why_pending) text += fmt::format(" ({})", *one.why_pending);
  const std::int64_t gone = one.agents - *one.running - *one.pending;
  if (gone > 0) text += fmt::format(", {} ended or unknown to Slurm", gone);
  return text;
}

}  // namespace

Fleet fleet_of(const store::CampaignRow& campaign, const std::vector<store::HeldRun>& held,
               const std::vector<store::TrialRow>& trials, const std::vector<store::RunRow>& rows) {
  const auto& progress = campaign.progress;
  Fleet fleet{campaign.id,
              campaign.name,
              progress.runs,
              progress.ready,
              progress.done,
              progress.failed,
              progress.set_aside,
              {},
              {},
              {},
              {}};
  std::map<std::string, std::string> titles;
  for (const auto& trial : trials) titles[trial.id] = title(trial.trial);
  for (const auto& one : held) {
    fleet.at_work.push_back(
        {one.host, one.pid, one.trial, titles[one.trial], one.index, one.attempt, one.lease_seconds});
  }
  fleet.failures = failures_of(rows);
  fleet.seconds_left = seconds_left(fleet, rows);
  return fleet;
}

Document fleet_document(const Fleet& fleet) {
  Document out;
  out.paragraph(fit(head_of_fleet(fleet), 400));
  if (!fleet.at_work.empty()) {
    Table table({{"host"},
                 {"process", Table::Align::right},
                 {"run", Table::Align::right},
                 {"lease", Table::Align::right, 1},
                 {"trial"}});
    for (const auto& one : fleet.at_work) {
      table.add({one.host, std::to_string(one.pid), std::to_string(one.index),
                 one.lease_seconds > 0 ? fmt::format("{:.0f} s", one.lease_seconds) : "ran out", one.title});
    }
    out.gap();
    out.add(std::move(table));
  }
  if (!fleet.submissions.empty()) {
    Table table({{"submission"}, {"agents", Table::Align::right}, {"in Slurm"}, {"submitted"}, {"logs"}});
    for (const auto& one : fleet.submissions) {
      table.add({one.id, std::to_string(one.agents), state_of(one), one.submitted_utc, one.logs});
    }
    out.gap();
    out.add(std::move(table));
  }
  if (!fleet.failures.empty()) {
    Table table({{"failed", Table::Align::right}, {"how"}, {"why"}});
    for (std::size_t i = 0; i < std::min(kMostFailures, fleet.failures.size()); ++i) {
      const auto& one = fleet.failures[i];
      table.add({std::to_string(one.runs), one.outcome, one.message});
    }
    out.gap();
    out.add(std::move(table));
  }
  return out;
}

}  // namespace assay::report
