// The pools worker's program: which pool is said by TASK_POOL.

#include <sched.h>

#include <cstdlib>
#include <limits>
#include <optional>

#include "assay/core/clock.hpp"
#include "assay/core/primitive.hpp"
#include "workers/common/options.hpp"
#include "workers/common/worker.hpp"
#include "workers/pools/pool.hpp"

namespace assay::pools {
namespace {

constexpr const char* kStandard = "eigen";
constexpr std::int64_t kMostTasks = std::numeric_limits<std::int32_t>::max();

void refuse_what_there_is_not(const worker::Prepare& prepare) {
  const auto& workload = prepare.workload;
  worker::refuse_settings_beyond(prepare.settings, {"intra_op", "inter_op"});
  if (workload.network != "tasks") worker::refuse("network {}: there is only tasks here.", shown(workload.network));
  if (workload.mode == Mode::train) worker::refuse("mode train: tasks has nothing to train. Use mode infer.");
  if (workload.precision != "fp32")
    worker::refuse("precision {}: tasks has only fp32 here.", shown(workload.precision));
  if (workload.data != "memory") worker::refuse("data {}: this worker has only memory.", shown(workload.data));
  if (prepare.ranks > 1) worker::refuse("{} ranks: this worker exchanges nothing. Use instances.", prepare.ranks);
  if (prepare.placement.device != "cpu")
    worker::refuse("device {} is unknown here. There is cpu.", shown(prepare.placement.device));
}

PrimitiveOptions options_of(const Workload& workload) {
  try {
    auto options = primitive_options(*find_primitive("tasks"), workload);
    if (options.at("tasks") <= kMostTasks) return options;
    worker::refuse("option 'tasks' {}: use at most {}.", options.at("tasks"), kMostTasks);
  } catch (const Error& error) {
    throw worker::Refused(error.what());
  }
}

/// That this process may use.
int cpus_here() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

class Pools : public worker::Framework {
 public:
  worker::Prepared prepare(const worker::Prepare& prepare) override {
    refuse_what_there_is_not(prepare);
    const auto options = options_of(prepare.workload);
    const char* asked = std::getenv("TASK_POOL");
    const std::string name = asked == nullptr ? kStandard : asked;
    tasks_.emplace(options.at("tasks"), options.at("work"));
    pool_ = make_pool(name, static_cast<int>(prepare.settings.intra_op.value_or(cpus_here())));
    pool_->run(*tasks_);  // starts the threads
    tasks_->check(1);

    worker::Prepared prepared;
    prepared.versions = {{"pools", "1.0.0"}};
    if (const auto release = pool_->release(); !release.empty()) prepared.versions[name] = release;
    prepared.parameters = 0;
    prepared.effective["pool"] = name;
    prepared.effective["intra_op"] = pool_->threads();
    prepared.phases = {"forward"};
    prepared.refusals["layers"] = "tasks is a single operation.";
    return prepared;
  }

  void step(worker::Step&) override { pool_->run(*tasks_); }

  void step_with_phases(worker::Step& step) override {
    const std::int64_t begin_ns = monotonic_ns();
    pool_->run(*tasks_);
    step.phases_ns[0] = monotonic_ns() - begin_ns;
  }

 private:
  std::optional<Tasks> tasks_;
  std::unique_ptr<Pool> pool_;  // ends before the tasks
};

}  // namespace
}  // namespace assay::pools

int main() {
  assay::worker::Channel channel;
  assay::pools::Pools framework;
  return assay::worker::serve(channel, framework);
}
