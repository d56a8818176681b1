#include "assay/predict/step/step_advice.hpp"

#include <algorithm>
#include <cmath>

#include "assay/predict/step/step_memory.hpp"

namespace assay::predict {
namespace {

constexpr double kLeastStepGain = 1.01;
constexpr std::size_t kMostStepAdvice = 8;

struct StepChange {
  std::string name;
  StepJob job;
};

/// Ways of the job that may each be another.
class StepChanges {
 public:
  explicit StepChanges(const StepJob& job) : job_(job) {}

  void add_memory_ways() {
    for (const auto way : {Recomputing::none, Recomputing::attention, Recomputing::selective, Recomputing::full}) {
      if (way == job_.plan.recompute) continue;
      with(fmt::format("--recompute {}", name_of(way)), [&](StepJob& j) { j.plan.recompute = way; });
    }
    const auto replicas = static_cast<std::int64_t>(job_.plan.data()) * job_.plan.context;
    for (const auto shard :
         {std::int64_t{0}, job_.device.node_devices / std::max<std::int64_t>(1, job_.plan.tensor), replicas}) {
      if (shard == job_.plan.shard || shard == 1 || shard > replicas ||
          replicas % std::max<std::int64_t>(1, shard) != 0) {
        continue;
      }
      with(shard == 0 ? std::string("without --shard")
                      : fmt::format("--shard {}", shard == replicas ? "all" : std::to_string(shard)),
           [&](StepJob& j) {
             j.plan.shard = shard;
             j.plan.sharded_optimizer = shard == 0;
           });
    }
    for (const double factor : {2.0, .5}) {
      const double size = job_.plan.microbatch * factor;
      const double count = job_.plan.microbatches / factor;
      if (size < 1 || count < 1 || count != std::floor(count)) continue;
      with(fmt::format("--microbatch {:.0f}", size), [&](StepJob& j) {
        j.plan.microbatch = size;
        j.plan.microbatches = count;
      });
    }
  }

  /// Both of what saves most, for a job that neither alone makes fit.
  void add_small_ways() {
    const auto replicas = static_cast<std::int64_t>(job_.plan.data()) * job_.plan.context;
    if (job_.plan.shard == replicas || replicas < 2) return;
    for (const auto way : {Recomputing::selective, Recomputing::full}) {
      if (way == job_.plan.recompute) continue;
      with(fmt::format("--shard all --recompute {}", name_of(way)), [&](StepJob& j) {
        j.plan.shard = replicas;
        j.plan.sharded_optimizer = false;
        j.plan.recompute = way;
      });
    }
  }

  void add_pipeline_ways() {
    const auto& p = job_.plan;
    if (p.pipeline == 1) return;
    const auto layers = layer_counts(job_.model).attention;
    const auto parts = 2 * p.interleaving;
    const bool divides =
        layers % (p.pipeline * parts) == 0 && std::fmod(p.microbatches, static_cast<double>(p.pipeline)) == 0;
    if (p.schedule == PipelineSchedule::one_forward_one_backward) {
      if (divides) with(fmt::format("--interleave {}", parts), [&](StepJob& j) { j.plan.interleaving = parts; });
      if (p.microbatches >= static_cast<double>(p.pipeline)) {
        with("--schedule zero_bubble", [](StepJob& j) {
          j.plan.schedule = PipelineSchedule::zero_bubble;
          j.plan.interleaving = 1;
        });
      }
    }
  }

  void add_tensor_ways() {
    const auto& p = job_.plan;
    if (p.tensor > 1 && !p.async_tensor) with("--async-tensor", [](StepJob& j) { j.plan.async_tensor = true; });
    if (p.tensor > 1 && !p.sequence_parallel) {
      with("--sequence-parallel", [](StepJob& j) { j.plan.sequence_parallel = true; });
    }
    if (!p.flash_attention) with("without --explicit-scores", [](StepJob& j) { j.plan.flash_attention = true; });
    if (p.precision == StepPrecision::bf16 && job_.device.sheet.fp8_flops_per_second) {
      with("--precision fp8", [](StepJob& j) { j.plan.precision = StepPrecision::fp8; });
    }
  }

  void add_machine_ways() {
    with("twice the bandwidth between nodes", [](StepJob& j) { j.device.rail_bytes_per_second *= 2; });
    with("twice the bandwidth inside nodes", [](StepJob& j) { j.device.inside_bytes_per_second *= 2; });
    with("twice the bandwidth of the device's memory", [](StepJob& j) { j.device.sheet.memory_bytes_per_second *= 2; });
    with("twice the --global-batch", [](StepJob& j) { j.plan.microbatches *= 2; });
  }

  const std::vector<StepChange>& all() const { return all_; }

 private:
  template <typename Change>
  void with(std::string name, const Change& change_it) {
    all_.push_back({std::move(name), job_});
    change_it(all_.back().job);
  }

  const StepJob& job_;
  std::vector<StepChange> all_;
};

}  // namespace

std::vector<Improvement> advise_step(const Stack& stack, const JobRow& job) {
  const double now = stack.predict(job).seconds / job.job.plan.tokens();
  const bool fits_now = fits(step_memory(job.job), job.job.device);
  StepChanges changes(job.job);
  changes.add_memory_ways();
  changes.add_pipeline_ways();
  changes.add_tensor_ways();
  if (fits_now) {
    changes.add_machine_ways();
  } else {
    changes.add_small_ways();
  }
  std::vector<Improvement> advice;
  for (const auto& change : changes.all()) {
    auto other = job;
    other.job = change.job;
    other.work = step_work(other.job);
    const double seconds = stack.predict(other).seconds;
    const double gain = now / (seconds / change.job.plan.tokens());
    if (!fits(step_memory(change.job), change.job.device) || (fits_now && gain < kLeastStepGain)) continue;
    advice.push_back({change.name, seconds, gain});
  }
  std::stable_sort(advice.begin(), advice.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  if (advice.size() > kMostStepAdvice) advice.resize(kMostStepAdvice);
  return advice;
}

}  // namespace assay::predict
