#include <algorithm>
#include <iterator>
#include <set>

#include "assay/report/pictures/naming.hpp"
#include "assay/report/renderers/html.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/subjects/verdicts/comparison.hpp"
#include "assay/report/subjects/verdicts/families.hpp"

namespace assay::report::site {
namespace {

constexpr std::int64_t kMostRunsCompared = 100'000;  ///< of both sides: they are in memory at once
constexpr std::size_t kMostSides = 12;               ///< of a lock-step campaign: every two are compared

/// Runs of the campaign that was read last: it is mostly what the next one is compared with.
struct ReadRuns {
  std::string campaign;
  std::vector<store::RunRow> rows;
};

const std::vector<store::RunRow>& runs_of(const Context& context, const ListedCampaign& campaign, ReadRuns& last) {
  if (last.campaign != campaign.row.id) last = {campaign.row.id, context.store.runs({.campaign = campaign.row.id})};
  return last.rows;
}

std::vector<store::TrialRow> trials_of(const Context& context, const ListedCampaign& campaign) {
  std::vector<store::TrialRow> trials;
  for (const auto index : campaign.trials) trials.push_back(context.catalogue.trials[index]);
  return trials;
}

bool is_large(const ListedCampaign& campaign) {
  return campaign.row.progress.done > kMostRunsCompared;
}

/// Of a large campaign trial by trial, so that memory stays that of one.
std::vector<Result> results_in(const Context& context, const ListedCampaign& campaign, ReadRuns& last) {
  if (!is_large(campaign))
    return results_of_campaign(campaign.row, trials_of(context, campaign), runs_of(context, campaign, last));
  std::vector<Result> results;
  for (const auto& trial : trials_of(context, campaign)) {
    const auto rows = context.store.runs({.campaign = campaign.row.id, .trial = trial.id});
    auto of_trial = results_of_campaign(campaign.row, {trial}, rows);
    std::move(of_trial.begin(), of_trial.end(), std::back_inserter(results));
  }
  return results;
}

/// How many comparisons had which verdict.
struct VerdictCounts {
  std::int64_t slower = 0;
  std::int64_t faster = 0;
  std::int64_t same = 0;
  std::int64_t undecided = 0;

