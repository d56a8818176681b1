#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>

#include "assay/core/clock.hpp"
#include "assay/measure/slurm.hpp"
#include "assay/report/results/submissions.hpp"
#include "assay/store/selection.hpp"
#include "cli/command.hpp"
#include "cli/flags/campaign_flags.hpp"
#include "cli/flags/work.hpp"
#include "cli/help.hpp"
#include "cli/paths.hpp"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

struct SubmitFlags {
  CampaignFlags campaign;
  WorkFlags work;
  WaitFlags wait;
  std::string planned;  ///< a campaign that is in the store already
  std::int64_t agents = 1;
  std::int64_t nodes = 1;
  std::vector<std::string> slurm;
  std::string logs = "assay-logs";
  bool json = false;
  bool dry_run = false;
};

/// What agents must find where they run: folders, and nothing else of this environment.
constexpr std::array<const char*, 5> kPassedOn{"ASSAY_ENVIRONMENTS", "ASSAY_CACHE", "ASSAY_DATA_FOLDER",
                                               "ASSAY_WORKERS", "ASSAY_LIBEXEC"};

std::string new_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Job scripts, command lines and Slurm's own state can be read by others: there the store is the name of a file.
std::string store_file(const std::string& store) {
  if (store.size() < 2 || store[0] != '@') {
    fail(ErrorKind::usage,
         "--store {}: agents on other nodes need a store on a server, and job scripts can be read by others. Write its "
         "URL into a file that only you can read and that all nodes see, and use --store @FILE.",
         store::shown_location(store));
  }
  if (store::locate(store).is_file) {
    fail(ErrorKind::usage, "--store {}: it names a SQLite file, which one machine alone may use. Agents need a server.",
         store);
  }
  return "@" + fs::absolute(store.substr(1)).lexically_normal().string();
}

/// The command line of an agent; flags that were not given are left to it.
std::vector<std::string> agent_words(const SubmitFlags& o, const CLI::App& command, const std::string& campaign) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(),
                                 "agent",
                                 "--store",
                                 store_file(o.work.store),
                                 "--campaign",
                                 campaign};
  const auto pass = [&](const char* flag, const std::string& value) {
    if (command.count(flag) > 0) words.insert(words.end(), {flag, value});
  };
  pass("--lease", fmt::format("{}", o.work.lease_seconds));
  pass("--idle", fmt::format("{}", o.wait.idle_seconds));
  pass("--patience", fmt::format("{}", o.wait.patience_seconds));
  pass("--interface", o.work.interface);
  pass("--launcher", o.work.launcher);
  const auto pass_path = [&](const char* flag, const std::string& path) {
    if (!path.empty()) words.insert(words.end(), {flag, fs::absolute(path).string()});
  };
  pass_path("--spool", o.work.spool);
  pass_path("--host-lock", o.work.host_lock);
  pass_path("--run-folder", o.work.run_folder);
  if (o.work.no_host_lock) words.emplace_back("--no-host-lock");
  if (o.work.quiet) words.emplace_back("--quiet");
  return words;
}

measure::SlurmArray array_of(const SubmitFlags& o, const CLI::App& command, const std::string& campaign) {
  measure::SlurmArray array;
  array.id = new_id();
  array.agents = o.agents;
  array.nodes = o.nodes;
  for (const auto& option : o.slurm) {
    const auto equals = std::min(option.find('='), option.size());
    array.options.emplace_back(option.substr(0, equals), equals < option.size() ? option.substr(equals + 1) : "");
  }
  array.logs = fs::absolute(o.logs).lexically_normal();
  array.agent = agent_words(o, command, campaign);
  for (const char* name : kPassedOn) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') array.environment[name] = value;
  }
  return array;
}

void print_dry(const measure::SlurmArray& array) {
  std::string out;
  for (const auto& word : measure::sbatch_words(array)) out += (out.empty() ? "" : " ") + word;
  print(out + "\n\n" + measure::slurm_script(array));
}

store::Planned plan(const SubmitFlags& o, const CLI::App& command) {
  if (o.planned.empty()) {
    const auto catalog = catalog_at_hand();
    return plan_for_agents(make_campaign(o.campaign, catalog, command), o.campaign.again, o.work.store);
  }
  if (!o.campaign.what.empty()) {
    fail(ErrorKind::usage, "--campaign names a plan that is in the store; {} would be another. Leave out one.",
         shown(o.campaign.what));
  }
  const auto store = store::open_store(o.work.store, store::Access::write);
  const auto row = store::choose_campaign(store->campaigns(), o.planned, o.work.store);
  return {row.id, row.round, 0, row.progress.runs};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) file_failed(error.value(), "make the folder", folder.string());
}

int submit(const SubmitFlags& o, const CLI::App& command) {
  store_file(o.work.store);  // what cannot work is refused before anything is planned
  if (o.dry_run) {
    const std::string unknown = o.planned.empty() ? "CAMPAIGN" : o.planned;
    print_dry(array_of(o, command, unknown));
    return 0;
  }
  measure::sbatch_words(array_of(o, command, ""));
  const auto planned = plan(o, command);
  const auto array = array_of(o, command, planned.campaign);
  make_folder(array.logs);
  // Kept before Slurm is asked: should its answer be lost, what may be running is known all the same.
  const report::Submission submission{array.id, o.agents, o.nodes, utc_now(), array.logs.string(), {}, {}, {}};
  report::keep_submission(*store::open_store(o.work.store, store::Access::write), planned.campaign, submission);
  const auto job = measure::submit(array);
  if (o.json) {
    auto printed = to_json(planned);
    printed["submission"] = array.id;
    printed["job"] = job;
    print(printed.dump(2) + "\n");
    return 0;
  }
  print(
      fmt::format("campaign {}: {} runs, {} of them new. Submission {}: {} agents in Slurm's job {}, their logs in {}\n"
                  "`assay show {} --fleet` says where it stands; `scancel --name {}` ends them.\n",
                  planned.campaign.substr(0, 8), planned.runs, planned.new_runs, array.id, o.agents, job,
                  array.logs.string(), planned.campaign.substr(0, 8), measure::slurm_job_name(array.id)));
  return 0;
}

void add_submit(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<SubmitFlags>();
  add_work_flags(command, o->work);
  command.remove_option(command.get_option("--hosts"));  // Slurm decides
  add_wait_flags(command, o->wait);
  add_campaign_flags(command, o->campaign);
  command.add_option("--campaign", o->planned,
                     "Start more agents for a campaign that is planned already, by name or id");
  command.add_option("--agents", o->agents, "Start this many agents, each a job of one array")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--nodes", o->nodes, "Give each agent this many nodes, over which srun spreads the ranks of a run")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  command
      .add_option("--slurm", o->slurm,
                  "Pass an option to sbatch, such as partition=gpu or time=2:00:00; may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--logs", o->logs, "Write logs of agents to this folder, which all nodes see")
      ->capture_default_str()
      ->type_name("FOLDER");
  add_json_flag(command, o->json, "Print what was planned and submitted as JSON");
  command.add_flag("--dry-run", o->dry_run, "Print the command and the job's script, and do nothing");
  command.footer("For example: assay submit nightly.yaml --store @store.url --agents 8 --slurm partition=cpu");
  command.callback([o, &command, &invocation] { invocation.exit_code = submit(*o, command); });
}

}  // namespace

const Command commands::submit{"submit", "Plan a campaign and have Slurm start agents that carry it out", add_submit};

}  // namespace assay::cli
