#pragma once

#include <array>
#include <vector>

#include "assay/predict/step/step_work.hpp"

namespace assay::predict {

/// What a software stack makes of the work of a step: factors on laws and data sheets, near 1 where nothing is wasted,
/// and a few times. The values here are where a calibration starts.
struct StepConstants {
  double product = 1.15;     ///< products in a step over products alone
  double passes = .9;        ///< what is between products, over one read and write of its values
  double attention = 1.5;    ///< flash attention, over half of the peak
  double floor = 3e-3;       ///< seconds that launching a layer takes, forward and backward
  double call = .15e-3;      ///< seconds a layer that nothing hides
  double sums = 1.1;         ///< of tensor groups, over a ring inside the node
  double links = .9;         ///< share of the links between nodes that is reached
  double interference = .3;  ///< part of the shorter of computing and gathering that is not hidden
  double update = 30;        ///< bytes that the optimizer moves for a parameter
  double bubble = 1;         ///< of the schedule's own
  double fp8 = .65;          ///< products in fp8 over those in bf16
  double fp4 = .5;
  double scale = .006;         ///< slower by this part for each doubling of the devices
  double head = 16;            ///< passes over the values of the output layer
  double exchange = 1;         ///< part of the exchange among experts of a node that is not hidden
  double exchange_across = 1;  ///< and of the exchange between nodes
  double async_tensor = .5;    ///< part of the sums that remains where they run beside products
  double eager = 1.5;          ///< passes where the model is not compiled, over those where it is
  double odd_head = 1.3;       ///< the output layer where no tile divides the vocabulary
};

struct StepConstantSpec {
  const char* name;
  const char* sentence;
  const char* told_by;  ///< measured jobs that would show it
  double StepConstants::*value;
};

/// All of them, in the order of a fit.
const std::vector<StepConstantSpec>& step_constant_specs();

template <typename V>
void describe(V& v, StepConstants& c) {
  for (const auto& spec : step_constant_specs()) v(spec.name, c.*spec.value);
}

/// Where the time of a step goes, on the device that has most to do.
struct StepTime {
  double compute_seconds = 0;   ///< products, attention and passes of its layers, all microbatches
  double tensor_seconds = 0;    ///< sums within tensor groups
  double shard_seconds = 0;     ///< gathers and scatters that are not hidden
  double exchange_seconds = 0;  ///< among experts, and of keys and values along the context
  double pipeline_seconds = 0;  ///< handing on from stage to stage
  double output_seconds = 0;
  double bubble_seconds = 0;
  double gradient_seconds = 0;
  double update_seconds = 0;
  double seconds = 0;
  bool launch_bound = false;  ///< launching takes longer than half of what a layer computes
};

template <typename V>
void describe(V& v, StepTime& t) {
  required(v, "compute_seconds", t.compute_seconds);
  required(v, "tensor_seconds", t.tensor_seconds);
  required(v, "shard_seconds", t.shard_seconds);
  required(v, "exchange_seconds", t.exchange_seconds);
  required(v, "pipeline_seconds", t.pipeline_seconds);
  required(v, "output_seconds", t.output_seconds);
  required(v, "bubble_seconds", t.bubble_seconds);
  required(v, "gradient_seconds", t.gradient_seconds);
  required(v, "update_seconds", t.update_seconds);
  required(v, "seconds", t.seconds);
  required(v, "launch_bound", t.launch_bound);
}

/// A pass of a stage's layers over one microbatch, in seconds.
struct PassSeconds {
  double compute = 0;
  double sums = 0;
  double gathers = 0;   ///< and scatters of shards, beside computing and sums
  double together = 0;  ///< computing, sums and gathers, each as much slower as the others make it
  double exchange = 0;  ///< among experts, and along the context
  double hand_on = 0;

  double exposed_gathers() const { return gathers > 0 ? together - compute - sums : 0; }
  double total() const { return together + exchange + hand_on; }
};

/// What the nodes of a step's graph take, in seconds: the law below and the graph (step_graph.hpp) both read these.
struct StepSeconds {
  PassSeconds forward;
  PassSeconds backward;
  double head = 0;              ///< the output layer, both passes of a microbatch
  double edge = 0;              ///< gathers of the embedding, for each microbatch
  double gradients = 0;         ///< of replicas
  double hidden_gradients = 0;  ///< of them, at most so much runs under the last passes
  double update = 0;
  bool launch_bound = false;

  double stage() const { return forward.total() + backward.total(); }
};

StepSeconds step_seconds(const StepWork& work, const StepPlan& plan, const StepConstants& constants);

/// How long the schedule of the step's graph takes, without making it. They are equal where a stage has no fewer
/// microbatches than there are stages, and interleaved ones divide them; step_graph_test.cpp holds them to it.
StepTime step_time(const StepWork& work, const StepPlan& plan, const StepConstants& constants);

}  // namespace assay::predict