  void add(compare::Verdict verdict) {
    switch (verdict) {
      case compare::Verdict::slower:
        ++slower;
        break;
      case compare::Verdict::faster:
        ++faster;
        break;
      case compare::Verdict::no_difference:
        ++same;
        break;
      case compare::Verdict::undecided:
        ++undecided;
        break;
    }
  }
  std::string words() const {
    return fmt::format("{} slower, {} faster, {} without a difference, {} undecided", slower, faster, same, undecided);
  }
};

/// What is proved comes first, and the rest only as far as a page holds it.
void shorten(std::vector<compare::Comparison>& all) {
  std::stable_partition(all.begin(), all.end(), [](const auto& one) {
    return one.verdict == compare::Verdict::slower || one.verdict == compare::Verdict::faster;
  });
  if (all.size() > kMostRowsOfAPage) all.resize(kMostRowsOfAPage);
}

void add_comparison(ComparisonData data, PageWriter& page, VerdictCounts& counts) {
  for (const auto& one : data.comparisons.all) counts.add(one.verdict);
  const auto all = data.comparisons.all.size();
  shorten(data.comparisons.all);
  page.html(as_html(comparison_document(data)));
  say_left_out(page, data.comparisons.all.size(), all, "`assay compare` has every one.");
}

compare::Material material_of(const Context& context, const ListedCampaign& campaign, ReadRuns& last) {
  return {trials_of(context, campaign), runs_of(context, campaign, last), context.calibrations};
}

/// The trials of a lock-step campaign with each other.
bool add_groups(const Context& context, const ListedCampaign& campaign, ReadRuns& last, PageWriter& page,
                VerdictCounts& counts) {
  if (!campaign.row.lockstep || campaign.trials.size() < 2 || campaign.trials.size() > kMostSides) return false;
  const auto material = material_of(context, campaign, last);
  std::vector<compare::Selector> sides;
  std::vector<Named> named;
  for (const auto& trial : material.trials) {
    sides.emplace_back("trial:" + trial.id, std::vector<store::CampaignRow>{campaign.row}, material.trials);
    named.push_back({&trial.trial, ""});
  }
  const auto names = distinct_names(named);
  if (sides.size() == 2) {
    ComparisonData data;
    data.a = names[0];
    data.b = names[1];
    data.comparisons = compare::compare(material, sides[0], sides[1]);
    data.calibrated = !context.calibrations.empty();
    if (data.comparisons.all.empty()) return false;
    page.heading("Measured together, in lock-step");
    add_comparison(std::move(data), page, counts);
    return true;
  }
  FamiliesData data;
  data.names = names;
  data.families = compare::compare_all(material, sides, data.reference);
  data.calibrated = !context.calibrations.empty();
  if (data.families.all.empty()) return false;
  for (const auto& family : data.families.all) {
    for (const auto& pair : family.pairs) counts.add(pair.comparison.verdict);
  }
  page.heading("Measured together, in lock-step");
  page.html(as_html(families_document(data)));
  return true;
}

/// The campaign with the one before it that has trials in common.
bool add_against_earlier(const Context& context, const ListedCampaign& campaign, ReadRuns& last, PageWriter& page,
                         VerdictCounts& counts) {
  if (!campaign.earlier) return false;
  const auto& earlier = context.catalogue.campaigns[*campaign.earlier];
  page.heading(fmt::format("Against {}, the campaign before it with the same trials", round_name(earlier.row)));
  page.link("First: ", {round_name(earlier.row), campaign_path(earlier.row.id)});
  if (campaign.row.progress.done + earlier.row.progress.done > kMostRunsCompared) {
    page.paragraph(fmt::format("They have more than {} runs together and are not compared here.", kMostRunsCompared));
    page.html(as_html([&] {
      Document command;
      command.item(fmt::format("assay compare campaign:{} campaign:{}", earlier.row.id.substr(0, 12),
                               campaign.row.id.substr(0, 12)));
      return command;
    }()));
    return true;
  }
  ComparisonData data;
  data.a = round_name(earlier.row);
  data.b = round_name(campaign.row);
  const std::vector<store::CampaignRow> rows{earlier.row, campaign.row};
  ReadRuns before;
  auto material =
      last.campaign == earlier.row.id ? material_of(context, earlier, last) : material_of(context, earlier, before);
  std::set<std::string> known;
  for (const auto& trial : material.trials) known.insert(trial.id);
  for (auto& trial : trials_of(context, campaign)) {
    if (known.insert(trial.id).second) material.trials.push_back(std::move(trial));
  }
  const auto& runs = runs_of(context, campaign, last);
  material.rows.insert(material.rows.end(), runs.begin(), runs.end());
  data.comparisons = compare::compare(material, {"campaign:" + earlier.row.id, rows, material.trials},
                                      {"campaign:" + campaign.row.id, rows, material.trials});
  data.calibrated = !context.calibrations.empty();
  if (data.comparisons.all.empty()) {
    page.paragraph("Nothing to compare: no trial has runs that ended well in both, on one machine.");
  } else {
    add_comparison(std::move(data), page, counts);
  }
  return true;
}

bool write_comparison(Context& context, const ListedCampaign& campaign, ReadRuns& last) {
  PageWriter page(comparison_path(campaign.row.id), fmt::format("Comparison: {}", round_name(campaign.row)));
  page.link("Campaign: ", {round_name(campaign.row), campaign_path(campaign.row.id)});
  VerdictCounts counts;
  // The earlier campaign first: its runs may be those that were read last.
  bool any = add_against_earlier(context, campaign, last, page, counts);
  any = add_groups(context, campaign, last, page, counts) || any;
  if (!any) return false;
  PageEntry entry{page.path(), campaign.made_from, "", 0, page.title()};
  entry.note = counts.words();
  entry.newest_utc = campaign.row.created_utc;
  context.folder.put(entry, page.page(context.title));
  return true;
}

void add_results(const Context& context, const std::vector<Result>& results, PageWriter& page) {
  LinkedTable table{
      "Results", {"measured", "release", "machine", "median step", "95 % interval", "runs that ended well"}, {}};
  Document failures;
  for (const auto& result : results) {
    for (const auto& [kind, failed] : result.failures) {
      failures.item(fmt::format("{} of {} runs {}: {}: {}", failed.runs, result.runs, name_of(kind),
                                title(result.trial), failed.message),
                    1, Tone::bad);
    }
    if (table.rows.size() >= kMostRowsOfAPage) continue;
    table.rows.push_back({{title(result.trial), series_path(context.catalogue.series_of.at(result.trial_id))},
                          {result.trial.worker.release},
                          machine_cell(result.platform),
                          median_cell(result),
                          interval_cell(result),
                          {fmt::format("{} of {}{}", result.ok, result.runs, disturbed_text(result))}});
  }
  page.heading("Results");
  if (results.empty()) page.paragraph("No run has been measured yet.");
  page.table(table);
  say_left_out(page, table.rows.size(), results.size(), "`assay show` has every one.");
  if (failures.empty()) return;
  page.heading("What failed");
  page.html(as_html(failures));
}

std::string campaign_note(const store::CampaignRow& row) {
  const auto& p = row.progress;
  auto note = fmt::format("{} of {} runs done", p.done, p.runs);
  if (p.failed > 0) note += fmt::format(", {} failed", p.failed);
  return note;
}

void write_campaign(Context& context, const ListedCampaign& campaign, ReadRuns& last) {
  const auto& row = campaign.row;
  const bool compared = write_comparison(context, campaign, last);
  PageWriter page(campaign_path(row.id), round_name(row));
  page.paragraph(fmt::format("Campaign {}, planned {} (UTC): {}", row.id.substr(0, 12), minute_of(row.created_utc),
                             campaign_note(row)));
  if (compared) page.link("", {"What is compared with it", comparison_path(row.id)});
  add_results(context, results_in(context, campaign, last), page);
  PageEntry entry{page.path(), campaign.made_from, "", 0, page.title()};
  entry.note = campaign_note(row);
  entry.newest_utc = row.created_utc;
  context.folder.put(entry, page.page(context.title));
}

}  // namespace

void write_campaigns(Context& context) {
  ReadRuns last;
  for (const auto& campaign : context.catalogue.campaigns) {
    const auto comparison = comparison_path(campaign.row.id);
    const auto* known = context.folder.unchanged(campaign_path(campaign.row.id), campaign.made_from);
    const auto* compared = context.folder.unchanged(comparison, campaign.made_from);
    if (known == nullptr || (compared == nullptr && context.folder.known().contains(comparison))) {
      write_campaign(context, campaign, last);
      continue;
    }
    context.folder.keep(*known);
    if (compared != nullptr) context.folder.keep(*compared);
  }
}

}  // namespace assay::report::site
