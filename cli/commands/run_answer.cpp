#include "cli/commands/run_answer.hpp"

#include <algorithm>
#include <cmath>

#include "assay/compare/families.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/interval.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kMostSides = 8;  // beyond that, lines below a table help nobody

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
  const auto second = report::fit(name_of_side(c.b.trial, c.a.trial), 100);
  const auto first = report::fit(name_of_side(c.a.trial, c.b.trial), 100);
  if (c.verdict == compare::Verdict::no_difference || c.verdict == compare::Verdict::undecided) {
    return fmt::format("{}: no proved difference to {}: {:+.1f} % ({:+.1f} to {:+.1f} %)\n", second, first,
                       100 * (*c.ratio - 1), 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1));
  }
  const auto [low, high] = std::minmax({percent(c.ratio_interval->low), percent(c.ratio_interval->high)});
  return fmt::format("{}: {:.1f} % {} time than {} ({:.1f} to {:.1f} %), proved\n", second, percent(*c.ratio),
                     slower ? "more" : "less", first, low, high);
}

}  // namespace

std::string verdicts_text(store::Store& store, const std::string& campaign) {
  compare::Material material;
  material.trials = store.trials({.campaign = campaign});
  if (material.trials.size() < 2 || material.trials.size() > kMostSides || !is_one_workload(material.trials)) return "";
  material.rows = store.runs({.campaign = campaign});
  material.calibrations = compare::calibrations(store);
  std::vector<compare::Selector> sides;
  for (const auto& row : material.trials) sides.emplace_back("trial:" + row.id, store.campaigns(), material.trials);
  std::string out;
  for (const auto& family : compare::compare_all(material, sides, compare::FamilyReference::first).all) {
    for (const auto& pair : family.pairs) {
      if (pair.first == 0) out += verdict_line(pair.comparison);
    }
  }
  return out;
}

std::string next_command(const plan::Campaign& campaign, const plan::Catalog& catalog,
                         const std::vector<std::string>& words) {
  const auto cpus = platform::allowed_cpus().size();
  if (campaign.trials.size() != 1 || cpus < 2) return "";
  const auto& trial = campaign.trials.front();
  const auto* worker = catalog.find(trial.worker);
  if (worker == nullptr || trial.workload.command || title(trial.settings) != title(Settings{})) return "";
  if (std::find(worker->settings.begin(), worker->settings.end(), "intra_op") == worker->settings.end()) return "";
  std::string out = "assay";
  for (const auto& word : words) {
    if (word != "--again") out += " " + report::shell_word(word);
  }
  return fmt::format("{} --threads 1,{}", out, cpus);
}

}  // namespace assay::cli
