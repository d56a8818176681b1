#include "assay/measure/launchers/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "assay/core/error.hpp"
#include "assay/measure/environment.hpp"
#include "assay/process/regular_file.hpp"

namespace assay::measure {
namespace {

std::vector<std::string> launcher_environment(const std::map<std::string, std::string>& worker) {
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

class ByRanks : public Launcher {
 public:
  ByRanks(std::unique_ptr<Launcher> one, std::unique_ptr<Launcher> several)
      : one_(std::move(one)), several_(std::move(several)) {}

  std::vector<process::Spawned> start(const std::filesystem::path& directory, const Order& order,
                                      const std::vector<int>& inherit) override {
    return (order.meeting ? several_ : one_)->start(directory, order, inherit);
  }

 private:
  std::unique_ptr<Launcher> one_;
  std::unique_ptr<Launcher> several_;
};

}  // namespace

std::vector<process::Spawned> start_program(const std::vector<std::string>& argv,
                                            const std::filesystem::path& directory, const Order& order,
                                            const std::vector<int>& inherit, const char* hint) {
  const auto log_path = directory / kLauncherLog;
  const process::Fd log = process::open_or_fail(log_path, O_WRONLY | O_CREAT | O_APPEND, "write");
  process::SpawnRequest request;
  request.argv = argv;
  request.environment = launcher_environment(order.parts.at(0).environment);
  request.stdout_fd = log.get();
  request.stderr_fd = log.get();
  request.inherit = inherit;
  request.parent_death_signal = SIGTERM;
  std::vector<process::Spawned> started;
  started.push_back(process::spawn(request));
  if (started[0].pid < 0) {
    fail(ErrorKind::failure, "cannot start {}: {}. {}", argv[0], std::strerror(started[0].error), hint);
  }
  return started;
}

std::int64_t ranks_per_node(const Placement& placement, const Hosts& hosts) {
  const std::int64_t nodes = hosts.count();
  const std::int64_t per_node = placement.ranks_per_node.value_or((placement.ranks + nodes - 1) / nodes);
  if (nodes > 1 && per_node * nodes < placement.ranks) {
    fail(ErrorKind::usage, "{} ranks, {} a node, do not fit the {} hosts given.", placement.ranks, per_node, nodes);
  }
  if (nodes == 1 && per_node < placement.ranks) {
    fail(ErrorKind::usage, "{} ranks, {} a node, need several hosts. Name them with --hosts, or ask Slurm for --nodes.",
         placement.ranks, per_node);
  }
  return per_node;
}

std::unique_ptr<Launcher> launcher_by_ranks(std::unique_ptr<Launcher> one, std::unique_ptr<Launcher> several) {
  return std::make_unique<ByRanks>(std::move(one), std::move(several));
}

}  // namespace assay::measure
