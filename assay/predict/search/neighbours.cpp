#include <algorithm>
#include <cmath>
#include <map>

#include "assay/predict/search/search.hpp"

namespace assay::predict {
namespace {

constexpr std::size_t kMostChanges = 2;  // sizes beside microbatches and data, which follow from the others

struct SplitSize {
  const char* name;
  std::int64_t Split::*value;
};

constexpr std::array kSizes{SplitSize{"tensor", &Split::tensor},
                            SplitSize{"pipeline", &Split::pipeline},
                            SplitSize{"context", &Split::context},
                            SplitSize{"experts", &Split::experts},
                            SplitSize{"parts of a stage", &Split::interleaving},
                            SplitSize{"shard", &Split::shard},
                            SplitSize{"microbatch", &Split::microbatch}};

std::size_t count_differences(const Split& from, const Split& to) {
  std::size_t count = 0;
  for (const auto& size : kSizes) count += from.*size.value != to.*size.value ? 1u : 0u;
  return count + (from.schedule != to.schedule ? 1u : 0u) + (from.recompute != to.recompute ? 1u : 0u) +
         (from.sharded_optimizer != to.sharded_optimizer ? 1u : 0u);
}

/// What differs, in words.
struct Difference {
  std::string text;
  std::string kinds;  ///< which sizes, for telling changes apart
};

Difference difference(const Split& from, const Split& to) {
  Difference d;
  const auto add = [&](const char* name, const std::string& text) {
    d.text += (d.text.empty() ? "" : ", ") + text;
    d.kinds += std::string(name) + "|";
  };
  for (const auto& size : kSizes) {
    if (from.*size.value == to.*size.value) continue;
    add(size.name, fmt::format("{} {} to {}", size.name, from.*size.value, to.*size.value));
  }
  if (from.schedule != to.schedule) add("schedule", std::string("schedule ") + name_of(to.schedule));
  if (from.recompute != to.recompute) add("recompute", std::string("recompute ") + name_of(to.recompute));
  if (from.sharded_optimizer != to.sharded_optimizer) {
    add("optimizer", to.sharded_optimizer ? "ZeRO 1" : "without ZeRO 1");
  }
  return d;
}

/// The part of the step that changes most, with its size.
std::string reason_of(const StepTime& from, const StepTime& to) {
  struct Part {
    const char* name;
    double StepTime::*value;
  };
  static constexpr std::array kParts{Part{"computing", &StepTime::compute_seconds},
                                     Part{"sums of tensor groups", &StepTime::tensor_seconds},
                                     Part{"gathers of shards", &StepTime::shard_seconds},
                                     Part{"exchanges", &StepTime::exchange_seconds},
                                     Part{"from stage to stage", &StepTime::pipeline_seconds},
                                     Part{"the output layer", &StepTime::output_seconds},
                                     Part{"the bubble", &StepTime::bubble_seconds},
                                     Part{"gradients", &StepTime::gradient_seconds},
                                     Part{"the update", &StepTime::update_seconds}};
  const Part* most = kParts.data();
  for (const auto& part : kParts) {
    if (std::abs(to.*part.value - from.*part.value) > std::abs(to.*(most->value) - from.*(most->value))) most = &part;
  }
  return fmt::format("{} {:+.0f} % of the step", most->name,
                     100 * (to.*(most->value) - from.*(most->value)) / from.seconds);
}

}  // namespace

std::vector<Neighbour> neighbours_of(const SplitQuestion& q, const StepBasis& basis, const JudgedSplit& best,
                                     std::size_t most) {
  struct Found {
    double seconds = 0;
    Split split;
    Difference difference;
  };
  const auto& constants = basis.constants(q.device);
  std::map<std::string, Found> fastest;  // of each set of sizes that changes
  auto job = job_of(q, best.split);
  for (const auto& split : all_splits(q)) {
    const auto count = count_differences(best.split, split);
    if (count == 0 || count > kMostChanges) continue;
    auto d = difference(best.split, split);
    job.plan = plan_of(q, split);
    const double seconds = step_time(step_work(job), job.plan, constants).seconds;
    const auto [found, is_new] = fastest.try_emplace(d.kinds);
    if (is_new || seconds < found->second.seconds) found->second = {seconds, split, std::move(d)};
  }
  std::vector<Found> all;
  for (const auto& [kinds, one] : fastest) all.push_back(one);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const std::size_t most_beyond = std::max<std::size_t>(1, most / 3);
  std::size_t beyond = 0;
  std::vector<Neighbour> neighbours;
  for (const auto& one : all) {
    if (neighbours.size() == most) break;
    const auto judged = judge_split(q, basis, one.split);
    if (!fits(judged.memory, q.device) && ++beyond > most_beyond) continue;
    Neighbour n;
    n.change = one.difference.text;
    n.ratio = judged.seconds / best.seconds;
    n.fits = fits(judged.memory, q.device);
    n.memory_bytes = judged.memory.total();
    n.because = reason_of(best.step, judged.step);
    neighbours.push_back(n);
  }
  return neighbours;
}

}  // namespace assay::predict
