#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "assay/core/clock.hpp"
#include "assay/core/text/units.hpp"
#include "assay/platform/cgroup.hpp"
#include "assay/platform/cpus.hpp"
#include "assay/platform/machine/machine.hpp"
#include "assay/report/report.hpp"
#include "assay/report/results/results.hpp"
#include "assay/report/results/roofs/missing_peak.hpp"
#include "assay/report/subjects/verdicts/run_answer.hpp"
#include "assay/store/expected_duration.hpp"
#include "cli/command.hpp"
#include "cli/flags/answer.hpp"
#include "cli/flags/campaign_flags.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct RunOptions {
  CampaignFlags campaign;
  WorkFlags work;
  AnswerFlags answer;
  bool dry_run = false;
  bool plan_only = false;
  bool no_peak = false;
  std::string time;
  bool runs_given = false;
  std::vector<std::string> words;  ///< the command as it was given
};

constexpr std::int64_t kFirstRuns = 6;  // of --time: as many as an interval needs

/// Runs that are wanted where nobody says how many: a campaign that is done and has as many as an interval needs has
/// them all, so that what --time measured stands.
std::int64_t runs_wanted(store::Store& store, const plan::Campaign& campaign) {
  std::int64_t round = -1;
  std::int64_t runs = campaign.runs;
  for (const auto& row : store.campaigns()) {
    const auto& p = row.progress;
    if (row.round <= round || row.id != plan::campaign_id(campaign, row.round)) continue;
    round = row.round;
    const auto each = p.runs / static_cast<std::int64_t>(campaign.trials.size());
    const bool done = p.done == p.runs && p.failed == 0;
    runs = done && each >= kFirstRuns ? std::min(campaign.runs, each) : campaign.runs;
  }
  return runs;
}

/// Seconds of steps in a campaign, each run once.
double seconds_of_steps(const plan::Campaign& campaign) {
  const auto runs = static_cast<std::int64_t>(campaign.trials.size()) * campaign.runs;
  return static_cast<double>(runs) * (campaign.measure.seconds + campaign.measure.warmup_seconds);
}

/// What may come on top of the runs asked for: those that are measured again, and what the hardware can do.
void add_extra(const plan::Campaign& campaign, const std::optional<plan::Campaign>& peak, report::Document& out) {
  const auto runs = static_cast<std::int64_t>(campaign.trials.size()) * campaign.runs;
  if (campaign.measure.retries > 0) {
    // The sides of a group share what disturbs them; it is measured again only where one hardly got the CPU.
    out.paragraph(fmt::format("{} are measured again, up to {} times each (--retries): at most {} runs, {:.0f} s",
                              campaign.lockstep ? "Groups in which a run hardly got the CPU" : "Disturbed runs",
                              campaign.measure.retries, runs * (1 + campaign.measure.retries),
                              seconds_of_steps(campaign) * static_cast<double>(1 + campaign.measure.retries)));
  }
  if (peak) {
    out.paragraph(fmt::format("Then {} runs of the best gemm and triad here, {:.0f} s, once for this store (--no-peak)",
                              static_cast<std::int64_t>(peak->trials.size()) * peak->runs, seconds_of_steps(*peak)));
  }
}

report::Document plan_document(const plan::Campaign& campaign, const std::optional<plan::Campaign>& peak,
                               const std::string& store) {
  report::Document out;
  for (const auto& trial : campaign.trials) out.term(trial_id(trial).substr(0, 8), title(trial));
  const auto runs = static_cast<std::int64_t>(campaign.trials.size()) * campaign.runs;
  out.paragraph(fmt::format("{} trials x {} runs = {} runs, at most {:.0f} s of measuring and the time to start them",
                            campaign.trials.size(), campaign.runs, runs, seconds_of_steps(campaign)));
  add_extra(campaign, peak, out);
  if (const auto expected = store::expected_duration(campaign, store)) {
    out.paragraph(fmt::format("By {} earlier runs in {} of these workers: about {}", expected->runs,
                              store::shown_location(store),
                              for_person(static_cast<std::int64_t>(expected->seconds) + 1)));
  }
  return out;
}

json plan_json(const plan::Campaign& campaign) {
  json trials = json::array();
  for (const auto& trial : campaign.trials) {
    trials.push_back({{"trial_id", trial_id(trial)}, {"trial", to_json(trial)}, {"runs", campaign.runs}});
  }
  return {{"name", campaign.name}, {"trials", trials}};
}

report::ReportData report_of(store::Store& store, const std::string& campaign) {
  auto campaigns = store.campaigns();
  std::erase_if(campaigns, [&](const auto& row) { return row.id != campaign; });
  return report::results_of_campaigns(store, std::move(campaigns));
}

/// Measures once per store and platform what the hardware can do, so that results have a share of it.
measure::AgentEnd work_on_peak(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                               const plan::Campaign& campaign, int stop_fd) {
  if (o.no_peak) return measure::AgentEnd::nothing_left;
  const auto peak = report::missing_peak(&store, campaign, catalog);
  if (!peak) return measure::AgentEnd::nothing_left;
  if (!o.work.quiet)
    std::fprintf(stderr,
                 "assay: measuring the best gemm and triad here, once for this store (--no-peak leaves it out)\n");
  std::string id;
  return work(o.work, store, catalog, *peak, false, stop_fd, id);
}

