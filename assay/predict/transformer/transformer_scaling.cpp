#include "assay/predict/transformer/transformer_scaling.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

/// A device's share of the links of its node.
double across_rate(const Cluster& cluster) {
  if (!cluster.across) return 0;
  const double sharing = cluster.across_per == Sharing::device ? 1 : static_cast<double>(cluster.devices_per_node);
  return cluster.across->bytes_per_second / sharing;
}

double needed(const std::optional<double>& value, const char* what) {
  if (value) return *value;
  fail(ErrorKind::usage, "the cluster's device has no {}; a transformer's step needs it. Add it to the cluster file.",
       what);
}

/// Parts of a stage count with the bubbles that they make.
TransformerLimit limit_of_step(const TransformerStep& step, const TransformerPlan& plan) {
  const double again =
      static_cast<double>(plan.pipeline - 1) / static_cast<double>(plan.interleaving * plan.microbatches());
  const double compute =
      (step.product_seconds + step.passes_seconds) * (1 + again) + step.output_seconds + step.update_seconds;
  const double communication = (step.tensor_seconds + step.pipeline_seconds) * (1 + again) + step.gradient_seconds;
  if (step.bubble_seconds > std::max(compute, communication)) return TransformerLimit::bubble;
  return communication > compute ? TransformerLimit::communication : TransformerLimit::compute;
}

TransformerPlan plan_on(TransformerPlan plan, std::int64_t devices) {
  const auto model = plan.tensor * plan.pipeline;
  if (plan.tensor < 1 || plan.pipeline < 1) fail(ErrorKind::usage, "tensor and pipeline are numbers from 1 on.");
  if (devices % model != 0) {
    const auto fewer = devices / model * model;
    fail(ErrorKind::usage, "{} devices cannot be divided by tensor x pipeline = {} x {}. Ask for {}{}.", devices,
         plan.tensor, plan.pipeline, fewer > 0 ? fmt::format("{} or ", fewer) : "", fewer + model);
  }
  plan.data = devices / model;
  return plan;
}

void add_price(const TransformerQuestion& question, const Cluster& part, TransformerPoint& point) {
  if (!question.job_samples) return;
  point.job_hours = *question.job_samples / point.sequences_per_second / 3600;
  if (part.price_per_hour) point.job_price = *point.job_hours * *part.price_per_hour * static_cast<double>(part.nodes);
}

std::optional<std::int64_t> last_size(const network::Node& node) {
  return node.shape.empty() ? std::nullopt : std::optional(node.shape.back());
}

}  // namespace

std::optional<TransformerShape> transformer_shape(const network::Graph& graph) {
  using network::Op;
  TransformerShape shape;
  for (const auto& node : graph.nodes) {
    if (node.op == Op::attention) {
      shape.blocks += 1;
      shape.heads = node.attributes.heads.value_or(0);
      shape.hidden = last_size(node).value_or(0);
      shape.sequence = node.shape.size() == 2 ? node.shape.front() : 0;
    }
    if (node.op == Op::gelu || node.op == Op::gelu_tanh) shape.feedforward = last_size(node).value_or(0);
    if (node.op == Op::embedding && shape.vocabulary == 0) shape.vocabulary = node.attributes.rows.value_or(0);
  }
  const bool whole = shape.blocks > 0 && shape.heads > 0 && shape.hidden > 0 && shape.sequence > 0 &&
                     shape.feedforward > 0 && shape.vocabulary > 0;
  return whole ? std::optional(shape) : std::nullopt;
}

TransformerDevice transformer_device(const Cluster& cluster, const TransformerPlan& plan, double share) {
  TransformerDevice device;
  device.flops_per_second = needed(cluster.device.flops_per_second, "peak");
  device.memory_bytes_per_second = needed(cluster.device.memory_bytes_per_second, "memory_bandwidth");
  device.memory_bytes = cluster.device.memory_bytes.value_or(0);
  const double inside = cluster.inside ? cluster.inside->bytes_per_second : 0;
  device.across_bytes_per_second = cluster.nodes > 1 ? across_rate(cluster) : inside;
  const bool in_a_node = plan.tensor <= cluster.devices_per_node && cluster.devices_per_node % plan.tensor == 0;
  device.tensor_bytes_per_second = in_a_node ? inside : device.across_bytes_per_second;
  device.share = share;
  return device;
}

TransformerPoint transformer_point(const TransformerQuestion& question, std::int64_t devices) {
  const auto part = part_of(question.cluster, devices);
  TransformerPoint point;
  point.devices = devices;
  point.nodes = part.nodes;
  point.plan = plan_on(question.plan, devices);
  const auto at_share = [&](double share) {
    return transformer_step(question.shape, point.plan, transformer_device(part, point.plan, share));
  };
  const auto& efficiency = part.device.efficiency;
  point.step = at_share(efficiency.middle());
  point.low_seconds = at_share(efficiency.high).seconds;
  point.high_seconds = at_share(efficiency.low).seconds;
  point.sequences_per_second = static_cast<double>(point.plan.batch) / point.step.seconds;
  point.limit = limit_of_step(point.step, point.plan);
  point.memory = transformer_memory(question.shape, point.plan);
  if (part.device.memory_bytes) point.fits = point.memory.total() <= *part.device.memory_bytes;
  add_price(question, part, point);
  return point;
}

TransformerPrediction predict_transformer(const TransformerQuestion& question,
                                          const std::vector<std::int64_t>& devices) {
  TransformerPrediction out;
  out.name = question.name;
  out.cluster = question.cluster.name;
  out.shape = question.shape;
  for (const auto count : devices) out.points.push_back(transformer_point(question, count));
  out.parameters = parameters_of(question.shape);
  out.advice = advise_transformer(question, devices.back());
  return out;
}

}  // namespace assay::predict
