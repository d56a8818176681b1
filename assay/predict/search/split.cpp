#include "assay/predict/search/split.hpp"

#include <algorithm>

#include "assay/predict/step/usual_practice.hpp"

namespace assay::predict {
namespace {

/// In ascending order.
std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    low.push_back(d);
    if (d * d != number) high.push_back(number / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// Places of layers, the embedding and the output, where these two count as a layer each.
constexpr std::int64_t kEdges = 2;

bool layers_alone_fill(const ModelShape& m, const Split& s) {
  return m.layers % (s.pipeline * s.interleaving) == 0;
}

std::string why_not_tensor(const ModelShape& m, std::int64_t t) {
  if (m.heads % t != 0) return fmt::format("tensor {} does not divide {} heads", t, m.heads);
  if (m.kv_heads % t != 0 && t % m.kv_heads != 0) {
    return fmt::format("tensor {} and {} heads of keys and values do not divide each other", t, m.kv_heads);
  }
  if (m.feedforward > 0 && m.feedforward % t != 0) {
    return fmt::format("tensor {} does not divide the feed-forward layer's {} values", t, m.feedforward);
  }
  return {};
}

std::string why_not_context(std::int64_t sequence, std::int64_t c) {
  // Each device has a piece from the front and one from the back, so that all see as many tokens.
  if (c == 1 || sequence % (2 * c) == 0) return {};
  return fmt::format("2 x context {} does not divide the sequence of {} tokens", c, sequence);
}

std::string why_not_pipeline(const ModelShape& m, const Split& s) {
  const auto parts = s.pipeline * s.interleaving;
  if (s.pipeline == 1) {
    if (s.interleaving > 1) return "interleaving is for a pipeline";
    if (s.schedule != PipelineSchedule::one_forward_one_backward) return "zero_bubble is for a pipeline";
    return {};
  }
  if (!layers_alone_fill(m, s) && (m.layers + kEdges) % parts != 0) {
    return fmt::format("{} stages of {} parts divide neither {} layers nor {} with the embedding and the output",
                       s.pipeline, s.interleaving, m.layers, m.layers + kEdges);
  }
  if (s.interleaving > 1 && s.schedule == PipelineSchedule::zero_bubble) {
    return "zero_bubble is for stages of one part";
  }
  if (s.interleaving > 1 && s.microbatches % s.pipeline != 0) {
    return fmt::format("interleaved stages need microbatches that {} stages divide, not {}", s.pipeline,
                       s.microbatches);
  }
  return {};
}

std::string why_not_experts(const ModelShape& m, const Split& s) {
  if (s.experts == 1) return {};
  if (m.experts.count == 0) return "the model has no experts to spread";
  if (m.experts.count % s.experts != 0) {
    return fmt::format("{} devices do not divide {} experts", s.experts, m.experts.count);
  }
  if (s.data % s.experts != 0) return fmt::format("groups of {} for experts do not divide data {}", s.experts, s.data);
  return {};
}

std::string why_not_shard(const Split& s) {
  if (s.shard == 0) {
    if (s.sharded_optimizer && s.data * s.context == 1) return "one replica has nobody to share the optimizer with";
    return {};
  }
  if (s.sharded_optimizer) return "sharded parameters have their optimizer sharded already";
  if (s.shard == 1) return "a shard needs at least 2 devices";
  if ((s.data / s.experts) % s.shard != 0) {
    return fmt::format("shards of {} do not divide the {} devices that keep the same parameters", s.shard,
                       s.data / s.experts);
  }
  return {};
}

std::string why_not_batch(const SplitQuestion& q, const Split& s) {
  if (s.data * s.microbatch * s.microbatches == q.global_batch) return {};
  return fmt::format("data {} x {} microbatches of {} are not the batch of {}", s.data, s.microbatches, s.microbatch,
                     q.global_batch);
}

/// The rest of a split once its groups and its batch are set.
void add_variants(const SplitQuestion& q, Split s, std::vector<Split>& all) {
  const auto add_recomputing = [&](Split one) {
    for (const auto recompute :
         {Recomputing::none, q.practice.flash_attention ? Recomputing::selective : Recomputing::attention,
          Recomputing::full}) {
      one.recompute = recompute;
      all.push_back(one);
    }
  };
  const auto add_sharding = [&](Split one) {
    one.shard = 0;
    one.sharded_optimizer = false;
    add_recomputing(one);
    if (one.data * one.context > 1) {
      one.sharded_optimizer = true;
      add_recomputing(one);
      one.sharded_optimizer = false;
    }
    for (const auto shard : divisors_of(one.data / one.experts)) {
      if (shard == 1) continue;
      one.shard = shard;
      add_recomputing(one);
    }
  };
  if (s.pipeline == 1) {
    add_sharding(s);
    return;
  }
  std::vector<std::int64_t> parts;
  for (const auto layers : {q.model.layers, q.model.layers + kEdges}) {
    if (layers % s.pipeline != 0) continue;
    for (const auto v : divisors_of(layers / s.pipeline)) parts.push_back(v);
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (const auto v : parts) {
    if (v > 1 && s.microbatches % s.pipeline != 0) continue;
    s.interleaving = v;
    add_sharding(s);
  }
  if (parts.empty()) return;
  s.interleaving = 1;
  s.schedule = PipelineSchedule::zero_bubble;
  add_sharding(s);
}

/// Pairs of microbatch and microbatches, and groups of experts.
void add_batches(const SplitQuestion& q, Split s, std::vector<Split>& all) {
  if (q.global_batch % s.data != 0) return;
  const auto own = q.global_batch / s.data;
  for (const auto experts : divisors_of(q.model.experts.count > 0 ? s.data : 1)) {
    s.experts = experts;
    if (!why_not_experts(q.model, s).empty()) continue;
    for (const auto microbatch : divisors_of(own)) {
      s.microbatch = microbatch;
      s.microbatches = own / microbatch;
      add_variants(q, s, all);
    }
  }
}

}  // namespace

StepPlan plan_of(const SplitQuestion& q, const Split& s) {
  auto plan = q.practice;
  plan.devices = q.devices;
  plan.tensor = s.tensor;
  plan.pipeline = s.pipeline;
  plan.context = s.context;
  plan.experts = s.experts;
  plan.interleaving = s.interleaving;
  plan.shard = s.shard;
  plan.sharded_optimizer = s.sharded_optimizer;
  plan.microbatch = static_cast<double>(s.microbatch);
  plan.microbatches = static_cast<double>(s.microbatches);
  plan.recompute = s.recompute;
  plan.recompute_stated = true;
  plan.schedule = s.schedule;
  plan.sequence_parallel = s.tensor > 1;
  plan.balanced_head = output_takes_a_place(q.model, s.pipeline, s.interleaving);
  return plan;
}

StepJob job_of(const SplitQuestion& question, const Split& split) {
  return {question.model, plan_of(question, split), question.device};
}

std::string why_not(const SplitQuestion& q, const Split& s) {
  if (s.tensor * s.pipeline * s.context * s.data != q.devices) {
    return fmt::format("tensor {} x pipeline {} x context {} x data {} are not {} devices", s.tensor, s.pipeline,
                       s.context, s.data, q.devices);
  }
  if (auto why = why_not_tensor(q.model, s.tensor); !why.empty()) return why;
  if (auto why = why_not_context(q.practice.sequence, s.context); !why.empty()) return why;
  if (auto why = why_not_pipeline(q.model, s); !why.empty()) return why;
  if (auto why = why_not_experts(q.model, s); !why.empty()) return why;
  if (auto why = why_not_shard(s); !why.empty()) return why;
  return why_not_batch(q, s);
}

std::vector<Split> all_splits(const SplitQuestion& q) {
  std::vector<Split> all;
  Split s;
  for (const auto tensor : divisors_of(q.devices)) {
    if (!why_not_tensor(q.model, tensor).empty()) continue;
    s.tensor = tensor;
    for (const auto context : divisors_of(q.devices / tensor)) {
      if (!why_not_context(q.practice.sequence, context).empty()) continue;
      s.context = context;
      for (const auto pipeline : divisors_of(q.devices / tensor / context)) {
        if (pipeline > q.model.layers + kEdges) break;
        s.pipeline = pipeline;
        s.data = q.devices / tensor / context / pipeline;
        add_batches(q, s, all);
      }
    }
  }
  return all;
}

std::string why_none(const SplitQuestion& q) {
  return fmt::format(
      "{} devices cannot be split: no product of a part of {} heads, of {} layers ({} with the embedding and the "
      "output), of the sequence of {} tokens and of the batch of {} sequences is {}",
      q.devices, q.model.heads, q.model.layers, q.model.layers + kEdges, q.practice.sequence, q.global_batch,
      q.devices);
}

std::string text_of(const Split& s) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (s.tensor > 1) add(fmt::format("tensor {}", s.tensor));
  if (s.pipeline > 1) {
    add(fmt::format("pipeline {}{}", s.pipeline,
                    s.schedule == PipelineSchedule::zero_bubble ? " zero_bubble"
                    : s.interleaving > 1                        ? fmt::format(" of {} parts", s.interleaving)
                                                                : ""));
  }
  if (s.context > 1) add(fmt::format("context {}", s.context));
  if (s.data > 1) add(fmt::format("data {}", s.data));
  if (s.experts > 1) add(fmt::format("experts {}", s.experts));
  if (s.shard > 1) add(fmt::format("shard {}", s.shard));
  if (s.sharded_optimizer) add("ZeRO 1");
  add(fmt::format("{} x {}", s.microbatches, s.microbatch));
  if (s.recompute != Recomputing::none) add(std::string("recompute ") + name_of(s.recompute));
  return text;
}

}  // namespace assay::predict
