#include "assay/predict/step/step_law.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kAcrossCall = 50e-6;    // of a sum that spans nodes
constexpr double kInsideShards = .85;    // of a ring inside a node, by gathers of many layers at once
constexpr double kHiddenGradients = .7;  // of a stage's microbatch, under which replicas add up

double fourth_norm(double a, double b) {
  const double square = a * a * a * a + b * b * b * b;
  return std::sqrt(std::sqrt(square));
}

/// A layer's pass in each direction.
struct PassTimes {
  double forward = 0;
  double backward = 0;
  bool launch_bound = false;
};

double precision_factor(StepPrecision precision, const StepConstants& c) {
  return precision == StepPrecision::bf16 ? 1 : precision == StepPrecision::fp8 ? c.fp8 : c.fp4;
}

double recomputed(const StepWork& w, const StepPlan& plan, const StepConstants& c, double product, double passes,
                  double forward) {
  switch (plan.recompute) {
    case Recomputing::none:
      return 0;
    case Recomputing::attention:
      return c.attention * w.flash + c.product * w.score_products + passes * w.score_passes;
    case Recomputing::selective:
      return .5 * product * w.product_forward + passes * w.passes;
    case Recomputing::full:
      return forward - (plan.early_stop ? product * w.last_product : 0);
  }
  return 0;
}

PassTimes layer_time(const StepWork& w, const StepPlan& plan, const StepConstants& c) {
  const double product = c.product * precision_factor(plan.precision, c);
  const double passes = c.passes * (plan.compiled ? 1 : c.eager);
  const double attention = c.attention * w.flash + c.product * w.score_products;
  const double between = passes * (w.passes + w.score_passes);
  const double forward = product * (w.product_forward + w.expert_forward) + attention + between;
  const double backward = product * (w.product_backward + w.expert_backward) +
                          (plan.flash_attention ? 2.5 : 2.0) * attention + 2 * between +
                          recomputed(w, plan, c, product, passes, forward);
  const double all = forward + backward;
  const double launched = c.floor * (plan.recompute == Recomputing::full ? 4.0 / 3 : 1);
  const double slower = fourth_norm(all, launched) / all;
  return {forward * slower + c.call / 3, backward * slower + 2 * c.call / 3, launched > .5 * all};
}

/// Sums of a tensor group in one direction of a layer.
double sum_seconds(const StepWork& w, const StepPlan& plan, const StepConstants& c) {
  if (plan.tensor <= 1) return 0;
  const double inside = c.sums * (w.sum_latency + w.sum_inside);
  const double sums = w.sum_across > 0 ? std::max(inside, w.sum_across / c.links) + kAcrossCall : inside;
  return sums * (plan.async_tensor ? c.async_tensor : 1);
}

double together(double computing, double sending, double interference) {
  return std::max(computing, sending) + interference * std::min(computing, sending);
}

double shard_rate(const StepWork& w, const StepConstants& c) {
  return w.shard_rail_bytes_per_second > 0 ? std::min(w.shard_bytes_per_second, w.shard_rail_bytes_per_second * c.links)
                                           : kInsideShards * w.shard_bytes_per_second;
}

}  // namespace

