#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "assay/core/error.hpp"
#include "assay/measure/launcher.hpp"

namespace assay::measure {
namespace {

class LocalLauncher : public Launcher {
 public:
  explicit LocalLauncher(std::filesystem::path rank_program) : rank_program_(std::move(rank_program)) {}

  std::vector<process::Spawned> start(const std::filesystem::path& directory, const Order& order,
                                      const std::vector<int>& inherit) override {
    std::vector<process::Spawned> started;
    for (std::size_t number = 0; number < order.processes.size(); ++number) {
      process::SpawnRequest request;
      request.argv = {rank_program_.string(), directory.string(), std::to_string(number)};
      request.environment = {};  // assay-rank takes everything from run.json
      request.stderr_fd = STDERR_FILENO;
      request.inherit = inherit;
      request.parent_death_signal = SIGTERM;
      auto process = process::spawn(request);
      if (process.pid < 0) {
        fail(ErrorKind::failure, "cannot start {}: {}. Is the installation complete?", rank_program_.string(),
             std::strerror(process.error));
      }
      started.push_back(std::move(process));
    }
    return started;
  }

 private:
  std::filesystem::path rank_program_;
};

}  // namespace

std::unique_ptr<Launcher> local_launcher(std::filesystem::path rank_program) {
  return std::make_unique<LocalLauncher>(std::move(rank_program));
}

}  // namespace assay::measure
