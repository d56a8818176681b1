// Configurations of a training step that the formulas say in a second, on one core: Llama 3 70B on 8 to 131,072 H100,
// split in every way that divides, with time and memory. Prints their number, the seconds, and the seconds of one
// answer for 131,072 devices.

#include <cstdio>
#include <vector>

#include "assay/core/clock.hpp"
#include "assay/predict/models/catalogue.hpp"
#include "assay/predict/step/step_law.hpp"
#include "assay/predict/step/step_memory.hpp"

namespace {

using namespace assay::predict;

std::vector<StepPlan> plans_of_70b() {
  std::vector<StepPlan> plans;
  for (std::int64_t devices = 8; devices <= 131072; devices *= 4) {
    for (const std::int64_t tensor : {1, 2, 4, 8}) {
      for (const std::int64_t pipeline : {1, 2, 4, 8, 16}) {
        for (const double microbatch : {1.0, 2.0, 4.0}) {
          for (const auto recompute : {Recomputing::none, Recomputing::selective, Recomputing::full}) {
            StepPlan plan;
            plan.devices = devices;
            plan.tensor = tensor;
            plan.pipeline = pipeline;
            plan.microbatch = microbatch;
            plan.microbatches = 64 / microbatch;
            plan.sequence = 8192;
            plan.recompute = recompute;
            plan.sequence_parallel = tensor > 1;
            if (plan.data() < 1) continue;
            if (plan.data() > 1) plan.shard = static_cast<std::int64_t>(plan.data());
            plans.push_back(plan);
          }
        }
      }
    }
  }
  return plans;
}

double seconds_since(std::int64_t begin_ns) {
  return 1e-9 * static_cast<double>(assay::monotonic_ns() - begin_ns);
}

}  // namespace

int main() {
  const auto plans = plans_of_70b();
  const StepConstants constants;
  StepJob job;
  job.model = model_named("llama3-70b");
  job.device = step_device("h100");
  double sum = 0;
  const auto say = [&](const StepPlan& plan) {
    job.plan = plan;
    check(job);
    sum += step_time(step_work(job), job.plan, constants).seconds + step_memory(job).total();
  };
  const auto first_ns = assay::monotonic_ns();
  say(plans.back());  // of 131,072 devices
  const double largest = seconds_since(first_ns);
  const auto begin_ns = assay::monotonic_ns();
  std::int64_t count = 0;
  while (assay::monotonic_ns() - begin_ns < 1'000'000'000) {
    for (const auto& plan : plans) say(plan);
    count += static_cast<std::int64_t>(plans.size());
  }
  std::printf("%ld %.6f %.6f %.3f\n", static_cast<long>(count), seconds_since(begin_ns), largest,
              sum);  // the sum, so that nothing is left out
  return 0;
}