const std::vector<StepConstantSpec>& step_constant_specs() {
  using C = StepConstants;
  static const std::vector<StepConstantSpec> specs{
      {"product", "products in a step over products alone",
       "jobs of large products (long sequences, large microbatches)", &C::product},
      {"passes", "what is between products over one read and write of its values", "jobs of several hidden sizes",
       &C::passes},
      {"attention", "flash attention over half of the peak", "one model with several lengths of sequence",
       &C::attention},
      {"floor", "seconds that launching a layer takes", "small models with microbatches of one sequence", &C::floor},
      {"call", "seconds a layer that nothing hides", "small models with several numbers of layers", &C::call},
      {"sums", "sums of tensor groups over a ring inside the node", "one model with several sizes of tensor groups",
       &C::sums},
      {"links", "share of the links between nodes that is reached", "one job inside a node and on several nodes",
       &C::links},
      {"interference", "part of the shorter of computing and gathering that is not hidden",
       "one job with shards (FSDP) and without", &C::interference},
      {"update", "bytes that the optimizer moves for a parameter", "one job with few and with many microbatches",
       &C::update},
      {"bubble", "of the schedule's own", "one pipeline with few and with many microbatches", &C::bubble},
      {"fp8", "products in fp8 over those in bf16", "one job in fp8 and in bf16", &C::fp8},
      {"fp4", "products in fp4 over those in bf16", "one job in fp4 and in bf16", &C::fp4},
      {"scale", "slower by this part for each doubling of the devices", "one job on several numbers of nodes",
       &C::scale},
      {"head", "passes over the values of the output layer", "models of several vocabularies or numbers of layers",
       &C::head},
      {"exchange", "part of the exchange among experts of a node that is not hidden",
       "one model with several groups of experts inside a node", &C::exchange},
      {"exchange_across", "part of the exchange among experts of several nodes that is not hidden",
       "one model with several groups of experts across nodes", &C::exchange_across},
      {"async_tensor", "part of the sums that remains beside products",
       "one tensor group with sums beside the products and without", &C::async_tensor},
      {"eager", "passes where the model is not compiled", "one model compiled and not compiled", &C::eager},
      {"odd_head", "the output layer where no tile divides the vocabulary",
       "one model with a vocabulary that 8 divides and one that it does not", &C::odd_head}};
  return specs;
}

StepSeconds step_seconds(const StepWork& w, const StepPlan& plan, const StepConstants& c) {
  const auto layer = layer_time(w, plan, c);
  const double sums = sum_seconds(w, plan, c);
  const double again = plan.recompute == Recomputing::full ? 2 : 1;  // forward passes of the backward pass, and itself
  const double rate = w.gather_bytes > 0 ? shard_rate(w, c) : 1;
  const double gather = w.gather_bytes > 0 ? w.gather_bytes / rate + w.gather_latency : 0;
  const double scatter = w.gather_bytes > 0 ? w.scatter_bytes / rate + w.gather_latency : 0;
  const double exchange = c.exchange * w.exchange + c.exchange_across * w.exchange_across;
  const double ring = c.interference * c.sums * w.ring;
  const double slower = 1 + c.scale * w.doublings;
  const auto pass = [&](double compute, double summed, double gathered, double exchanged) {
    const double layers = slower * w.layers;
    return PassSeconds{layers * compute,   layers * summed,
                       layers * gathered,  layers * together(compute + summed, gathered, c.interference),
                       layers * exchanged, slower * w.hand_on / 2};
  };
  StepSeconds s;
  s.forward = pass(layer.forward, sums, gather, exchange + ring);
  s.backward = pass(layer.backward, again * sums, gather + scatter, again * exchange + (1 + again) * ring);
  const double head = c.product * w.head * (w.odd_head ? c.odd_head : 1) + c.head * w.head_passes;
  s.head = slower * (plan.balanced_head ? head / w.stages : head);
  s.edge = slower * w.edge_bytes / rate;
  s.gradients = slower * w.gradients / (w.gradients_across ? c.links : 1);
  s.hidden_gradients = plan.overlapped_gradients ? std::min(s.gradients, kHiddenGradients * s.stage()) : 0;
  s.update = slower * c.update * w.update;
  s.launch_bound = layer.launch_bound;
  return s;
}

StepTime step_time(const StepWork& w, const StepPlan& plan, const StepConstants& c) {
  const auto s = step_seconds(w, plan, c);
  const double times = w.microbatches;
  StepTime t;
  t.launch_bound = s.launch_bound;
  t.compute_seconds = times * (s.forward.compute + s.backward.compute);
  t.tensor_seconds = times * (s.forward.sums + s.backward.sums);
  t.shard_seconds = times * (s.forward.exposed_gathers() + s.backward.exposed_gathers() + s.edge);
  t.exchange_seconds = times * (s.forward.exchange + s.backward.exchange);
  t.pipeline_seconds = times * (s.forward.hand_on + s.backward.hand_on);
  t.output_seconds = times * s.head;
  t.bubble_seconds = c.bubble * w.bubbles * s.stage();
  t.gradient_seconds = s.gradients - s.hidden_gradients;
  t.update_seconds = s.update;
  t.seconds = t.compute_seconds + t.tensor_seconds + t.shard_seconds + t.exchange_seconds + t.pipeline_seconds +
              t.output_seconds + t.bubble_seconds + t.gradient_seconds + t.update_seconds;
  return t;
}

}  // namespace assay::predict
