#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/launcher.hpp"

namespace assay::measure {
namespace {

/// "h1:2,h2:2": as many ranks on each as the trial wants there.
std::string host_list(const Hosts& hosts, std::int64_t per_node) {
  std::string list;
  for (const auto& name : hosts.names) list += fmt::format("{}{}:{}", list.empty() ? "" : ",", name, per_node);
  return list;
}

std::int64_t ranks_per_node(const Placement& placement, const Hosts& hosts) {
  const auto nodes = std::max<std::int64_t>(1, static_cast<std::int64_t>(hosts.names.size()));
  const std::int64_t per_node = placement.ranks_per_node.value_or((placement.ranks + nodes - 1) / nodes);
  if (!hosts.names.empty() && per_node * nodes < placement.ranks) {
    fail(ErrorKind::usage, "{} ranks, {} a node, do not fit the {} hosts given.", placement.ranks, per_node, nodes);
  }
  if (hosts.names.empty() && per_node < placement.ranks) {
    fail(ErrorKind::usage, "{} ranks, {} a node, need several hosts. Name them with --hosts.", placement.ranks,
         per_node);
  }
  return per_node;
}

class MpiLauncher : public Launcher {
 public:
  MpiLauncher(std::filesystem::path rank_program, Hosts hosts)
      : rank_program_(std::move(rank_program)), hosts_(std::move(hosts)) {}

  std::vector<Spawned> start(const std::filesystem::path& directory, const Order& order,
                             const std::vector<int>& inherit) override {
    const auto log_path = directory / kLauncherLog;
    const Fd log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log) file_failed(errno, "write", log_path.string());
    SpawnRequest request;
    request.argv = arguments(directory, order.parts.at(0).trial.placement);
    request.environment = own_environment(order.parts.at(0).environment);
    request.stdout_fd = log.get();
    request.stderr_fd = log.get();
    request.inherit = inherit;
    request.parent_death_signal = SIGTERM;
    std::vector<Spawned> started;
    started.push_back(spawn(request));
    if (started[0].pid < 0) {
      fail(ErrorKind::failure, "cannot start mpirun: {}. Runs of several ranks need Open MPI (Debian: openmpi-bin).",
           std::strerror(started[0].error));
    }
    return started;
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

  /// mpirun is the user's own program and needs what the user has set for it, but not how to reach the store; the
  /// workers get none of it.
  static std::vector<std::string> own_environment(const std::map<std::string, std::string>& worker) {
    std::vector<std::string> environment;
    for (char** one = environ; *one != nullptr; ++one) {
      const std::string_view variable = *one;
      // Names of libpq begin with PG: a password, but also the file that holds it, and where the server is.
      const bool withheld =
          variable.starts_with(kRunVariable) || variable.starts_with("ASSAY_STORE=") || variable.starts_with("PG");
      if (!withheld) environment.emplace_back(variable);
    }
    if (const auto it = worker.find(kRunVariable); it != worker.end()) {
      environment.push_back(it->first + "=" + it->second);
    }
    return environment;
  }

  std::filesystem::path rank_program_;
  Hosts hosts_;
};

class ByRanks : public Launcher {
 public:
  ByRanks(std::unique_ptr<Launcher> one, std::unique_ptr<Launcher> several)
      : one_(std::move(one)), several_(std::move(several)) {}

  std::vector<Spawned> start(const std::filesystem::path& directory, const Order& order,
                             const std::vector<int>& inherit) override {
    return (order.meeting ? several_ : one_)->start(directory, order, inherit);
  }

 private:
  std::unique_ptr<Launcher> one_;
  std::unique_ptr<Launcher> several_;
};

}  // namespace

std::unique_ptr<Launcher> mpi_launcher(std::filesystem::path rank_program, Hosts hosts) {
  return std::make_unique<MpiLauncher>(std::move(rank_program), std::move(hosts));
}

std::unique_ptr<Launcher> launcher_by_ranks(std::unique_ptr<Launcher> one, std::unique_ptr<Launcher> several) {
  return std::make_unique<ByRanks>(std::move(one), std::move(several));
}

}  // namespace assay::measure