/// What work_on_peak() would measure, by the store as it is now; a store that is not there is not made.
std::optional<plan::Campaign> peak_to_come(const RunOptions& o, const plan::Campaign& campaign,
                                           const plan::Catalog& catalog) {
  if (o.no_peak || !o.time.empty()) return {};
  const auto location = store::locate(o.work.store);
  if (location.is_file && !std::filesystem::exists(location.place)) {
    return report::missing_peak(nullptr, campaign, catalog);
  }
  const auto store = store::open_store(o.work.store, store::Access::read);
  return report::missing_peak(store.get(), campaign, catalog);
}

/// Leaves the runs to agents.
int plan_only(const RunOptions& o, const plan::Campaign& campaign) {
  const auto planned = plan_for_agents(campaign, o.campaign.again, o.work.store);
  report::Document document;
  document.paragraph(fmt::format("campaign {}: {} runs, {} of them new. `assay agent` carries them out.",
                                 planned.campaign.substr(0, 8), planned.runs, planned.new_runs));
  answer(o.answer, document, [&] { return to_json(planned); });
  return 0;
}

/// A campaign that asks for a platform is measured there or not at all.
void check_platform(const plan::Campaign& campaign) {
  const auto& asked = campaign.measure.platform;
  if (!asked) return;
  const auto here = platform::this_machine().id;
  if (here.starts_with(*asked)) return;
  fail(ErrorKind::usage,
       "this is platform {}, and the campaign asks for {}. Plan it with --plan-only, and start `assay "
       "agent` there.",
       here.substr(0, 8), *asked);
}

/// Finds out that every trial is refused for the same reason, as by a misspelt option: then no run needs to be tried,
/// and the reason is the answer.
class CommonRefusal {
 public:
  CommonRefusal(std::size_t trials, StopSources& stop) : trials_(trials), stop_(stop) {}

  bool hear(const Record& record) {
    if (record.outcome.kind != OutcomeKind::refused) {
      others_ = true;
      return false;
    }
    auto& refused = trials_of_[record.outcome.message];
    refused.insert(record.trial);
    if (!others_ && refused.size() == trials_) {
      message_ = record.outcome.message;
      stop_.now();
    }
    return true;
  }

  const std::string& message() const { return message_; }  ///< empty: there is none

 private:
  std::size_t trials_;
  StopSources& stop_;
  std::map<std::string, std::set<std::string>> trials_of_;
  bool others_ = false;
  std::string message_;
};

/// Measures what is planned; with --time and without --runs on and on, a run of every trial at a time, until that is
/// over.
measure::AgentEnd measure_on(const RunOptions& o, store::Store& store, const plan::Catalog& catalog,
                             plan::Campaign& campaign, const std::string& id, StopSources& stop,
                             const ProgressLine::Heard& heard) {
  constexpr std::int64_t kMostRuns = 1000;
  const auto begin = monotonic_ns();
  const bool grows = !o.time.empty() && !o.runs_given && !campaign.measure.stop;
  const double seconds = o.time.empty() ? 0 : parse_seconds(o.time, "--time");
  if (!o.time.empty()) stop.after(seconds);
  const auto before = store.progress(id);
  const bool is_done = before.ready + before.leased == 0;
  auto flags = o.work;
  for (;;) {
    const auto end = work_on_planned(flags, store, catalog, campaign, id, stop.fd(), heard);
    const double spent = static_cast<double>(monotonic_ns() - begin) / 1e9;
    const double each = spent / static_cast<double>(campaign.runs);
    if (end != measure::AgentEnd::nothing_left || !grows || is_done || campaign.runs >= kMostRuns) return end;
    if (spent + 1.5 * each > seconds) return end;  // runs differ, and one that is cut short is lost
    // In few steps, each of which is a plan and lines of progress; short of the end, since runs differ.
    const auto more = std::llround(0.5 * (seconds - spent) / each);
    campaign.runs = std::min<std::int64_t>(kMostRuns, campaign.runs + std::max(1LL, more));
    store.plan(campaign, false);
    flags.says_goes_on = false;
  }
}

/// Says that the numbers are those of an earlier command, and how old they are.
void say_nothing_measured(const report::ReportData& data, store::Store& store, const std::string& id) {
  std::string last;
  for (const auto& row : store.runs({.campaign = id})) last = std::max(last, row.started_utc);
  const auto& progress = data.campaigns.at(0).progress;
  std::fprintf(stderr, "assay: nothing measured: the same workload was measured %s; --again measures it again\n",
               progress.done == 0 ? "before" : time_ago(last).c_str());
}

compare::Material material_of(store::Store& store, const std::string& campaign) {
  const store::Filter filter{.campaign = campaign};
  return {.trials = store.trials(filter), .rows = store.runs(filter), .calibrations = compare::calibrations(store)};
}

report::CpuRoom cpu_room() {
  return {static_cast<std::int64_t>(platform::allowed_cpus().size()), platform::read_cgroup_limits().cpus};
}

