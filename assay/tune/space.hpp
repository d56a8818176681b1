#pragma once

#include <set>
#include <string>
#include <vector>

#include "assay/core/trial.hpp"
#include "assay/plan/catalog/catalog.hpp"
#include "assay/tune/goal.hpp"
#include "assay/tune/guides.hpp"

namespace assay::tune {

/// What a user's command line says of the space.
struct SpaceRequest {
  std::vector<Trial> named;     ///< every combination of the values that were named; at least one trial
  std::set<std::string> fixed;  ///< settings that were named: nothing is added to their values
  GoalMetric metric = GoalMetric::latency;
  std::optional<TailLimit> limit = {};  ///< of a rate: waits are chosen by it
};

/// Settings worth a measurement on this machine.
struct Space {
  std::vector<Trial> candidates;      ///< distinct, in a stable order
  std::vector<std::string> varied;    ///< settings with more than one value
  std::vector<std::string> left_out;  ///< settings with one, and why: "inter_op: eager PyTorch runs …"
};

/// Why a search for a rate has one instance.
constexpr const char* kOneQueue = "the queue of the scenario server is before one process";

/// Thread counts up to `most`: 1, 2, 3, 4, 6, 8, 12, 16, 24, …, and `most` itself.
std::vector<std::int64_t> thread_counts(std::int64_t most);

/// Every feasible combination. What was named is taken as it is; to that come, where the worker follows them and this
/// machine gives a choice: instances (for throughput), inter_op, intra_op, affinity, memory_bind, allocator and spin;
/// where text is generated also prefill_threads and prefill_tokens; for a rate, the batch limit and the wait of the
/// queue.
/// Threads in all are at most twice as many as can run at once, unless a number of threads was named. What changes
/// numbers (precision), what is compiled and layouts vary only by name.
Space space_of(const SpaceRequest& request, const plan::WorkerInfo& worker, const GuideInput& situation);

/// Names of settings, precision, batch, batch_wait, sequences and cache_precision in which trials differ.
std::vector<std::string> varied_of(const std::vector<Trial>& trials);

/// The paper's rule shared out among 1, 2, 4, … instances, as far as the worker follows it.
std::vector<Settings> shared_rule(const plan::WorkerInfo& worker, const GuideInput& situation);

/// What a Gaussian process sees of each: logarithms of instances, inter_op, intra_op, of all threads over the cores and
/// of the batch, times the sequences where text is generated; then of prefill_threads, where they vary; and a column
/// for every other value that not all have.
std::vector<std::vector<double>> features_of(const std::vector<Trial>& candidates, const Resources& resources);

}  // namespace assay::tune
