#include "assay/tune/apply/emitters/emission.hpp"

namespace assay::tune {
namespace {

/// A worker that takes the place of one that ended has its number, and so its CPUs.
constexpr const char* kPlace = R"(

def pre_fork(server, worker):
    taken = {getattr(other, "instance", None) for other in server.WORKERS.values()}
    worker.instance = min(set(range(workers)) - taken, default=0)


def post_fork(server, worker):
    os.environ["ASSAY_INSTANCE"] = str(worker.instance)
)";

}  // namespace

std::string emit_gunicorn(const Emission& emission) {
  std::vector<std::string> cannot{"memory_bind"};
  if (emission.cpus.empty()) cannot.emplace_back("affinity");
  std::string text =
      "# gunicorn --config THIS_FILE APPLICATION\n" + comments(emission, cannot) + queue_comment(emission);
  if (emission.preload) {
    text += fmt::format("# Start gunicorn with LD_PRELOAD={}: it is too late for that here.\n", *emission.preload);
  }
  text += "import os\n\n";
  text += fmt::format("workers = {}\nthreads = 1\n", emission.instances);
  text += "# Each worker loads the application itself, so that threads begin after the fork.\npreload_app = False\n";
  text += "raw_env = [\n";
  for (const auto& [name, value] : emission.told.env)
    text += fmt::format("    {},\n", python_quoted(name + "=" + value));
  text += "]\n";
  text += kPlace;
  if (const auto cpus = python_cpus(emission)) {
    text += fmt::format("    os.sched_setaffinity(0, {}[worker.instance])\n", *cpus);
  }
  return text;
}

}  // namespace assay::tune
