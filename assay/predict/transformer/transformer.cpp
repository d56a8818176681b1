#include "assay/predict/transformer/transformer.hpp"

#include <algorithm>

namespace assay::predict {
namespace {

constexpr double kHalf = 2;    // bytes of a value in half precision
constexpr double kSingle = 4;  // and in single

/// The sizes of one microbatch, as the formulas name them.
struct Sizes {
  Sizes(const TransformerShape& shape, const TransformerPlan& plan)
      : b(static_cast<double>(plan.microbatch)),
        s(static_cast<double>(shape.sequence)),
        h(static_cast<double>(shape.hidden)),
        f(static_cast<double>(shape.feedforward)),
        a(static_cast<double>(shape.heads)),
        vocabulary(static_cast<double>(shape.vocabulary)),
        t(static_cast<double>(plan.tensor)),
        blocks(static_cast<double>(shape.blocks) / static_cast<double>(plan.pipeline)) {}

  double b, s, h, f, a, vocabulary, t;
  double blocks;  // of a stage
};

/// Scores and values: two products of s x s x h.
double attention_flops(const Sizes& z) {
  return 4 * z.b * z.s * z.s * z.h;
}

/// Query, key, value and output are 4 h^2, the feed-forward layers 2 h f, at two FLOPs for each token.
double block_flops(const Sizes& z) {
  return 2 * z.b * z.s * (4 * z.h * z.h + 2 * z.h * z.f) + attention_flops(z);
}

/// The backward pass has two products for each one of the forward pass.
double block_flops_of_step(const Sizes& z, Recompute recompute) {
  const double again = recompute == Recompute::full        ? block_flops(z)
                       : recompute == Recompute::attention ? attention_flops(z)
                                                           : 0;
  return 3 * block_flops(z) + again;
}

/// Bytes that operators other than products read and write in a block, on one device.
double block_bytes_of_step(const Sizes& z, const TransformerPlan& plan) {
  // Forward: a norm reads and writes 2 bytes (4); bias, dropout and shortcut read two, write one and a mask (7); each
  // twice. Backward: norms 6, dropouts 5, and the sums of the two shortcuts 6, each twice.
  const double spread = plan.sequence_parallel ? z.t : 1;
  const double around_forward = 22 * z.b * z.s * z.h / spread;
  const double around_backward = 34 * z.b * z.s * z.h / spread;
  // Softmax reads and writes (4), dropout reads, writes and keeps a mask (5); backward 6 and 5.
  const double scores_forward = 9 * z.b * z.a * z.s * z.s / z.t;
  const double scores_backward = 11 * z.b * z.a * z.s * z.s / z.t;
  // The activation reads and writes (4); backward it reads two and writes one (6).
  const double active_forward = 4 * z.b * z.s * z.f / z.t;
  const double active_backward = 6 * z.b * z.s * z.f / z.t;
  const double forward = around_forward + scores_forward + active_forward;
  const double again = plan.recompute == Recompute::full        ? forward
                       : plan.recompute == Recompute::attention ? scores_forward
                                                                : 0;
  return forward + around_backward + scores_backward + active_backward + again;
}

/// Bytes a device sends to add up b s h values twice forward and twice backward, and twice more where a block is
/// computed again. Sequence parallelism scatters and gathers in place of it: the same bytes.
double tensor_bytes_of_step(const Sizes& z, Recompute recompute) {
  const double times = recompute == Recompute::full ? 6 : 4;
  return times * 2 * (z.t - 1) / z.t * kHalf * z.b * z.s * z.h;
}

double seconds_at(double amount, double rate) {
  return amount > 0 ? amount / rate : 0;
}

/// The vocabulary's product, and about six passes over its values in single precision for the loss.
double output_seconds_of(const Sizes& z, const TransformerDevice& device) {
  return seconds_at(6 * z.b * z.s * z.h * z.vocabulary / z.t, device.flops_per_second) +
         seconds_at(6 * kSingle * z.b * z.s * z.vocabulary / z.t, device.memory_bytes_per_second);
}

/// Adam reads and writes the parameter and two moments in single precision (24), reads and clears the gradient (4) and
/// writes the parameter in half precision (2).
double update_bytes(double parameters, const TransformerPlan& plan) {
  return 30 * parameters / (plan.zero > 0 ? static_cast<double>(plan.data) : 1);
}

/// Adding up, or scattering and gathering; with ZeRO 3 parameters are gathered in both passes.
double gradient_bytes_sent(double parameters, const TransformerPlan& plan) {
  const auto d = static_cast<double>(plan.data);
  return (plan.zero == 3 ? 3 : 2) * (d - 1) / d * kHalf * parameters;
}

/// The divisors next to a number that is none.
std::string divisors_near(std::int64_t whole, std::int64_t part) {
  std::int64_t below = 1;
  std::int64_t above = whole;
  const auto see = [&](std::int64_t divisor) {
    if (divisor < part) below = std::max(below, divisor);
    if (divisor > part) above = std::min(above, divisor);
  };
  for (std::int64_t i = 1; i * i <= whole; ++i) {
    if (whole % i != 0) continue;
    see(i);
    see(whole / i);
  }
  return part > whole || below == above ? std::to_string(below) : fmt::format("{} or {}", below, above);
}

void check_divides(std::int64_t whole, std::int64_t part, const char* what, const char* by) {
  if (whole % part == 0) return;
  fail(ErrorKind::usage, "{} {} cannot be divided by {} {}; by {} they can.", whole, what, by, part,
       divisors_near(whole, part));
}

void check_positive(std::int64_t value, const char* what) {
  if (value < 1 || value > 1'000'000'000) {
    fail(ErrorKind::usage, "{} is {}; give a number from 1 to 1,000,000,000.", what, value);
  }
}

}  // namespace

void check(const TransformerShape& shape, const TransformerPlan& plan) {
  check_positive(shape.hidden, "hidden");
  check_positive(shape.feedforward, "feedforward");
  check_positive(shape.sequence, "sequence");
  check_positive(shape.heads, "heads");
  check_positive(shape.blocks, "blocks");
  check_positive(shape.vocabulary, "vocabulary");
  check_positive(plan.tensor, "tensor");
  check_positive(plan.pipeline, "pipeline");
  check_positive(plan.data, "data");
  check_positive(plan.interleaving, "interleaving");
  check_positive(plan.batch, "batch");
  check_positive(plan.microbatch, "microbatch");
  check_divides(shape.hidden, shape.heads, "values of hidden", "heads");
  check_divides(shape.heads, plan.tensor, "heads", "tensor");
  check_divides(shape.blocks, plan.pipeline * plan.interleaving, "blocks", "pipeline x interleaving");
  check_divides(plan.batch, plan.data * plan.microbatch, "sequences of the batch", "data x microbatch");
  if (plan.interleaving > 1) {
    check_divides(plan.microbatches(), plan.pipeline, "microbatches of an interleaved pipeline", "pipeline");
  }
  if (plan.zero < 0 || plan.zero > 3) fail(ErrorKind::usage, "zero is {}; give 0, 1, 2 or 3.", plan.zero);
}

double parameters_of(const TransformerShape& shape) {
  const TransformerPlan alone;
  return parameters_of_device(shape, alone) + 2 * static_cast<double>(shape.hidden);  // and the last norm
}

double parameters_of_device(const TransformerShape& shape, const TransformerPlan& plan) {
  const Sizes z(shape, plan);
  // Weights and biases of query, key, value and output, of the feed-forward layers, and two norms.
  const double block = 4 * z.h * z.h + 4 * z.h + 2 * z.h * z.f + z.f + z.h + 4 * z.h;
  return (z.blocks * block + (z.vocabulary + z.s) * z.h) / z.t;
}

double step_flops(const TransformerShape& shape, double batch) {
  const Sizes z(shape, {});
  return 3 * batch * (z.blocks * block_flops(z) + 2 * z.s * z.h * z.vocabulary);
}

TransformerStep transformer_step(const TransformerShape& shape, const TransformerPlan& plan,
                                 const TransformerDevice& device) {
  check(shape, plan);
  const Sizes z(shape, plan);
  const auto m = static_cast<double>(plan.microbatches());
  const auto v = static_cast<double>(plan.interleaving);
  const double slower = 1 / device.share;
  const double parameters = parameters_of_device(shape, plan);

  TransformerStep step;
  step.product_seconds =
      m * slower * z.blocks * seconds_at(block_flops_of_step(z, plan.recompute) / z.t, device.flops_per_second);
  step.passes_seconds =
      m * slower * z.blocks * seconds_at(block_bytes_of_step(z, plan), device.memory_bytes_per_second);
  step.tensor_seconds =
      m * slower * z.blocks * seconds_at(tensor_bytes_of_step(z, plan.recompute), device.tensor_bytes_per_second);
  if (plan.pipeline > 1) {
    // Each part of the network hands on its output, and the gradient back; devices of a group send a share each.
    step.pipeline_seconds =
        m * slower * seconds_at(2 * v * kHalf * z.b * z.s * z.h / z.t, device.across_bytes_per_second);
  }
  step.output_seconds = m * slower * output_seconds_of(z, device);
  const double stage = step.product_seconds + step.passes_seconds + step.tensor_seconds + step.pipeline_seconds;
  step.bubble_seconds = stage * static_cast<double>(plan.pipeline - 1) / (v * m);
  step.gradient_seconds = slower * seconds_at(gradient_bytes_sent(parameters, plan), device.across_bytes_per_second);
  step.update_seconds = slower * seconds_at(update_bytes(parameters, plan), device.memory_bytes_per_second);
  step.seconds = stage + step.output_seconds + step.bubble_seconds + step.gradient_seconds + step.update_seconds;
  step.utilization = step_flops(shape, static_cast<double>(plan.batch)) /
                     (step.seconds * static_cast<double>(plan.devices()) * device.flops_per_second);
  return step;
}

}  // namespace assay::predict
