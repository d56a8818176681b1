#include <algorithm>
#include <iterator>

#include "assay/compare/history.hpp"
#include "assay/report/markup.hpp"
#include "assay/report/pictures/history.hpp"
#include "assay/report/renderers/html.hpp"
#include "assay/report/results/evidence.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/site/pages.hpp"
#include "assay/report/subjects/history.hpp"
#include "assay/report/table.hpp"

namespace assay::report::site {
namespace {

constexpr std::size_t kMostSeriesDrawn = 12;
constexpr std::size_t kMostPointsListed = 50;

/// What the runs of a series say.
struct SeriesFacts {
  std::vector<Result> newest;             ///< of each trial and machine the newest campaign
  std::vector<std::string> campaigns;     ///< of each of those its id
  std::vector<compare::History> history;  ///< over releases, and over dates
};

/// Of the rows of one trial, which come campaign by campaign: results of the newest campaign on each machine.
void add_newest(const Context& context, const store::TrialRow& trial, const std::vector<store::RunRow>& rows,
                SeriesFacts& facts) {
  std::map<std::size_t, std::vector<store::RunRow>> by_campaign;
  for (const auto& row : rows) {
    const auto found = context.campaign_index.find(row.campaign);
    if (found != context.campaign_index.end()) by_campaign[found->second].push_back(row);
  }
  const auto first = facts.newest.size();
  for (auto it = by_campaign.rbegin(); it != by_campaign.rend(); ++it) {
    const auto& campaign = context.catalogue.campaigns[it->first].row;
    for (auto& result : results_of_campaign(campaign, {trial}, it->second)) {
      const bool known = std::any_of(facts.newest.begin() + static_cast<std::ptrdiff_t>(first), facts.newest.end(),
                                     [&](const auto& one) { return one.platform == result.platform; });
      if (known) continue;
      facts.newest.push_back(std::move(result));
      facts.campaigns.push_back(campaign.id);
    }
  }
}

SeriesFacts facts_of(const Context& context, const ReleaseSeries& series) {
  SeriesFacts facts;
  std::vector<store::TrialRow> trials;
  std::vector<store::RunRow> rows;
  for (const auto index : series.trials) {
    const auto& trial = context.catalogue.trials[index];
    auto of_trial = context.store.runs({.trial = trial.id});
    add_newest(context, trial, of_trial, facts);
    trials.push_back(trial);
    std::move(of_trial.begin(), of_trial.end(), std::back_inserter(rows));
  }
  add_shares(facts.newest, context.roofline);
  for (const auto over : {compare::Over::releases, compare::Over::dates}) {
    compare::HistoryRequest request;
    request.over = over;
    facts.history.push_back(compare::history_of(trials, rows, request));
  }
  return facts;
}

/// The newest change of a series, where it has one.
std::optional<KnownChange> known_change(const compare::HistorySeries& series) {
  if (series.changes.empty()) return {};
  const auto& change = series.changes.back();
  const auto& first = series.points[static_cast<std::size_t>(change.first)];
  return KnownChange{first.started_utc, first.campaign, change.ratio, change.low, change.high};
}

/// Of each machine, the series over dates that was measured last; its change, or that between releases.
std::vector<SeriesStanding> standings_of(const SeriesFacts& facts) {
  std::map<std::string, SeriesStanding> by_platform;
  for (const auto& result : facts.newest) by_platform[result.platform];
  for (const auto& history : facts.history) {
    for (const auto& series : history.series) {
      auto& standing = by_platform[series.platform];
      const auto& newest =
          *std::max_element(series.points.begin(), series.points.end(),
                            [](const auto& a, const auto& b) { return a.started_utc < b.started_utc; });
      const auto change = known_change(series);
      if (history.over == compare::Over::dates) {
        standing.points += static_cast<std::int64_t>(series.points.size());
        if (newest.started_utc >= standing.newest_utc) {
          standing.newest_utc = newest.started_utc;
          standing.median_ns = newest.median_ns;
        }
      }
      if (change && (!standing.change || change->since_utc >= standing.change->since_utc)) standing.change = change;
    }
  }
  std::vector<SeriesStanding> out;
  for (auto& [platform, standing] : by_platform) {
    standing.platform = platform;
    out.push_back(std::move(standing));
  }
  return out;
}

/// Rows of results, each with what it is called in this table.
class ResultRows {
 public:
  explicit ResultRows(const Context& context, std::string first_column) : context_(context) {
    table_ = {"Results",
              {std::move(first_column), "release", "machine", "median step", "95 % interval", "samples/s", "of peak",
               "runs that ended well", "newest campaign"},
              {}};
  }
  void add(LinkedCell name, const Result& result, const std::string& campaign) {
    if (++all_ > kMostRowsOfAPage) return;
    table_.rows.push_back({std::move(name),
                           {result.trial.worker.release},
                           machine_cell(result.platform),
                           median_cell(result),
                           interval_cell(result),
                           {result.samples_per_second ? short_number(*result.samples_per_second) : "-"},
                           {share_or_dash(result.share_of_peak)},
                           {fmt::format("{} of {}{}", result.ok, result.runs, disturbed_text(result))},
                           campaign_cell(context_, campaign)});
  }
  void write(PageWriter& page) const {
    page.table(table_);
    say_left_out(page, table_.rows.size(), all_, "`assay show --all` has every one.");
  }

