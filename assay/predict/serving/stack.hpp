#pragma once

#include <string>

#include "assay/predict/serving/served_model.hpp"

namespace assay::predict {

/// What a server's software adds to the kernels' times, as factors on them and fixed times.
struct StackConstants {
  double products = 1;
  double attention = 1;
  double collectives = 1;
  double prefill = 1;       ///< on all of a prompt's work
  double layer_us = 1;      ///< microseconds of a layer and step on top
  double sequence_us = 1;   ///< microseconds of a sequence and step on top
  double first = 1;         ///< prompts' times that pass before the first token of one that comes alone
  double first_each = 0.1;  ///< and for each other sequence of the batch
  double wait = 0.01;       ///< share of a request's time, over the concurrency, that it waits to be taken
  double queue = 0.7;       ///< share of a request's time that one waits that does not fit
  // Of a static batch, whose prompts and decode steps share no constant:
  double host_norm = 1;       ///< how sharply the larger of the host's and the device's time counts
  double first_products = 1;  ///< of prompts; products is that of decoding, and so on
  double first_attention = 1;
  double first_collectives = 1;
  double first_layer_us = 1;  ///< microseconds of the host for a layer of prompts
  double first_norm = 1;
  double long_token_us = 1;  ///< microseconds of each token beyond 2048 in one step, of 70 billion parameters on 8
  double long_split = 1;     ///< the power of the tensor split by which they grow
  double capped = 1;         ///< factor on prompts where the device's power is capped
};

template <typename V>
void describe(V& v, StackConstants& c) {
  v("products", c.products);
  v("attention", c.attention);
  v("collectives", c.collectives);
  v("prefill", c.prefill);
  v("layer_us", c.layer_us);
  v("sequence_us", c.sequence_us);
  v("first", c.first);
  v("first_each", c.first_each);
  v("wait", c.wait);
  v("queue", c.queue);
  v("host_norm", c.host_norm);
  v("first_products", c.first_products);
  v("first_attention", c.first_attention);
  v("first_collectives", c.first_collectives);
  v("first_layer_us", c.first_layer_us);
  v("first_norm", c.first_norm);
  v("long_token_us", c.long_token_us);
  v("long_split", c.long_split);
  v("capped", c.capped);
}

/// How requests come: a fixed number of clients that each wait for their answer, or one batch that begins together.
enum class ServingMode { closed_loop, static_batch };

/// What is asked of a server.
struct ServingPoint {
  ServedModel model;
  ServingMode mode = ServingMode::closed_loop;
  double prompt_tokens = 0;
  double output_tokens = 0;
  double concurrency = 1;  ///< clients, or the batch
  bool capped = false;
};

/// The kernels' times of a point; they do not depend on the stack's constants.
struct PointParts {
  StepParts decode;
  StepParts mixed;  ///< what a whole prompt adds to a decode step
  StepParts prefill;
  double layers = 0;
  double batch = 1;  ///< sequences that run at once
};

/// `room` scales the sequences that fit beside the weights.
PointParts parts_of(const ServingPoint& point, const KernelTimes& times, double room);

struct ServingTimes {
  double first_token_seconds = 0;
  double token_seconds = 0;
  double tokens_per_second = 0;  ///< of all clients together
  double decode_step_seconds = 0;
  double prefill_seconds = 0;  ///< of one prompt alone
  double batch = 1;
};

template <typename V>
void describe(V& v, ServingTimes& t) {
  required(v, "first_token_seconds", t.first_token_seconds);
  required(v, "token_seconds", t.token_seconds);
  required(v, "tokens_per_second", t.tokens_per_second);
  v("decode_step_seconds", t.decode_step_seconds);
  v("prefill_seconds", t.prefill_seconds);
  v("batch", t.batch);
}

/// Times of a step and of requests by formula: docs/serving.md.
ServingTimes serving_times(const ServingPoint& point, const PointParts& parts, const StackConstants& constants);

/// The same without a stack: each step at its roofline, nothing waits.
ServingTimes roofline_times(const ServingPoint& point, const DeviceSheet& sheet);

}  // namespace assay::predict
