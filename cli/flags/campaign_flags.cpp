#include "cli/flags/campaign_flags.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "assay/core/text/utf8.hpp"
#include "assay/core/workloads/learning.hpp"
#include "assay/plan/catalog/ability.hpp"
#include "assay/plan/spec.hpp"
#include "assay/plan/sweeps/threads.hpp"
#include "assay/plan/text.hpp"
#include "assay/stats/looks.hpp"

namespace assay::cli {
namespace {

/// Which one measures where nobody says so, of those that can.
constexpr std::array<std::string_view, 9> kPreferred{"pytorch", "onnxruntime", "tensorflow", "jax",   "openvino",
                                                     "mxnet",   "libtorch",    "mpi",        "onednn"};

std::size_t preference(const std::string& worker) {
  const auto* const at = std::find(kPreferred.begin(), kPreferred.end(), worker);
  return static_cast<std::size_t>(at - kPreferred.begin()) + (worker == "fake" ? 1 : 0);
}

/// Installed workers that can measure all of `sweep`, the preferred first; each in its newest release.
std::vector<const plan::WorkerInfo*> able_workers(const plan::TrialSweep& sweep, const plan::Catalog& catalog) {
  std::vector<const plan::WorkerInfo*> able;
  std::set<std::string> seen;
  for (const auto& worker : catalog.workers()) {
    if (!worker.installed() || worker.name == "command" || !seen.insert(worker.name).second) continue;
    auto tried = sweep;
    tried.add("worker", {worker.name, false, ""});
    try {
      static_cast<void>(plan::expand({tried}, 1, catalog));
      able.push_back(&catalog.find(worker.name));
    } catch (const Error&) {
      continue;  // it cannot; what another refuses is no news
    }
  }
  std::stable_sort(able.begin(), able.end(),
                   [](const auto* a, const auto* b) { return preference(a->name) < preference(b->name); });
  return able;
}

[[noreturn]] void refuse_without_worker(const std::string& what, const plan::Catalog& catalog) {
  const auto known = plan::all_workloads(catalog.workers());
  const bool is_known = std::find(known.begin(), known.end(), what) != known.end();
  const auto near = is_known ? std::nullopt : plan::nearest(what, known);
  if (near) fail(ErrorKind::usage, "network: {} is not known. Did you mean '{}'?", shown(what), *near);
  const bool is_function = what.find(".py:") != std::string::npos;
  if (!is_known && what.find(',') == std::string::npos) {
    const auto file = is_function ? what.substr(0, what.find(".py:") + 3) : what;
    std::error_code ignored;
    if (file.find('.') == std::string::npos) {
      fail(ErrorKind::usage, "network: {} is not known. `assay worker list` shows what is.", shown(what));
    }
    if (!std::filesystem::exists(file, ignored))
      fail(ErrorKind::usage, "network: there is no file {}.", shown_path(file));
  }
  const auto& workers = catalog.workers();
  if (std::none_of(workers.begin(), workers.end(), [](const auto& w) { return w.environment && w.installed(); })) {
    fail(ErrorKind::usage, "worker: no framework is installed that could measure {}. Next: assay worker install {}",
         shown(what), is_function ? "pytorch" : "onnxruntime");
  }
  fail(ErrorKind::usage,
       "worker: no installed worker measures {} as asked. Name one with --worker to learn why; `assay worker list` "
       "shows "
       "them, and `assay worker install onnxruntime` adds one.",
       shown(what));
}

/// Says which worker is taken, since nobody has.
void choose_worker(plan::TrialSweep& sweep, const std::string& what, const plan::Catalog& catalog) {
  const auto able = able_workers(sweep, catalog);
  if (able.empty()) refuse_without_worker(what, catalog);
  std::string others;
  for (std::size_t i = 1; i < able.size(); ++i) others += (i > 1 ? ", " : "") + able[i]->name;
  if (!others.empty() && what.find(".py:") != std::string::npos) {
    fail(ErrorKind::usage, "worker: {} and {} take such files. Name the one that {} is written for with --worker.",
         able[0]->name, others, shown(what));
  }
  const auto& first = *able[0];
  std::fprintf(stderr, "assay: %s on %s %s%s\n", printable(what, 100).c_str(), first.name.c_str(),
               first.release.c_str(),
               others.empty() ? ", the only installed worker that measures it"
                              : fmt::format("; --worker chooses another: {}", others).c_str());
  sweep.add("worker", {first.name + "==" + first.release, false, ""});
}

bool names_worker(const PlanFlags& flags) {
  return std::any_of(flags.axes.begin(), flags.axes.end(), [](const auto& axis) { return axis.first == "worker"; });
}

/// "prog" of "./prog", "script" of "python script.py".
std::string name_of_program(const std::vector<std::string>& command) {
  constexpr std::size_t kLongest = 100;
  auto name = std::filesystem::path(command.front()).filename().string();
  for (const auto& word : command) {
    std::error_code ignored;
    const std::filesystem::path path = word;
    if (word.find('/') != std::string::npos || path.extension() == ".py" || path.extension() == ".sh") {
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      name = path.stem().string();
      break;
    }
  }
  return name.empty() || name.size() > kLongest || plan::find_bad_text(name) ? "command" : name;
}

plan::Campaign campaign_from_flags(const CampaignFlags& o, const plan::Catalog& catalog) {
  auto sweep = sweep_of(o.plan);
  if (!o.what.empty()) sweep.add("network", {o.what, false, ""});
  if (!o.command.empty()) sweep.command = o.command;
  if (o.what.empty() && o.command.empty()) {
    fail(ErrorKind::usage,
         "name a network, a campaign file, or a program after --. For example: assay run toy --worker fake");
  }
  if (!sweep.threads.empty() && !o.command.empty() && !plan::takes_threads(o.command)) {
    std::fprintf(
        stderr,
        "assay: --threads sets OMP_NUM_THREADS; a program that does not read it runs as before. {threads} among "
        "its arguments passes the number.\n");
  }
  if (o.command.empty() && !names_worker(o.plan)) choose_worker(sweep, o.what, catalog);
  plan::Campaign campaign;
  campaign.name = !o.name.empty() ? o.name : !o.what.empty() ? o.what : name_of_program(o.command);
  campaign.seed = o.seed;
  campaign.runs = o.runs;
  campaign.lockstep = o.lockstep;
  campaign.trials = plan::expand({sweep}, o.runs, catalog);
  return campaign;
}

/// A training ends by what it has learnt: flags that end other runs would do nothing.
void refuse_ends_of_others(const CLI::App& command, const plan::Campaign& campaign) {
  const auto learns = [](const Trial& trial) { return trial.workload.data == kDigits; };
  if (std::none_of(campaign.trials.begin(), campaign.trials.end(), learns)) return;
  for (const char* flag : {"--seconds", "--warmup", "--warmup-cap", "--max-samples"}) {
    const auto* option = command.get_option(flag);
    const bool for_all_runs = std::getenv(option->get_envname().c_str()) != nullptr;  // not meant for this one
    if (option->count() == 0 || for_all_runs) continue;
    fail(ErrorKind::usage, "{}: a training ends at its accuracy, or after --epochs. Leave it out.", flag);
  }
}

}  // namespace

bool is_campaign_file(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml");
}

void add_campaign_flags(CLI::App& command, CampaignFlags& o) {
  command.add_option("what", o.what, "Measure these networks (comma list), or a campaign file (.yaml)");
  add_plan_flags(command, o.plan);
  command
      .add_option("--runs", o.runs,
                  "Measure each trial in this many fresh processes; more than before extends the campaign")
      ->capture_default_str();
  command.add_option("--name", o.name, "Name the campaign");
  command.add_option("--seed", o.seed, "Draw the order and everything random from this seed")->capture_default_str();
  command.add_flag("--lockstep", o.lockstep,
                   "Keep all trials alive at once and measure them in turns, slice by slice; needs two or more");
  command.add_flag("--again", o.again, "Start the next round of a finished campaign");
  add_measure_flags(command, o.measure);
}

plan::Campaign make_campaign(const CampaignFlags& o, const plan::Catalog& catalog, const CLI::App& command) {
  plan::Campaign campaign;
  if (is_campaign_file(o.what)) {
    if (!o.plan.empty() || !o.command.empty()) {
      fail(ErrorKind::usage, "{} says what is measured; flags that say so, too, would contradict it. Change the file.",
           shown(o.what));
    }
    campaign = plan::read_spec_file(o.what, catalog);
    if (command.count("--runs") > 0) campaign.runs = o.runs;
    if (command.count("--seed") > 0) campaign.seed = o.seed;
    if (!o.name.empty()) campaign.name = o.name;
    if (o.lockstep) campaign.lockstep = true;
  } else {
    campaign = campaign_from_flags(o, catalog);
  }
  apply(o.measure, campaign.measure);
  refuse_ends_of_others(command, campaign);
  if (campaign.measure.stop) {
    if (command.count("--runs") > 0) {
      fail(ErrorKind::usage, "--runs is a number and --stop decides it. Leave out one; --most-runs bounds --stop.");
    }
    campaign.runs = stats::looks(campaign.measure.stop->most_runs).front();
  }
  check(campaign, catalog);
  return campaign;
}

store::Planned plan_for_agents(const plan::Campaign& campaign, bool again, const std::string& store) {
  if (campaign.measure.stop) {
    fail(ErrorKind::usage, "--stop plans by what was measured, and agents measure later. Say how many --runs instead.");
  }
  return store::open_store(store, store::Access::create)->plan(campaign, again);
}

}  // namespace assay::cli
