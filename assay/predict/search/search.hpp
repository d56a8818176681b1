#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/predict/search/split.hpp"
#include "assay/predict/search/step_basis.hpp"
#include "assay/predict/step/step_memory.hpp"

namespace assay::predict {

/// A split with what it takes.
struct JudgedSplit {
  Split split;
  double seconds = 0;  ///< of a step
  double low_seconds = 0;
  double high_seconds = 0;
  double tokens_per_second = 0;  ///< over all devices
  double utilization = 0;        ///< FLOPs of the model without recomputing, over the devices' peak in bf16
  StepMemory memory;
  StepTime step;
};

template <typename V>
void describe(V& v, JudgedSplit& j) {
  required(v, "split", j.split);
  required(v, "seconds", j.seconds);
  required(v, "low_seconds", j.low_seconds);
  required(v, "high_seconds", j.high_seconds);
  required(v, "tokens_per_second", j.tokens_per_second);
  required(v, "utilization", j.utilization);
  required(v, "memory", j.memory);
  required(v, "step", j.step);
}

/// What a search over one number of devices found.
struct SplitSearch {
  std::int64_t devices = 1;
  std::int64_t splits = 0;          ///< that are valid
  std::int64_t fitting = 0;         ///< of these, within the memory
  std::int64_t judged = 0;          ///< of these, whose time was computed: the others cannot be among the best
  std::vector<JudgedSplit> ranked;  ///< the fastest, the best first
  std::string reason;               ///< why it is missing
};

template <typename V>
void describe(V& v, SplitSearch& s) {
  required(v, "devices", s.devices);
  required(v, "splits", s.splits);
  required(v, "fitting", s.fitting);
  required(v, "judged", s.judged);
  required(v, "ranked", s.ranked);
  v("reason", s.reason);
}

/// The `most` fastest valid splits within the memory of question.device. Exact: a split is left out only where the time
/// of its products, sums and bubble alone is longer than the last of those found. Equal times keep the order of
/// all_splits().
SplitSearch search_splits(const SplitQuestion& question, const StepBasis& basis, std::size_t most);

/// One split, whether it fits or not. Precondition: why_not() is empty.
JudgedSplit judge_split(const SplitQuestion& question, const StepBasis& basis, const Split& split);

/// A split that differs from the best in a few sizes, and what that does.
struct Neighbour {
  std::string change;   ///< "tensor 8 to 4, pipeline 8 to 16"
  double ratio = 1;     ///< its step over the best one's
  std::string because;  ///< the part of the step that changes most; or the memory
  bool fits = true;
  double memory_bytes = 0;
};

template <typename V>
void describe(V& v, Neighbour& n) {
  required(v, "change", n.change);
  required(v, "ratio", n.ratio);
  required(v, "because", n.because);
  required(v, "fits", n.fits);
  required(v, "memory_bytes", n.memory_bytes);
}

/// The best split of each pair of sizes that can be changed together with the number of devices and the batch kept: the
/// fastest first. A third of them may be splits that do not fit, which show what more memory would be worth.
std::vector<Neighbour> neighbours_of(const SplitQuestion& question, const StepBasis& basis, const JudgedSplit& best,
                                     std::size_t most);

}  // namespace assay::predict
