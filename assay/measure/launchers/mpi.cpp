#include <unistd.h>

#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/launchers/program.hpp"

namespace assay::measure {
namespace {

/// "h1:2,h2:2": as many ranks on each as the trial wants there.
std::string host_list(const Hosts& hosts, std::int64_t per_node) {
  std::string list;
  for (const auto& name : hosts.names) list += fmt::format("{}{}:{}", list.empty() ? "" : ",", name, per_node);
  return list;
}

class MpiLauncher : public Launcher {
 public:
  MpiLauncher(std::filesystem::path rank_program, Hosts hosts)
      : rank_program_(std::move(rank_program)), hosts_(std::move(hosts)) {}

  std::vector<process::Spawned> start(const std::filesystem::path& directory, const Order& order,
                                      const std::vector<int>& inherit) override {
    return start_program(arguments(directory, order.parts.at(0).trial.placement), directory, order, inherit,
                         "Runs of several ranks need Open MPI (Debian: openmpi-bin).");
  }

 private:
  std::vector<std::string> arguments(const std::filesystem::path& directory, const Placement& placement) const {
    const std::int64_t per_node = ranks_per_node(placement, hosts_);
    // Assay pins by itself, and more ranks than cores are the trial's own affair.
    std::vector<std::string> argv{"mpirun", "--oversubscribe", "--bind-to", "none"};
    if (geteuid() == 0) argv.emplace_back("--allow-run-as-root");
    argv.insert(argv.end(), {"-np", std::to_string(placement.ranks)});
    if (!hosts_.names.empty()) argv.insert(argv.end(), {"--host", host_list(hosts_, per_node)});
    argv.insert(argv.end(), {"-x", kRunVariable, rank_program_.string(), directory.string()});
    return argv;
  }

  std::filesystem::path rank_program_;
  Hosts hosts_;
};

}  // namespace

std::unique_ptr<Launcher> mpi_launcher(std::filesystem::path rank_program, Hosts hosts) {
  return std::make_unique<MpiLauncher>(std::move(rank_program), std::move(hosts));
}

}  // namespace assay::measure
