#include "assay/measure/rank/host_energy.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "assay/core/clock.hpp"
#include "assay/measure/environment.hpp"
#include "assay/platform/gpus.hpp"
#include "assay/platform/process.hpp"

namespace assay::measure {

HostEnergy::HostEnergy(const Order& order, const Part& part) {
  if (const auto& meter = order.measure.meter) {
    meter_.emplace(*meter, as_list(part.environment));
    windows_.emplace("meter", std::vector<platform::EnergyCounter>{{*meter, 0, [this] { return meter_->read(); }}});
    return;
  }
  auto counters = platform::rapl_counters(order.powercap);
  std::string source = counters.empty() ? "" : "rapl";
  if (part.trial.placement.device != "cpu") {
    const auto gpus = platform::gpu_energy_counters();
    if (!gpus.empty()) source += source.empty() ? "nvml" : "+nvml";
    counters.insert(counters.end(), gpus.begin(), gpus.end());
  }
  if (!counters.empty()) windows_.emplace(source, std::move(counters));
}

void HostEnergy::begin() {
  if (windows_) windows_->begin(monotonic_ns());
}

void HostEnergy::end() {
  if (windows_) windows_->end(monotonic_ns());
}

std::optional<pid_t> HostEnergy::meter_pid() const {
  if (!meter_ || meter_->pid() < 0) return std::nullopt;
  return meter_->pid();
}

std::vector<pid_t> worker_tree(const std::optional<HostEnergy>& energy) {
  auto tree = platform::descendants(getpid());
  if (const auto meter = energy ? energy->meter_pid() : std::nullopt) std::erase(tree, *meter);
  return tree;
}

bool is_first_on_host(std::int64_t rank, std::int64_t instance) {
  if (instance != 0) return false;
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");  // set by mpirun
  if (local == nullptr) local = std::getenv("SLURM_LOCALID");     // and by srun; what is started directly has neither
  return local != nullptr ? std::strcmp(local, "0") == 0 : rank == 0;
}

}  // namespace assay::measure
