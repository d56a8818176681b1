#include "assay/predict/fusion.hpp"

#include <algorithm>
#include <limits>

namespace assay::predict {
namespace {

std::vector<FusedBucket> each_alone(const std::vector<Gradient>& gradients) {
  std::vector<FusedBucket> buckets;
  for (std::size_t i = 0; i < gradients.size(); ++i) buckets.push_back({i, i, gradients[i].bytes});
  return buckets;
}

std::vector<FusedBucket> until_full(const std::vector<Gradient>& gradients, const Fusion& fusion) {
  std::vector<FusedBucket> buckets;
  bool full = true;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (full) buckets.push_back({i, i, 0});
    auto& bucket = buckets.back();
    bucket.last = i;
    bucket.bytes += gradients[i].bytes;
    full = bucket.bytes >= (buckets.size() == 1 ? fusion.first_bucket_bytes : fusion.bucket_bytes);
  }
  return buckets;
}

/// When the first j gradients have travelled at the earliest, for every j, and where the last bucket of them begins.
struct Ends {
  std::vector<double> end;
  std::vector<std::size_t> from;
};

/// f[j] = min over i < j of max(f[i], ready of j) + cost(bytes of i + 1 to j), with any number of buckets. Where the
/// ends `before` the last bucket are given they stand in place of f[i], and it is one bucket more than there.
Ends earliest_ends(const std::vector<Gradient>& gradients, const CollectiveCost& cost,
                   const std::vector<double>* before = nullptr) {
  const auto n = gradients.size();
  Ends ends{std::vector<double>(n + 1, std::numeric_limits<double>::infinity()), std::vector<std::size_t>(n + 1, 0)};
  if (before == nullptr) ends.end[0] = 0;
  const auto& free = before == nullptr ? ends.end : *before;
  for (std::size_t j = 1; j <= n; ++j) {
    double bytes = 0;
    for (std::size_t i = j; i-- > 0;) {
      bytes += gradients[i].bytes;
      const double at = std::max(free[i], gradients[j - 1].ready_seconds) + cost.seconds(bytes);
      if (at < ends.end[j]) {
        ends.end[j] = at;
        ends.from[j] = i;
      }
    }
  }
  return ends;
}

/// Of all ways to join that end the earliest, one with the fewest buckets: a message costs more than formulas know.
std::vector<FusedBucket> fewest_that_end_earliest(const std::vector<Gradient>& gradients, const CollectiveCost& cost) {
  constexpr double kRounding = 1e-12;
  const auto n = gradients.size();
  const double goal = earliest_ends(gradients, cost).end[n] * (1 + kRounding);
  std::vector<Ends> with;  // one bucket, two, …
  std::vector<double> before(n + 1, std::numeric_limits<double>::infinity());
  before[0] = 0;
  do {
    with.push_back(earliest_ends(gradients, cost, &before));
    before = with.back().end;
  } while (with.back().end[n] > goal && with.size() < n);
  std::vector<FusedBucket> buckets;
  for (auto j = n; j > 0;) {
    const auto first = with.back().from[j];
    FusedBucket bucket{first, j - 1, 0};
    for (auto i = bucket.first; i <= bucket.last; ++i) bucket.bytes += gradients[i].bytes;
    buckets.push_back(bucket);
    with.pop_back();
    j = first;
  }
  std::reverse(buckets.begin(), buckets.end());
  return buckets;
}

/// From the first gradient on: the next one joins where the two together end no later than one after the other.
std::vector<FusedBucket> join_where_earlier(const std::vector<Gradient>& gradients, const CollectiveCost& cost) {
  std::vector<FusedBucket> buckets;
  double free = 0;  // when the links are free before the last bucket
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto& next = gradients[i];
    if (!buckets.empty()) {
      auto& last = buckets.back();
      const double alone = std::max(free, gradients[last.last].ready_seconds) + cost.seconds(last.bytes);
      const double apart = std::max(alone, next.ready_seconds) + cost.seconds(next.bytes);
      const double joined = std::max(free, next.ready_seconds) + cost.seconds(last.bytes + next.bytes);
      if (joined <= apart) {
        last.last = i;
        last.bytes += next.bytes;
        continue;
      }
      free = alone;
    }
    buckets.push_back({i, i, next.bytes});
  }
  return buckets;
}

}  // namespace

std::vector<FusedBucket> fuse(const std::vector<Gradient>& gradients, const Fusion& fusion,
                              const CollectiveCost& cost) {
  if (gradients.empty()) return {};
  switch (fusion.policy) {
    case FusionPolicy::per_tensor:
      return each_alone(gradients);
    case FusionPolicy::buckets:
      return until_full(gradients, fusion);
    case FusionPolicy::greedy:
      return join_where_earlier(gradients, cost);
    case FusionPolicy::one: {
      FusedBucket all{0, gradients.size() - 1, 0};
      for (const auto& gradient : gradients) all.bytes += gradient.bytes;
      return {all};
    }
    case FusionPolicy::optimal:
      break;
  }
  return fewest_that_end_earliest(gradients, cost);
}

double finish_seconds(const std::vector<Gradient>& gradients, const std::vector<FusedBucket>& buckets,
                      const CollectiveCost& cost) {
  double free = 0;
  for (const auto& bucket : buckets) {
    free = std::max(free, gradients[bucket.last].ready_seconds) + cost.seconds(bucket.bytes);
  }
  return free;
}

}  // namespace assay::predict
