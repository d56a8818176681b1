#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/measure/order.hpp"
#include "assay/process/spawn.hpp"

namespace assay::measure {

/// Starts assay-rank for every process of an order. What the ranks say passes through the run directory, never through
/// the launcher.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts the processes of `order`, which is in `directory`; the descriptors in `inherit` stay open in them. Throws
  /// Error where a program cannot be started; what was started before is then ended by the caller. What is returned
  /// ends when the processes have.
  virtual std::vector<process::Spawned> start(const std::filesystem::path& directory, const Order& order,
                                              const std::vector<int>& inherit) = 0;
};

/// Where ranks run.
struct Hosts {
  std::vector<std::string> names;        ///< empty: all on this one, or those of an allocation
  std::optional<std::string> interface;  ///< network device on which they find each other
  std::int64_t allocated = 0;            ///< nodes of the Slurm allocation that this process is in; 0: it is in none

  std::int64_t count() const {
    return std::max<std::int64_t>(1, names.empty() ? allocated : static_cast<std::int64_t>(names.size()));
  }
};

/// How many ranks of `placement` each host gets. Throws Error{usage} where they do not fit.
std::int64_t ranks_per_node(const Placement& placement, const Hosts& hosts);

/// What a launcher's own program prints, in the run directory.
constexpr const char* kLauncherLog = "launcher.log";

/// All processes on this host, each started directly. `rank_program` is assay-rank.
std::unique_ptr<Launcher> local_launcher(std::filesystem::path rank_program);

/// Ranks on `hosts`, started by Open MPI's mpirun. What mpirun prints goes to kLauncherLog.
std::unique_ptr<Launcher> mpi_launcher(std::filesystem::path rank_program, Hosts hosts);

/// Ranks on the nodes of the Slurm allocation that this process is in, started by srun; what it prints goes there, too.
std::unique_ptr<Launcher> slurm_launcher(std::filesystem::path rank_program, Hosts hosts);

/// The first for runs of one rank, the second for runs of several.
std::unique_ptr<Launcher> launcher_by_ranks(std::unique_ptr<Launcher> one, std::unique_ptr<Launcher> several);

}  // namespace assay::measure
