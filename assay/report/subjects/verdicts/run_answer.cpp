#include "assay/report/subjects/verdicts/run_answer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/compare/families.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/interval.hpp"

namespace assay::report {
namespace {

constexpr std::size_t kMostAnswerSides = 8;  // beyond that, lines below a table help nobody

bool is_one_workload(const std::vector<store::TrialRow>& trials) {
  return std::all_of(trials.begin(), trials.end(), [&](const store::TrialRow& row) {
    return to_json(row.trial.workload) == to_json(trials.front().trial.workload);
  });
}

/// What tells the trials apart: their settings, or their workers where those are the same.
std::string name_of_side(const Trial& trial, const Trial& other) {
  const auto worker = trial.worker.name + " " + trial.worker.release;
  if (worker == other.worker.name + " " + other.worker.release) return conditions(trial);
  return conditions(trial) == conditions(other) ? worker : worker + ", " + conditions(trial);
}

/// "intra_op=2: 45.0 % less time than intra_op=1 (43.1 to 46.8 %), proved"; empty where runs are too few to say.
std::string verdict_line(const compare::Comparison& c) {
  const auto enough = static_cast<std::int64_t>(stats::fewest_for_interval(0.95));
  if (!c.ratio || !c.ratio_interval || std::min(c.a.runs, c.b.runs) < enough) return "";
  const bool slower = *c.ratio > 1;
  const auto percent = [](double ratio) { return 100 * std::fabs(ratio - 1); };
  const auto second = fit(name_of_side(c.b.trial, c.a.trial), 100);
  const auto first = fit(name_of_side(c.a.trial, c.b.trial), 100);
  if (c.verdict == compare::Verdict::no_difference || c.verdict == compare::Verdict::undecided) {
    return fmt::format("{}: no proved difference to {}: {:+.1f} % ({:+.1f} to {:+.1f} %)", second, first,
                       100 * (*c.ratio - 1), 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1));
  }
  const auto [low, high] = std::minmax({percent(c.ratio_interval->low), percent(c.ratio_interval->high)});
  return fmt::format("{}: {:.1f} % {} time than {} ({:.1f} to {:.1f} %), proved", second, percent(*c.ratio),
                     slower ? "more" : "less", first, low, high);
}

bool was_disturbed(const Result& result) {
  return result.ok > 0 && result.untrusted == result.ok;
}

/// " (neighbours, steal)": what disturbed these runs.
std::string reasons_of(const std::vector<Result>& results) {
  std::set<std::string> codes;
  for (const auto& result : results) {
    for (const auto& reason : result.details.reasons) {
      if (reason.passing) codes.insert(reason.code);
    }
  }
  return codes.empty() ? "" : fmt::format(" ({})", fmt::join(codes, ", "));
}

/// Whether the campaign is one trial by default settings, whose worker follows a number of threads.
bool is_open_to_threads(const plan::Campaign& campaign, const plan::Catalog& catalog) {
  if (campaign.trials.size() != 1) return false;
  const auto& trial = campaign.trials.front();
  const auto* worker = catalog.find(trial.worker);
  if (worker == nullptr || trial.workload.command || title(trial.settings) != title(Settings{})) return false;
  return std::find(worker->settings.begin(), worker->settings.end(), "intra_op") != worker->settings.end();
}

}  // namespace

Document run_verdicts(const compare::Material& material) {
  Document out;
  const auto& trials = material.trials;
  if (trials.size() < 2 || trials.size() > kMostAnswerSides || !is_one_workload(trials)) return out;
  std::vector<compare::Selector> sides;
  for (const auto& row : trials) sides.emplace_back("trial:" + row.id, std::vector<store::CampaignRow>{}, trials);
  for (const auto& family : compare::compare_all(material, sides, compare::FamilyReference::first).all) {
    for (const auto& pair : family.pairs) {
      if (pair.first != 0) continue;
      if (auto line = verdict_line(pair.comparison); !line.empty()) out.paragraph(std::move(line));
    }
  }
  return out;
}

std::string next_command(const plan::Campaign& campaign, const plan::Catalog& catalog,
                         const std::vector<std::string>& words, const std::vector<Result>& results,
                         const CpuRoom& room) {
  if (!results.empty() && std::all_of(results.begin(), results.end(), was_disturbed)) {
    return fmt::format("assay: every run was disturbed{}, so that times may be too long\nNext: assay doctor\n",
                       reasons_of(results));
  }
  if (!is_open_to_threads(campaign, catalog) || room.cpus < 2) return "";
  std::string command = "assay";
  for (const auto& word : words) {
    if (word != "--again") command += " " + shell_word(word);
  }
  if (!room.quota || *room.quota >= static_cast<double>(room.cpus)) {
    return fmt::format("Next: {} --threads 1,{}\n", command, room.cpus);
  }
  return fmt::format(
      "assay: a quota allows {:.4g} of {} CPUs; threads beyond it stop each other\nNext: {} --threads {}\n",
      *room.quota, room.cpus, command, std::max<std::int64_t>(1, static_cast<std::int64_t>(*room.quota)));
}

}  // namespace assay::report
