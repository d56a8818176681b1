#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay {

/// Gradients that travel together.
struct ReplayBucket {
  double ready_seconds = 0;  ///< its last gradient is there, counted from the beginning of the step
  std::int64_t bytes = 0;
};

template <typename V>
void describe(V& v, ReplayBucket& b) {
  required(v, "ready_seconds", b.ready_seconds);
  required(v, "bytes", b.bytes);
}

/// A training step whose computing is only waited for while its gradients really travel. A prediction writes it and
/// workers take it as it is, so that how gradients are joined is known in one place.
struct Replay {
  std::string network;
  std::int64_t batch = 1;       ///< samples of a device's step
  double forward_seconds = 0;   ///< until the (last) backward pass begins
  double backward_seconds = 0;  ///< of that pass
  double update_seconds = 0;
  std::vector<ReplayBucket> buckets;  ///< in the order in which they travel

  std::int64_t bytes() const;
};

template <typename V>
void describe(V& v, Replay& r) {
  required(v, "network", r.network);
  required(v, "batch", r.batch);
  required(v, "forward_seconds", r.forward_seconds);
  required(v, "backward_seconds", r.backward_seconds);
  v("update_seconds", r.update_seconds);
  required(v, "buckets", r.buckets);
}

/// Gradients are exchanged as numbers of this size.
constexpr std::int64_t kReplayUnitBytes = 4;

/// A file of `assay predict --replay`. Throws Error{bad_input} naming the value where it is none: times below zero or
/// beyond a day, a bucket that is not ready within the backward pass or before the one ahead of it, bytes that are no
/// numbers or more than 4 GiB.
Replay parse_replay(std::string_view text, const std::string& name);

}  // namespace assay
