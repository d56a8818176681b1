#include "assay/predict/search/search.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace assay::predict {
namespace {

constexpr double kRounding = 1e-9;  // a bound may be above the time that it bounds by rounding alone

/// Seconds of one microbatch that no sharding, schedule or number of stages changes.
struct Base {
  double layers = 0;  ///< products, sums and exchanges of all layers
  double output = 0;
};

/// Base times by the sizes that they depend on.
class Bases {
 public:
  Bases(const SplitQuestion& question, const StepConstants& constants) : question_(question), constants_(constants) {}

  /// Not above the time of the split.
  double bound(const Split& s) {
    const auto& base = of(s);
    const auto stages = static_cast<double>(s.pipeline);
    double bubbles = (stages - 1) / static_cast<double>(s.interleaving);
    if (s.schedule == PipelineSchedule::zero_bubble) bubbles /= 3;
    const auto passes = static_cast<double>(s.microbatches);
    const double output = passes * base.output / (plan_of(question_, s).balanced_head ? stages : 1);
    return (1 - kRounding) * ((passes + constants_.bubble * bubbles) * base.layers / stages + output);
  }

 private:
  const Base& of(const Split& s) {
    const auto key = std::make_tuple(s.tensor, s.context, s.experts, s.microbatch, s.recompute);
    const auto [found, is_new] = known_.try_emplace(key);
    if (is_new) {
      auto alone = s;
      alone.pipeline = alone.interleaving = alone.microbatches = 1;
      alone.schedule = PipelineSchedule::one_forward_one_backward;
      alone.shard = 0;
      const auto job = job_of(question_, alone);
      const auto time = step_time(step_work(job), job.plan, constants_);
      found->second.layers = time.compute_seconds + time.tensor_seconds + time.exchange_seconds;
      found->second.output = time.output_seconds;
    }
    return found->second;
  }

  const SplitQuestion& question_;
  const StepConstants& constants_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, Recomputing>, Base> known_;
};

struct Candidate {
  double bound = 0;
  std::size_t index = 0;  ///< in all_splits()
};

/// The fastest so far.
class Fastest {
 public:
  explicit Fastest(std::size_t most) : most_(most) {}

  double limit() const { return found_.size() < most_ ? std::numeric_limits<double>::infinity() : found_.back().first; }

  void add(double seconds, std::size_t index) {
    found_.emplace_back(seconds, index);
    std::sort(found_.begin(), found_.end());
    if (found_.size() > most_) found_.pop_back();
  }

  const std::vector<std::pair<double, std::size_t>>& found() const { return found_; }

 private:
  std::size_t most_;
  std::vector<std::pair<double, std::size_t>> found_;
};

std::string memory_reason(const SplitQuestion& q, double least_bytes) {
  constexpr double kGibibyte = 1024.0 * 1024 * 1024;
  // Makers' GB of a device's memory are GiB.
  return fmt::format("no split of {} devices fits: the least takes {:.1f} GiB a device, of {:.1f} GiB", q.devices,
                     least_bytes / kGibibyte, 1e-9 * q.device.sheet.memory_bytes);
}

}  // namespace

JudgedSplit judge_split(const SplitQuestion& q, const StepBasis& basis, const Split& split) {
  const auto job = job_of(q, split);
  const auto time = basis.time_of(job);
  JudgedSplit judged;
  judged.split = split;
  judged.seconds = time.seconds;
  judged.low_seconds = time.low_seconds;
  judged.high_seconds = time.high_seconds;
  judged.tokens_per_second = job.plan.tokens() / time.seconds;
  judged.utilization = step_flops(q.model, job.plan) /
                       (time.seconds * static_cast<double>(q.devices) * q.device.sheet.bf16_flops_per_second);
  judged.memory = step_memory(job);
  judged.step = time.step;
  return judged;
}

SplitSearch search_splits(const SplitQuestion& q, const StepBasis& basis, std::size_t most) {
  SplitSearch result;
  result.devices = q.devices;
  const auto splits = all_splits(q);
  result.splits = static_cast<std::int64_t>(splits.size());
  if (splits.empty()) {
    result.reason = why_none(q);
    return result;
  }
  check(job_of(q, splits.front()));
  const auto& constants = basis.constants(q.device);
  Bases bases(q, constants);
  std::vector<Candidate> candidates;
  double least_bytes = std::numeric_limits<double>::infinity();
  auto job = job_of(q, splits.front());
  for (std::size_t i = 0; i < splits.size(); ++i) {
    job.plan = plan_of(q, splits[i]);
    const auto memory = step_memory(job);
    least_bytes = std::min(least_bytes, memory.total());
    if (fits(memory, q.device)) candidates.push_back({bases.bound(splits[i]), i});
  }
  result.fitting = static_cast<std::int64_t>(candidates.size());
  if (candidates.empty()) {
    result.reason = memory_reason(q, least_bytes);
    return result;
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const auto& a, const auto& b) { return a.bound != b.bound ? a.bound < b.bound : a.index < b.index; });
  Fastest fastest(most);
  for (const auto& one : candidates) {
    if (one.bound > fastest.limit()) break;
    job.plan = plan_of(q, splits[one.index]);
    fastest.add(step_time(step_work(job), job.plan, constants).seconds, one.index);
    ++result.judged;
  }
  for (const auto& one : fastest.found()) result.ranked.push_back(judge_split(q, basis, splits[one.second]));
  return result;
}

}  // namespace assay::predict
