#pragma once

#include "assay/predict/step/step_job.hpp"

namespace assay::predict {

/// What one device does in a step, in seconds at the rates of its laws and data sheet: a layer's average for one
/// microbatch, how often it is repeated, and what is done once. Constants of a software stack turn it into a time.
struct StepWork {
  // A layer, forward and backward.
  double product_forward = 0;
  double product_backward = 0;
  double last_product = 0;  ///< the last of a layer, forward
  double expert_forward = 0;
  double expert_backward = 0;
  double flash = 0;           ///< attention in one kernel, forward
  double score_products = 0;  ///< or scores and values as products, forward
  double passes = 0;          ///< over memory by what is between products, forward
  double score_passes = 0;    ///< over explicit scores
  double sum_latency = 0;     ///< of the tensor group's sums in one direction
  double sum_inside = 0;
  double sum_across = 0;       ///< where the group spans nodes
  double exchange = 0;         ///< of tokens among experts of a node, there and back
  double exchange_across = 0;  ///< or of several nodes, where it waits for their links
  double ring = 0;             ///< keys and values of other parts of the context
  double gather_bytes = 0;     ///< that a device receives to have a layer whole (FSDP)
  double scatter_bytes = 0;
  double gather_latency = 0;
  double shard_bytes_per_second = 0;       ///< inside a node
  double shard_rail_bytes_per_second = 0;  ///< through the node's links, for a group that spans nodes; 0: it does not
  // A stage and the step.
  double layers = 1;  ///< of a stage
  double microbatches = 1;
  double bubbles = 0;      ///< microbatches that pass while the pipeline fills and empties
  double hand_on = 0;      ///< of a microbatch by all parts of a stage, both directions
  double head = 0;         ///< the output layer, both passes
  double head_passes = 0;  ///< one pass over its values
  double edge_bytes = 0;   ///< gathers and scatters of the embedding, which nothing hides
  double gradients = 0;    ///< of replicas, at the links' rates
  double update = 0;       ///< one byte of memory for each parameter
  double doublings = 0;    ///< of the devices beyond a node of 8
  double stages = 1;
  bool has_experts = false;
  bool odd_head = false;  ///< a vocabulary that no tile divides
  bool across = false;    ///< a group spans nodes
  bool gradients_across = false;
};

/// Precondition: check(job) passes.
StepWork step_work(const StepJob& job);

/// FLOPs of a step over all devices, forward and backward, without recomputing: 6 for each parameter that a token meets
/// and 12 for each pair of tokens and value of a head, half of them where tokens see those before alone.
double step_flops(const ModelShape& model, const StepPlan& plan);

}  // namespace assay::predict