 private:
  const Context& context_;
  LinkedTable table_;
  std::size_t all_ = 0;
};

void add_failures(const SeriesFacts& facts, PageWriter& page) {
  Document failures;
  for (const auto& result : facts.newest) {
    for (const auto& [kind, failed] : result.failures) {
      failures.item(fmt::format("{} of {} runs {}: {}", failed.runs, result.runs, name_of(kind), failed.message), 1,
                    Tone::bad);
    }
  }
  if (failures.empty()) return;
  page.heading("What failed");
  page.html(as_html(failures));
}

void add_points(const Context& context, const compare::HistorySeries& series, PageWriter& page) {
  LinkedTable table{"Points", {"measured at (UTC)", "release", "median step", "runs", "campaign", "remark"}, {}};
  const auto shown = std::min(series.points.size(), kMostPointsListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& point = series.points[series.points.size() - 1 - i];
    table.rows.push_back({{minute_of(point.started_utc)},
                          {point.release},
                          {duration_or_dash(point.median_ns)},
                          {std::to_string(point.runs)},
                          campaign_cell(context, point.campaign),
                          {point.set_aside ? "set aside as an outlier" : ""}});
  }
  page.table(table);
  say_left_out(page, shown, series.points.size(), "`assay history --json` has every point.");
}

void add_history(const Context& context, const compare::History& history, PageWriter& page) {
  std::size_t drawn = 0;
  const auto wanted = static_cast<std::size_t>(std::count_if(
      history.series.begin(), history.series.end(), [](const auto& series) { return series.points.size() > 1; }));
  for (auto series = history.series.rbegin(); series != history.series.rend(); ++series) {
    if (series->points.size() < 2 || ++drawn > kMostSeriesDrawn) continue;
    if (drawn == 1) page.heading(fmt::format("Over {}", name_of(history.over)));
    auto picture = history_picture(*series, history.over);
    picture.id = fmt::format("history-{}-{}", name_of(history.over), drawn);
    picture.command = fmt::format("assay history --over {} --trial {}{}", name_of(history.over),
                                  series->points.back().trial.substr(0, 12),
                                  context.store_name == "assay.db" ? "" : " --store " + shell_word(context.store_name));
    fit_axes(picture);
    page.pictures({picture});
    compare::History one;
    one.over = history.over;
    one.least = history.least;
    one.series = {*series};
    page.html(as_html(history_document(one)));
    add_points(context, *series, page);
  }
  if (drawn > 0) say_left_out(page, std::min(drawn, kMostSeriesDrawn), wanted, "`assay history` has every series.");
}

std::string newest_of(const std::vector<SeriesStanding>& standings) {
  std::string newest;
  for (const auto& standing : standings) newest = std::max(newest, standing.newest_utc);
  return newest;
}

std::string series_note(const std::vector<SeriesStanding>& standings) {
  const SeriesStanding* newest = nullptr;
  for (const auto& standing : standings) {
    if (newest == nullptr || standing.newest_utc > newest->newest_utc) newest = &standing;
  }
  if (newest == nullptr || !newest->median_ns) return "no run gave a time";
  auto note = duration_or_dash(newest->median_ns);
  if (newest->change) note += ", " + change_words(*newest->change);
  return note;
}

PageEntry write_series(Context& context, const WorkloadGroup& workload, const ReleaseSeries& series,
                       const SeriesFacts& facts) {
  PageWriter page(series_path(series.id), series.title);
  page.link("Workload: ", {workload.title, workload_path(workload.id)});
  page.heading("Newest results");
  ResultRows rows(context, "trial");
  for (std::size_t i = 0; i < facts.newest.size(); ++i)
    rows.add({facts.newest[i].trial_id.substr(0, 8)}, facts.newest[i], facts.campaigns[i]);
  if (facts.newest.empty()) page.paragraph("No run has been measured yet.");
  rows.write(page);
  for (const auto& history : facts.history) add_history(context, history, page);
  add_failures(facts, page);
  PageEntry entry{page.path(), series.made_from, "", 0, series.title};
  entry.standings = standings_of(facts);
  entry.newest_utc = newest_of(entry.standings);
  entry.note = series_note(entry.standings);
  context.folder.put(entry, page.page(context.title));
  return entry;
}

/// Whether every page of a workload is there and was made from the same.
bool is_unchanged(const Context& context, const WorkloadGroup& workload) {
  return context.folder.unchanged(workload_path(workload.id), workload.made_from) != nullptr &&
         std::all_of(workload.series.begin(), workload.series.end(), [&](const auto& series) {
           return context.folder.unchanged(series_path(series.id), series.made_from) != nullptr;
         });
}

void keep_workload(Context& context, const WorkloadGroup& workload) {
  context.folder.keep(*context.folder.unchanged(workload_path(workload.id), workload.made_from));
  for (const auto& series : workload.series)
    context.folder.keep(*context.folder.unchanged(series_path(series.id), series.made_from));
}

/// Of results a workload keeps until its page is written, what no picture of it shows is let go.
void lighten(Result& result) {
  result.run_medians_ns = {};
  result.details.effective.clear();
}

void add_changes(const std::vector<std::pair<const ReleaseSeries*, PageEntry>>& all, PageWriter& page) {
  LinkedTable table{"Changes", {"what", "machine", "change", "95 % interval"}, {}};
  std::size_t changes = 0;
  for (const auto& [series, entry] : all) {
    for (const auto& standing : entry.standings) {
      if (!standing.change || ++changes > kMostRowsOfAPage) continue;
      table.rows.push_back({{series->title, entry.path},
                            machine_cell(standing.platform),
                            {change_words(*standing.change)},
                            {fmt::format("{:+.1f} % to {:+.1f} %", 100 * (standing.change->low - 1),
                                         100 * (standing.change->high - 1))}});
    }
  }
  if (changes == 0) return;
  page.heading("Newest changes");
  page.table(table);
  say_left_out(page, table.rows.size(), changes, "`assay history` has every one.");
}

}  // namespace

void write_workload(Context& context, const WorkloadGroup& workload) {
  if (is_unchanged(context, workload)) return keep_workload(context, workload);
  PageWriter page(workload_path(workload.id), workload.title);
  ResultRows rows(context, "measured");
  Evidence evidence;
  evidence.store = context.store_name;
  evidence.roofline = context.roofline;
  std::vector<std::pair<const ReleaseSeries*, PageEntry>> entries;
  std::string newest;
  for (const auto& series : workload.series) {
    auto facts = facts_of(context, series);
    entries.emplace_back(&series, write_series(context, workload, series, facts));
    newest = std::max(newest, entries.back().second.newest_utc);
    for (std::size_t i = 0; i < facts.newest.size(); ++i) {
      rows.add({series.title, series_path(series.id)}, facts.newest[i], facts.campaigns[i]);
      lighten(facts.newest[i]);
      evidence.results.push_back(std::move(facts.newest[i]));
    }
  }
  add_changes(entries, page);
  page.heading("Newest results");
  rows.write(page);
  const auto pictures = pictures_of(evidence);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    if (i == 0 || pictures[i - 1].question != pictures[i].question) page.heading(pictures[i].question);
    page.pictures({pictures[i]});
  }
  PageEntry entry{page.path(), workload.made_from, "", 0, workload.title};
  entry.note = workload.series.size() == 1 ? "1 series" : fmt::format("{} series", workload.series.size());
  entry.newest_utc = newest;
  context.folder.put(entry, page.page(context.title));
}

}  // namespace assay::report::site
