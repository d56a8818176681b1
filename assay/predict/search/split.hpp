#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "assay/predict/step/step_job.hpp"

namespace assay::predict {

/// A step of training that is to be spread over devices.
struct SplitQuestion {
  ModelShape model;
  StepDevice device;
  std::int64_t devices = 1;
  std::int64_t global_batch = 1;  ///< sequences of a step, over all devices
  StepPlan practice;              ///< what every split has: sequence, precision, kind of attention, bytes of states
};

/// One way to spread it.
struct Split {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t data = 1;
  std::int64_t experts = 1;
  std::int64_t interleaving = 1;
  std::int64_t shard = 0;  ///< FSDP or ZeRO 3, over so many devices; 0: not
  std::int64_t microbatch = 1;
  std::int64_t microbatches = 1;  ///< of a step, for each replica
  bool sharded_optimizer = false;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  Recomputing recompute = Recomputing::none;

  bool operator==(const Split&) const = default;
};

template <typename V>
void describe(V& v, Split& s) {
  required(v, "tensor", s.tensor);
  required(v, "pipeline", s.pipeline);
  required(v, "context", s.context);
  required(v, "data", s.data);
  required(v, "experts", s.experts);
  required(v, "interleaving", s.interleaving);
  required(v, "shard", s.shard);
  required(v, "microbatch", s.microbatch);
  required(v, "microbatches", s.microbatches);
  required(v, "sharded_optimizer", s.sharded_optimizer);
  required(v, "schedule", s.schedule);
  required(v, "recompute", s.recompute);
}

/// The plan of a split. Sums of tensor groups are spread along the sequence; where layers and two more places (the
/// embedding's and the output's) fill the stages evenly and layers alone do not, the output layer takes a place.
StepPlan plan_of(const SplitQuestion& question, const Split& split);

/// The job of a split.
StepJob job_of(const SplitQuestion& question, const Split& split);

/// Why a split cannot be: the first rule that it breaks, with the numbers. Empty where it can. docs/plan.md has the
/// rules. Memory is not one of them.
std::string why_not(const SplitQuestion& question, const Split& split);

/// Every split for which why_not() is empty, once, in a fixed order.
std::vector<Split> all_splits(const SplitQuestion& question);

/// Why there is not a single one, where all_splits() is empty.
std::string why_none(const SplitQuestion& question);

/// "tensor 8, pipeline 16 (1f1b, 2 parts), data 8, shard 8, microbatches 32 of 1, recompute full".
std::string text_of(const Split& split);

}  // namespace assay::predict
