#include "assay/measure/agent/agent.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "assay/measure/agent/execution.hpp"
#include "assay/measure/agent/orphans.hpp"
#include "assay/platform/process.hpp"
#include "assay/store/spool.hpp"

namespace assay::measure {
namespace {

constexpr int kMostMisfits = 3;  // between two looks a run may come back that fits
constexpr int kMostUnstarted = 3;
constexpr double kRetrySeconds = 1;  // while the store is away

}  // namespace

store::Owner this_owner() {
  return {platform::host_name(), platform::boot_id(), getpid(), platform::start_ticks(getpid()).value_or(0),
          platform::pid_namespace()};
}

bool owner_is_dead(const store::Owner& owner) {
  // A pid of another namespace names nobody here, and what cannot be read proves nothing: then the lease must end.
  if (owner.pid <= 0 || owner.pid_namespace.empty() || owner.pid_namespace != platform::pid_namespace()) return false;
  if (kill(static_cast<pid_t>(owner.pid), 0) != 0) return errno == ESRCH;
  const auto ticks = platform::start_ticks(static_cast<pid_t>(owner.pid));
  return ticks && *ticks != owner.start_ticks;
}

store::Offer offer_of(const plan::Catalog& catalog, const platform::Machine& machine, const Hosts& hosts) {
  store::Offer offer;
  offer.platform = machine.id;
  for (const auto& worker : catalog.workers()) {
    if (worker.installed()) offer.workers.push_back(worker.name + "==" + worker.release);
  }
  offer.devices = {"cpu"};
  if (!machine.identity.gpus.empty()) offer.devices.emplace_back("cuda");
  offer.hosts = hosts.count();
  return offer;
}

Agent::Agent(store::RunQueue& store, const plan::Catalog& catalog, Launcher& launcher, AgentObserver& observer,
             AgentOptions options, process::Waiting& waiting)
    : store_(store),
      catalog_(catalog),
      launcher_(launcher),
      observer_(observer),
      options_(std::move(options)),
      waiting_(waiting),
      machine_(platform::this_machine()),
      lock_(options_.host_lock_path),
      request_{options_.campaign, this_owner(), options_.lease_seconds, std::nullopt, owner_is_dead},
      peaks_(options_.known_memory) {
  if (options_.of_fleet) request_.offer = offer_of(catalog_, machine_, options_.hosts);
}

bool Agent::stop_asked(int stop_fd, double wait_seconds) {
  std::vector<pollfd> fds{{stop_fd, POLLIN, 0}};
  return waiting_.poll(fds, static_cast<std::int64_t>(wait_seconds * 1e9)) > 0;
}

double Agent::seconds_since(std::int64_t ns) {
  return static_cast<double>(waiting_.now_ns() - ns) / 1e9;
}

AgentEnd Agent::work(int stop_fd) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed assay-rank leaves behind comes to us, and we end it
  if (options_.of_fleet) {
    for (const auto& orphan : end_orphans(options_.store_mark + "-")) observer_.warning(orphan_message(orphan));
  }
  std::optional<std::int64_t> away_since_ns;
  while (true) {
    if (stop_asked(stop_fd, 0)) return AgentEnd::stopped;
    try {
      if (const auto end = step(stop_fd)) return *end;
      away_since_ns.reset();
    } catch (const Error& error) {
      lock_.give_back();
      if (dynamic_cast<const FileError*>(&error) != nullptr || !store::may_pass(error)) throw;
      if (!away_since_ns) away_since_ns = waiting_.now_ns();
      if (seconds_since(*away_since_ns) > options_.patience_seconds) throw;
      observer_.waiting(error.what());
      if (stop_asked(stop_fd, kRetrySeconds)) return AgentEnd::stopped;
    }
  }
}

std::optional<AgentEnd> Agent::step(int stop_fd) {
  if (!introduced_) store_.put_platform(machine_.id, platform::description_of(machine_));
  introduced_ = true;
  const auto patient = [&] {
    observer_.waiting("another run has the host: one at a time, so that they do not disturb each other");
    return !stop_asked(stop_fd, 0);
  };
  if (options_.host_lock && !lock_.take(patient)) return AgentEnd::stopped;
  const auto lease = next_lease();
  if (!lease) {
    lock_.give_back();
    return rest(stop_fd);
  }
  misfits_ = 0;
  idle_since_ns_.reset();
  if (carry_out(*lease, stop_fd) == AgentEnd::stopped) return AgentEnd::stopped;
  lock_.give_back();
  return std::nullopt;
}

std::optional<store::Lease> Agent::next_lease() {
  if (!request_.campaign.empty()) {
    auto lease = store_.lease(request_);
    if (lease || !options_.campaign.empty()) return lease;
  }
  for (const auto& row : store_.campaigns()) {
    if (row.progress.ready + row.progress.leased == 0) continue;
    request_.campaign = row.id;  // stays with it until it has nothing more
    if (auto lease = store_.lease(request_)) return lease;
  }
  request_.campaign.clear();
  return std::nullopt;
}

AgentEnd Agent::carry_out(const store::Lease& lease, int stop_fd) {
  const ExecutionContext context{catalog_, launcher_, observer_,          options_,
                                 machine_, waiting_,  lock_.descriptor(), peaks_};
  try {
    const auto end = execute(lease, context, store_, stop_fd);
    unstarted_ = 0;
    return end;
  } catch (const FileError&) {
    throw;  // this host's trouble
  } catch (const Error& error) {
    // One run that cannot be started must not end one agent after the other; nor may one host spoil a campaign.
    const bool of_the_run = error.kind() == ErrorKind::failure || error.kind() == ErrorKind::usage;
    if (!options_.of_fleet || !of_the_run || ++unstarted_ >= kMostUnstarted) throw;
    complete_not_started(lease, context, store_, error.what());
    return AgentEnd::nothing_left;
  }
}

std::optional<AgentEnd> Agent::rest(int stop_fd) {
  const auto left = what_is_left();
  if (left.ready + left.leased == 0) {
    if (!idle_since_ns_) idle_since_ns_ = waiting_.now_ns();
    if (seconds_since(*idle_since_ns_) >= options_.idle_seconds) return AgentEnd::nothing_left;
    observer_.waiting("nothing is left to do; new runs are taken as they come");
  } else if (left.leased == 0 && options_.of_fleet) {
    if (++misfits_ >= kMostMisfits) {
      observer_.warning(
          fmt::format("{} runs ask for a platform, worker, device or hosts that are not here", left.ready));
      return AgentEnd::nothing_left;
    }
  } else {
    observer_.waiting(fmt::format("{} runs are in the hands of other agents", left.leased));
  }
  if (stop_asked(stop_fd, options_.poll_seconds)) return AgentEnd::stopped;
  return std::nullopt;
}

store::Progress Agent::what_is_left() {
  if (!options_.campaign.empty()) return store_.progress(options_.campaign);
  store::Progress sum;
  for (const auto& row : store_.campaigns()) {
    sum.ready += row.progress.ready;
    sum.leased += row.progress.leased;
  }
  return sum;
}

}  // namespace assay::measure
