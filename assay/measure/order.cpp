#include "assay/measure/order.hpp"

#include <random>

#include "assay/measure/agent/cache.hpp"
#include "assay/measure/agent/execution.hpp"
#include "assay/measure/environment.hpp"
#include "assay/platform/energy.hpp"
#include "assay/platform/machine/placement.hpp"

namespace assay::measure {
namespace {

/// A word nobody can guess, so that no other program joins the ranks of a run.
std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Processes of the run that share a host.
std::int64_t processes_on_host(const Trial& trial) {
  if (trial.placement.ranks > 1) return trial.placement.ranks_per_node.value_or(trial.placement.ranks);
  return trial.settings.instances.value_or(1);
}

Part make_part(const store::Lease& lease, const store::LeasedRun& run, const ExecutionContext& context,
               const std::string& mark) {
  const auto* worker = context.catalog.find(run.trial.worker);
  if (worker == nullptr) {
    fail(ErrorKind::failure, "worker {} {} is not installed here; `assay worker list` shows what is",
         run.trial.worker.name, run.trial.worker.release);
  }
  auto source = plan::planned_source(*worker, run.trial.workload);
  Part part;
  part.trial = run.trial;
  part.seed = plan::run_seed(lease.seed, run.trial_id, run.index);
  part.argv = plan::worker_argv(*worker);
  part.environment = worker_environment(run.trial.settings, mark);
  part.details = worker->details;
  part.graph = std::move(source.graph);
  part.file = std::move(source.file);
  part.cache = cache_of(context.options.cache, *worker);
  if (run.trial.workload.data == "files" && !context.options.data.empty()) {
    part.data_folder = context.options.data.string();
  }
  return part;
}

}  // namespace

Order make_order(const store::Lease& lease, const ExecutionContext& context, const std::string& mark) {
  Order order;
  order.measure = lease.measure;
  order.powercap = platform::powercap_folder().string();
  order.lockstep = lease.runs.size() > 1;
  for (std::size_t number = 0; number < lease.runs.size(); ++number) {
    const auto& trial = lease.runs[number].trial;
    order.parts.push_back(make_part(lease, lease.runs[number], context, mark));
    const bool ranks = trial.placement.ranks > 1;
    const std::int64_t count = ranks ? trial.placement.ranks : trial.settings.instances.value_or(1);
    const std::int64_t on_host = processes_on_host(trial);
    for (std::int64_t i = 0; i < count; ++i) {
      Process process;
      process.part = static_cast<std::int64_t>(number);
      process.instance = ranks ? 0 : i;
      process.rank = i;
      process.cpus =
          platform::cpus_of_instance(context.machine.topology, trial.settings.affinity, i % on_host, on_host);
      order.processes.push_back(process);
    }
    if (ranks) order.meeting = {new_token(), context.options.hosts.count() == 1, context.options.hosts.interface};
  }
  return order;
}

}  // namespace assay::measure
