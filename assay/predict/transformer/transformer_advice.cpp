#include <algorithm>

#include "assay/predict/transformer/transformer_scaling.hpp"

namespace assay::predict {
namespace {

constexpr double kLeastTransformerGain = 1.01;
constexpr std::size_t kMostSplits = 3;

struct TransformerChange {
  std::string name;
  TransformerQuestion question;
};

/// A point with a change, or nothing where the numbers cannot be divided so.
std::optional<TransformerAdvice> tried(const TransformerChange& change, const TransformerPoint& now,
                                       bool only_fitting) {
  try {
    const auto then = transformer_point(change.question, now.devices);
    const double gain = then.sequences_per_second / now.sequences_per_second;
    if (!then.fits.value_or(true) || (!only_fitting && gain < kLeastTransformerGain)) return std::nullopt;
    return TransformerAdvice{change.name, then.step.seconds, gain, then.memory.total()};
  } catch (const Error&) {
    return std::nullopt;
  }
}

void keep_best(std::vector<TransformerAdvice>& all, std::size_t most) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  if (all.size() > most) all.resize(most);
}

/// Other ways to divide the same devices: the best few. Where interleaving cannot be kept, it is given up.
std::vector<TransformerAdvice> other_splits(const TransformerQuestion& question, const TransformerPoint& now,
                                            bool only_fitting) {
  std::vector<TransformerAdvice> splits;
  for (std::int64_t tensor = 1; tensor <= std::min(question.shape.heads, question.cluster.devices_per_node); ++tensor) {
    if (question.shape.heads % tensor != 0) continue;
    for (std::int64_t pipeline = 1; pipeline <= std::min(question.shape.blocks, now.devices / tensor); ++pipeline) {
      if (question.shape.blocks % pipeline != 0 || now.devices % (tensor * pipeline) != 0) continue;
      if (tensor == question.plan.tensor && pipeline == question.plan.pipeline) continue;
      TransformerChange change{
          fmt::format("tensor {} x pipeline {} x data {}", tensor, pipeline, now.devices / (tensor * pipeline)),
          question};
      change.question.plan.tensor = tensor;
      change.question.plan.pipeline = pipeline;
      auto found = tried(change, now, only_fitting);
      if (!found && question.plan.interleaving > 1) {
        change.question.plan.interleaving = 1;
        change.name += ", not interleaved";
        found = tried(change, now, only_fitting);
      }
      if (found) splits.push_back(*found);
    }
  }
  keep_best(splits, kMostSplits);
  return splits;
}

void add_plan_changes(const TransformerQuestion& q, std::vector<TransformerChange>& changes) {
  const auto with = [&](std::string name, auto&& change_it) {
    TransformerChange change{std::move(name), q};
    change_it(change.question.plan);
    changes.push_back(std::move(change));
  };
  for (const std::int64_t size : {q.plan.microbatch * 4, q.plan.microbatch * 2, q.plan.microbatch / 2}) {
    if (size >= 1) with(fmt::format("microbatches of {}", size), [&](auto& plan) { plan.microbatch = size; });
  }
  for (std::int64_t parts = 1; parts <= 8 && q.plan.pipeline > 1; ++parts) {
    if (parts == q.plan.interleaving) continue;
    with(fmt::format("{} part{} of the network in each stage", parts, parts == 1 ? "" : "s"),
         [&](auto& plan) { plan.interleaving = parts; });
  }
  for (const auto way : {Recompute::none, Recompute::attention, Recompute::full}) {
    if (way == q.plan.recompute) continue;
    with(fmt::format("--recompute {}", name_of(way)), [&](auto& plan) { plan.recompute = way; });
  }
  if (!q.plan.sequence_parallel && q.plan.tensor > 1) {
    with("--sequence-parallel", [](auto& plan) { plan.sequence_parallel = true; });
    if (q.plan.recompute != Recompute::attention) {
      with("--sequence-parallel --recompute attention", [](auto& plan) {
        plan.sequence_parallel = true;
        plan.recompute = Recompute::attention;
      });
    }
  }
  for (const std::int64_t zero : {1, 2, 3}) {
    if (zero != q.plan.zero) with(fmt::format("--zero {}", zero), [&](auto& plan) { plan.zero = zero; });
  }
  with("twice the global batch", [](auto& plan) { plan.batch *= 2; });
}

void add_machine_changes(const TransformerQuestion& q, std::vector<TransformerChange>& changes) {
  const auto with = [&](const char* name, auto&& change_it) {
    TransformerChange change{name, q};
    change_it(change.question.cluster);
    changes.push_back(std::move(change));
  };
  if (q.cluster.inside) {
    with("twice the bandwidth inside nodes", [](Cluster& c) { c.inside->bytes_per_second *= 2; });
  }
  if (q.cluster.across) {
    with("twice the bandwidth between nodes", [](Cluster& c) { c.across->bytes_per_second *= 2; });
  }
  with("twice the bandwidth of the device's memory", [](Cluster& c) { *c.device.memory_bytes_per_second *= 2; });
  with("twice as many FLOP/s", [](Cluster& c) { *c.device.flops_per_second *= 2; });
}

}  // namespace

std::vector<TransformerAdvice> advise_transformer(const TransformerQuestion& question, std::int64_t devices) {
  const auto now = transformer_point(question, devices);
  const bool only_fitting = !now.fits.value_or(true);  // then what fits is what helps, also where it is slower
  std::vector<TransformerChange> changes;
  add_plan_changes(question, changes);
  if (!only_fitting) add_machine_changes(question, changes);
  auto advice = other_splits(question, now, only_fitting);
  for (const auto& change : changes) {
    if (const auto found = tried(change, now, only_fitting)) advice.push_back(*found);
  }
  keep_best(advice, advice.size());
  return advice;
}

}  // namespace assay::predict
