#include "assay/predict/serving/stack.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

constexpr double kMemoryShare = 0.9;         // that servers take by default
constexpr double kLongStep = 2048;           // tokens of a step beyond which older servers slow down
constexpr double kLongValues = 80.0 * 8192;  // layers x hidden of 70 billion parameters
constexpr double kLongSplit = 8;

double weighed(const StepParts& parts, const StackConstants& c) {
  return c.products * (parts.products + parts.head) + c.attention * parts.attention +
         c.collectives * parts.collectives + parts.elementwise;
}

/// The same for the prompts of a static batch.
double weighed_first(const StepParts& parts, const StackConstants& c) {
  return c.first_products * (parts.products + parts.head) + c.first_attention * parts.attention +
         c.first_collectives * parts.collectives + parts.elementwise;
}

double normed(double a, double b, double norm) {
  const double larger = std::max(a, b);
  return larger > 0 ? larger * std::pow(std::pow(a / larger, norm) + std::pow(b / larger, norm), 1 / norm) : 0;
}

StepParts difference(const StepParts& a, const StepParts& b) {
  return {a.products - b.products, a.attention - b.attention, a.collectives - b.collectives,
          a.elementwise - b.elementwise, a.head - b.head};
}

/// What tokens beyond a number of them add to a step: in proportion to the values that the devices exchange for one.
double long_seconds(const ServingPoint& point, const StackConstants& c) {
  const auto& shape = point.model.shape;
  const double exchanged = static_cast<double>(shape.layers * shape.hidden) / kLongValues;
  const double split = static_cast<double>(point.model.tensor) / kLongSplit;
  const double beyond = std::max(0.0, point.prompt_tokens * point.concurrency - kLongStep);
  return 1e-6 * c.long_token_us * exchanged * std::pow(split, c.long_split) * beyond;
}

ServingTimes static_times(const ServingPoint& point, const PointParts& parts, const StackConstants& c) {
  const double host = 1e-6 * parts.layers;
  ServingTimes times;
  times.batch = parts.batch;
  times.decode_step_seconds =
      normed(host * c.layer_us, weighed(parts.decode, c), c.host_norm) + 1e-6 * c.sequence_us * parts.batch;
  times.prefill_seconds =
      normed(host * c.first_layer_us, weighed_first(parts.prefill, c), c.first_norm) + long_seconds(point, c);
  times.token_seconds = times.decode_step_seconds;
  times.first_token_seconds = times.prefill_seconds * (point.capped ? c.capped : 1);
  times.tokens_per_second = point.concurrency * point.output_tokens /
                            (times.first_token_seconds + (point.output_tokens - 1) * times.token_seconds);
  return times;
}

/// While a request decodes for D seconds, the prompts of the others are put between its steps: of each of them the
/// share D / (D + t0) meets it. D = (O - 1) t_decode + (batch - 1) mixed D / (D + t0).
ServingTimes closed_times(const ServingPoint& point, const PointParts& parts, const StackConstants& c) {
  const double fixed = 1e-6 * c.layer_us * parts.layers;
  const double step = weighed(parts.decode, c) + fixed + 1e-6 * c.sequence_us * parts.batch;
  const double prompt = c.prefill * weighed(parts.prefill, c) + fixed;
  const double alone = (c.first + c.first_each * (parts.batch - 1)) * prompt;
  const double steps = std::max(1.0, point.output_tokens - 1);
  const double own = steps * step;
  const double others = (parts.batch - 1) * c.prefill * std::max(0.0, weighed(parts.mixed, c));
  const double rest = own + others - alone;
  const double decoding = (rest + std::sqrt(rest * rest + 4 * own * alone)) / 2;
  const double request = alone + decoding;
  ServingTimes times;
  times.batch = parts.batch;
  times.decode_step_seconds = step;
  times.prefill_seconds = prompt;
  times.token_seconds = decoding / steps;
  times.first_token_seconds = alone + c.wait * request / point.concurrency +
                              c.queue * std::max(0.0, point.concurrency / parts.batch - 1) * request;
  times.tokens_per_second = point.concurrency * point.output_tokens / (times.first_token_seconds + decoding);
  return times;
}

}  // namespace

PointParts parts_of(const ServingPoint& point, const KernelTimes& times, double room) {
  PointParts parts;
  parts.layers = static_cast<double>(point.model.shape.layers);
  const double context = point.prompt_tokens + point.output_tokens / 2;
  const double fits = room * sequences_that_fit(point.model, times.sheet(), context, kMemoryShare);
  const bool closed = point.mode == ServingMode::closed_loop;
  parts.batch = closed ? std::max(1.0, std::min(point.concurrency, fits)) : point.concurrency;
  parts.decode = step_parts(point.model, times, {parts.batch, context, 0, 0, 0});
  const auto mixed = step_parts(point.model, times, {parts.batch, context, 1, point.prompt_tokens, 0});
  parts.mixed = difference(mixed, parts.decode);
  parts.prefill = step_parts(point.model, times, {0, 0, closed ? 1 : parts.batch, point.prompt_tokens, 0});
  return parts;
}

ServingTimes serving_times(const ServingPoint& point, const PointParts& parts, const StackConstants& constants) {
  return point.mode == ServingMode::closed_loop ? closed_times(point, parts, constants)
                                                : static_times(point, parts, constants);
}

ServingTimes roofline_times(const ServingPoint& point, const DeviceSheet& sheet) {
  const double context = point.prompt_tokens + point.output_tokens / 2;
  const bool closed = point.mode == ServingMode::closed_loop;
  ServingTimes times;
  times.batch = point.concurrency;
  times.decode_step_seconds = step_roofline(point.model, sheet, {times.batch, context, 0, 0, 0});
  times.prefill_seconds = step_roofline(point.model, sheet, {0, 0, closed ? 1 : times.batch, point.prompt_tokens, 0});
  times.first_token_seconds = times.prefill_seconds;
  times.token_seconds = times.decode_step_seconds;
  times.tokens_per_second = point.concurrency * point.output_tokens /
                            (times.first_token_seconds + (point.output_tokens - 1) * times.token_seconds);
  return times;
}

}  // namespace assay::predict
