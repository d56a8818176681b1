#include <memory>

#include "assay/core/clock.hpp"
#include "assay/report/table.hpp"
#include "assay/store/selection.hpp"
#include "assay/store/spool.hpp"
#include "cli/command.hpp"
#include "cli/flags/work.hpp"
#include "cli/paths.hpp"
#include "cli/stop.hpp"

namespace assay::cli {
namespace {

struct AgentFlags {
  WorkFlags work;
  WaitFlags wait;
  std::string campaign;
};

/// What an agent does, line by line with the time, for a log.
class AgentLog : public measure::AgentObserver {
 public:
  explicit AgentLog(bool quiet) : quiet_(quiet) {}

  void started(const store::Lease& lease) override {
    waited_for_.clear();
    say(fmt::format("run {} of {} {}", lease.runs[0].index, lease.runs[0].trial_id.substr(0, 8),
                    title(lease.runs[0].trial)));
  }

  void finished(const store::Lease& lease, const std::vector<store::Finished>& finished) override {
    for (const auto& one : finished) {
      if (one.again) {
        ++again_;
        continue;
      }
      ++done_;
      const auto& outcome = one.record.outcome;
      if (outcome.kind == OutcomeKind::ok) continue;
      ++failed_;
      warning(fmt::format("run {} of {} {}: {}", one.record.index, lease.runs[0].trial_id.substr(0, 8),
                          name_of(outcome.kind), outcome.message));
    }
  }

  void waiting(const std::string& why) override {
    if (why == waited_for_) return;
    waited_for_ = why;
    say("waiting: " + why);
  }

  void warning(const std::string& what) override { write(what); }

  void end(const std::string& how) {
    say(fmt::format("{}: {} runs done, {} of them failed, {} to be measured again", how, done_, failed_, again_));
  }

 private:
  void say(const std::string& what) const {
    if (!quiet_) write(what);
  }
  static void write(const std::string& what) {
    std::fprintf(stderr, "%s assay agent: %s\n", utc_now().c_str(), report::fit(what, 400).c_str());
  }

  bool quiet_;
  std::string waited_for_;
  std::int64_t done_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t again_ = 0;
};

/// Opens the store, waiting where its server is away. Null where told to stop.
std::unique_ptr<store::Store> open_patiently(const AgentFlags& o, AgentLog& log, int stop_fd) {
  const auto begin = monotonic_ns();
  while (true) {
    try {
      return store::open_store(o.work.store, store::Access::write);
    } catch (const Error& error) {
      const double waited = static_cast<double>(monotonic_ns() - begin) / 1e9;
      if (error.kind() != ErrorKind::away || waited > o.wait.patience_seconds) throw;
      log.waiting(error.what());
    }
    if (asked_to_stop(stop_fd, 1)) return nullptr;
  }
}

int work_as_agent(const AgentFlags& o) {
  const auto stop = stop_signals();
  const auto catalog = catalog_at_hand();
  AgentLog log(o.work.quiet);
  const auto store = open_patiently(o, log, stop.get());
  if (!store) return kExitStopped;
  store::SpooledQueue queue(*store, spool_of(o.work));
  auto options = agent_options(o.work, queue);
  options.of_fleet = true;
  options.idle_seconds = o.wait.idle_seconds;
  options.patience_seconds = o.wait.patience_seconds;
  options.poll_seconds = 1;
  if (!o.campaign.empty()) options.campaign = store::choose_campaign(store->campaigns(), o.campaign, o.work.store).id;
  const auto launcher = launcher_of(options);
  const auto end =
      work_with(queue, [&] { return measure::Agent(queue, catalog, *launcher, log, options).work(stop.get()); });
  if (const auto note = queue.note(); !note.empty()) log.warning(note.substr(1));
  log.end(end == measure::AgentEnd::stopped ? "stopped" : "nothing left for this agent");
  return end == measure::AgentEnd::stopped ? kExitStopped : 0;
}

void add_agent(CLI::App& command, Invocation& invocation) {
  const auto o = std::make_shared<AgentFlags>();
  add_work_flags(command, o->work);
  command.add_option("--campaign", o->campaign,
                     "Take runs of this campaign only, by name or id [all, the oldest first]");
  add_wait_flags(command, o->wait);
  command.footer("Plan with: assay run campaign.yaml --store postgresql://USER@HOST/DATABASE --plan-only");
  command.callback([o, &invocation] { invocation.exit_code = work_as_agent(*o); });
}

}  // namespace

const Command commands::agent{"agent", "Take runs from a store, as one of many, and carry out what this machine can",
                              add_agent};

}  // namespace assay::cli
