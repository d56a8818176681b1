#include "assay/measure/agent.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "assay/core/clock.hpp"
#include "assay/measure/execution.hpp"
#include "assay/measure/host_lock.hpp"
#include "assay/platform/machine.hpp"
#include "assay/platform/process.hpp"

namespace assay::measure {
namespace {

constexpr std::int64_t kPollNs = 200'000'000;

}  // namespace

store::Owner this_owner() {
  return {platform::host_name(), platform::boot_id(), getpid(), platform::start_ticks(getpid()).value_or(0)};
}

bool owner_is_dead(const store::Owner& owner) {
  const auto ticks = platform::start_ticks(static_cast<pid_t>(owner.pid));
  return !ticks || *ticks != owner.start_ticks;
}

Agent::Agent(store::Store& store, const plan::Catalog& catalog, Launcher& launcher, AgentObserver& observer,
             AgentOptions options)
    : store_(store), catalog_(catalog), launcher_(launcher), observer_(observer), options_(std::move(options)) {}

bool Agent::stop_asked(int stop_fd, std::int64_t wait_ns) const {
  pollfd fd{stop_fd, POLLIN, 0};
  const timespec timeout{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
  return ppoll(&fd, 1, &timeout, nullptr) > 0;
}

AgentEnd Agent::work(int stop_fd) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed assay-rank leaves behind comes to us, and we end it
  const auto machine = platform::this_machine();
  store_.put_platform(machine.id, platform::description_of(machine));
  const store::LeaseRequest request{options_.campaign, this_owner(), options_.lease_seconds, owner_is_dead};
  HostLock lock(options_.host_lock_path);
  while (true) {
    if (stop_asked(stop_fd, 0)) return AgentEnd::stopped;
    const auto patient = [&] {
      observer_.waiting("another run has the host: one at a time, so that they do not disturb each other");
      return !stop_asked(stop_fd, 0);
    };
    if (options_.host_lock && !lock.take(patient)) return AgentEnd::stopped;
    const auto lease = store_.lease(request);
    if (lease) {
      const ExecutionContext context{catalog_, launcher_, observer_, options_, machine, lock.descriptor()};
      if (execute(*lease, context, store_, stop_fd) == AgentEnd::stopped) return AgentEnd::stopped;
      lock.give_back();
      continue;
    }
    lock.give_back();
    const auto progress = store_.progress(options_.campaign);
    if (progress.ready + progress.leased == 0) return AgentEnd::nothing_left;
    observer_.waiting(fmt::format("{} runs are in the hands of other agents", progress.leased));
    if (stop_asked(stop_fd, kPollNs)) return AgentEnd::stopped;
  }
}

}  // namespace assay::measure
