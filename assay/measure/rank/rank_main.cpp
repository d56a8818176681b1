// assay-rank: carries out one process of a run. Started by a launcher, reads run.json from a run directory, leaves
// rank-N.json there. It ends the worker's whole tree before it ends itself, also when its own parent goes away.
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "assay/core/text/number.hpp"
#include "assay/measure/environment.hpp"
#include "assay/measure/rank/rank.hpp"
#include "assay/measure/run_directory.hpp"
#include "assay/platform/inherited_number.hpp"

namespace {

volatile std::sig_atomic_t stop = 0;

void on_stop(int) {
  stop = 1;
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;  // without SA_RESTART: waiting ends at once
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// So that an agent that comes later finds what outlives both this process and its agent.
void mark(const assay::measure::Order& order) {
  const auto& environment = order.parts.at(0).environment;
  const auto run = environment.find(assay::measure::kRunVariable);
  if (run != environment.end()) assay::platform::set_inherited_number(assay::measure::number_of_run(run->second));
}

}  // namespace

int main(int argc, char** argv) {
  // Under mpirun and srun all processes get the same arguments, and find their number in the environment.
  const char* digits = argc == 3 ? argv[2] : std::getenv("OMPI_COMM_WORLD_RANK");
  if (digits == nullptr) digits = std::getenv("SLURM_PROCID");
  const auto parsed = assay::parse_number<std::size_t>(digits == nullptr ? "" : digits);
  if (argc < 2 || argc > 3 || !parsed) {
    std::fprintf(stderr, "assay-rank is started by assay: assay-rank RUN_DIRECTORY NUMBER\n");
    return 2;
  }
  const std::size_t number = *parsed;
  catch_signals();
  if (argc == 2) prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The agent's host lock stays open here while the worker lives, and must not reach the worker.
  syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  try {
    const std::filesystem::path directory = argv[1];
    const auto order = assay::measure::read_order(directory);
    if (number >= order.processes.size()) assay::fail(assay::ErrorKind::failure, "run.json has no process {}", number);
    mark(order);
    assay::measure::Sync sync(directory);
    const auto result = assay::measure::run_rank(order, number, {directory, sync, stop});
    assay::measure::write_result(directory, number, result);
    return 0;
  } catch (const assay::FileError& error) {
    return assay::measure::kRankDiskError + error.number();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-rank: %s\n", error.what());
    return assay::measure::kRankNoResult;
  }
}
