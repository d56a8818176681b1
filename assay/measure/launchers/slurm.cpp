#include <cstdlib>

#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/launchers/program.hpp"

namespace assay::measure {
namespace {

/// How the nodes' PMIx servers wait for each other. Left to itself, the plugin of Slurm 22.05 takes a ring too, and of
/// 440 starts of four nodes with Open MPI 4.1 eight let a rank send before another had left MPI_Init, which crashed.
const char* fence() {
  return std::getenv("SLURM_PMIX_FENCE") != nullptr ? "SLURM_PMIX_FENCE" : "SLURM_PMIX_FENCE=tree";
}

class SlurmLauncher : public Launcher {
 public:
  SlurmLauncher(std::filesystem::path rank_program, Hosts hosts)
      : rank_program_(std::move(rank_program)), hosts_(std::move(hosts)) {}

  std::vector<process::Spawned> start(const std::filesystem::path& directory, const Order& order,
                                      const std::vector<int>& inherit) override {
    return start_program(arguments(directory, order.parts.at(0).trial.placement), directory, order, inherit,
                         "Inside a Slurm allocation it starts runs of several ranks.");
  }

 private:
  std::vector<std::string> arguments(const std::filesystem::path& directory, const Placement& placement) const {
    const std::int64_t per_node = ranks_per_node(placement, hosts_);
    const std::int64_t nodes = (placement.ranks + per_node - 1) / per_node;
    return {"srun",
            "--quiet",
            "--input=none",
            fmt::format("--nodes={}", nodes),
            fmt::format("--ntasks={}", placement.ranks),
            fmt::format("--ntasks-per-node={}", per_node),
            "--overlap",                                           // the agent has the whole allocation already
            "--mem=0",                                             // and all of its memory
            "--cpu-bind=none",                                     // assay-rank pins by itself
            "--kill-on-bad-exit=1",                                // one rank that failed is a run that failed
            fmt::format("--export={},{}", kRunVariable, fence()),  // assay-rank takes everything else from run.json
            rank_program_.string(),
            directory.string()};
  }

  std::filesystem::path rank_program_;
  Hosts hosts_;
};

}  // namespace

std::unique_ptr<Launcher> slurm_launcher(std::filesystem::path rank_program, Hosts hosts) {
  return std::make_unique<SlurmLauncher>(std::move(rank_program), std::move(hosts));
}

}  // namespace assay::measure
