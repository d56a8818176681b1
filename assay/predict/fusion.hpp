#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/predict/collective_cost.hpp"

namespace assay::predict {

/// How gradients are joined before they travel.
enum class FusionPolicy {
  optimal,     ///< by dynamic programming: no other gives an earlier end
  per_tensor,  ///< each on its own, as wait-free back-propagation does
  buckets,     ///< in the order they are ready until a bucket is full, the first one smaller: as DDP and Horovod do
  greedy,      ///< joins with the next where that ends earlier, one by one: in the manner of MG-WFBP
  one,         ///< all at once, at the end
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::FusionPolicy> {
  static constexpr std::array<const char*, 5> names{"optimal", "per_tensor", "buckets", "greedy", "one"};
};

namespace assay::predict {

struct Fusion {
  FusionPolicy policy = FusionPolicy::buckets;
  double bucket_bytes = 25.0 * (1 << 20);  ///< of `buckets`; these two are DDP's
  double first_bucket_bytes = 1 << 20;
};

template <typename V>
void describe(V& v, Fusion& f) {
  required(v, "policy", f.policy);
  v("bucket_bytes", f.bucket_bytes);
  v("first_bucket_bytes", f.first_bucket_bytes);
}

/// A gradient, in the order in which they become ready.
struct Gradient {
  double ready_seconds = 0;
  double bytes = 0;
};

/// Gradients [first, last] that travel together.
struct FusedBucket {
  std::size_t first = 0;
  std::size_t last = 0;
  double bytes = 0;
};

/// Precondition: ready times do not fall.
std::vector<FusedBucket> fuse(const std::vector<Gradient>& gradients, const Fusion& fusion, const CollectiveCost& cost);

/// When the last bucket has travelled, one after the other, each once its last gradient is ready.
double finish_seconds(const std::vector<Gradient>& gradients, const std::vector<FusedBucket>& buckets,
                      const CollectiveCost& cost);

}  // namespace assay::predict