/// Results, which of the given settings do nothing, and what is proved.
report::Document run_document(const report::ReportData& data, const plan::Catalog& catalog,
                              const plan::Campaign& campaign, const compare::Material& material) {
  auto out = report::results_document(data);
  for (const auto& line : plan::inert_settings(catalog, campaign.trials)) out.item(line);
  out.append(report::run_verdicts(material));
  return out;
}

/// Failed runs count until later ones have made up for them.
bool lacks_runs(const plan::Campaign& campaign, store::Store& store, const std::string& id) {
  std::map<std::string, std::int64_t> good;
  for (const auto& row : store.runs({.campaign = id})) good[row.trial] += row.outcome == OutcomeKind::ok ? 1 : 0;
  return campaign.measure.stop || std::any_of(campaign.trials.begin(), campaign.trials.end(), [&](const Trial& trial) {
           return good[trial_id(trial)] < campaign.runs;
         });
}

int run(RunOptions o, const CLI::App& command) {
  o.runs_given = command.count("--runs") > 0;
  if (!o.time.empty() && !o.runs_given) o.campaign.runs = kFirstRuns;
  o.work.measure_again = o.time.empty() || command.count("--retries") > 0;
  const auto catalog = catalog_at_hand();
  auto campaign = make_campaign(o.campaign, catalog, command);
  if (o.dry_run) {
    if (!o.work.measure_again) campaign.measure.retries = 0;
    const auto document = plan_document(campaign, peak_to_come(o, campaign, catalog), o.work.store);
    answer(o.answer, document, [&] { return plan_json(campaign); });
    return 0;
  }
  if (o.plan_only) return plan_only(o, campaign);
  check_platform(campaign);
  StopSources stop;
  const auto store = store::open_store(o.work.store, store::Access::create);
  const bool may_stand = !o.runs_given && o.time.empty() && !o.campaign.again && !campaign.measure.stop;
  if (may_stand && !is_campaign_file(o.campaign.what)) campaign.runs = runs_wanted(*store, campaign);
  const auto id = plan_with_failed(*store, campaign, o.campaign.again);
  const auto before = store->progress(id);
  CommonRefusal refusal(campaign.trials.size(), stop);
  auto end =
      measure_on(o, *store, catalog, campaign, id, stop, [&](const Record& record) { return refusal.hear(record); });
  if (!refusal.message().empty() && before.done == 0) {
    try {
      store->drop(id);
    } catch (const Error&) {  // a role that may not remove what it planned: the refusal is still the answer
    }
    fail(ErrorKind::usage, "{}", refusal.message());
  }
  if (end == measure::AgentEnd::nothing_left && o.time.empty()) {
    end = work_on_peak(o, *store, catalog, campaign, stop.fd());
  }
  const auto data = report_of(*store, id);
  answer(
      o.answer, [&] { return run_document(data, catalog, campaign, material_of(*store, id)); },
      [&] { return report::json_report(data); });
  const auto& progress = data.campaigns.at(0).progress;
  const bool measured = progress.done > before.done;
  if (before.done > 0 && !measured && progress.ready + progress.leased == 0) say_nothing_measured(data, *store, id);
  if (end == measure::AgentEnd::stopped && (stop.by_signal() || progress.done < progress.runs)) {
    std::fprintf(stderr, "assay: %s with %ld of %ld runs done; the same command goes on from here\n",
                 stop.by_signal() ? "stopped" : "the time is over", static_cast<long>(progress.done),
                 static_cast<long>(progress.runs));
    if (stop.by_signal()) return kExitStopped;
  }
  if (measured && progress.failed == 0 && !o.work.quiet && !o.answer.json) {
    std::fputs(report::next_command(campaign, catalog, o.words, data.results, cpu_room()).c_str(), stderr);
  }
  return progress.failed > 0 && lacks_runs(campaign, *store, id) ? kExitFailedRuns : 0;
}

void add_run(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<RunOptions>();
  o->campaign.command = invocation.program;
  o->words = invocation.words;
  add_work_flags(command, o->work);
  add_campaign_flags(command, o->campaign);
  add_answer_flags(command, o->answer);
  command.add_option(
      "--time", o->time,
      "Measure for this long in all, such as 30s or 8h: as many runs as fit, at most --runs if that is given");
  command.add_flag("--dry-run", o->dry_run, "Print the plan and measure nothing");
  command.add_flag("--plan-only", o->plan_only, "Put the runs into the store and leave them to `assay agent`");
  command.add_flag("--no-peak", o->no_peak,
                   "Do not measure the best gemm and triad here, of which results are a share");
  command.footer(
      "Any program: assay run --batch 1,2 -- ./program --size {batch}\n"
      "Placeholders: {batch} {mode} {precision} {seed} {rank} {instance} {threads} {option:NAME}");
  command.callback([o, &command, &invocation] { invocation.exit_code = run(*o, command); });
}

}  // namespace

const Command commands::run{"run", "Plan a campaign and measure it here; the same command goes on where it stopped",
                            add_run};

}  // namespace assay::cli
