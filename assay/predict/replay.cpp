#include "assay/predict/replay.hpp"

#include <algorithm>
#include <cmath>

namespace assay::predict {
namespace {

std::int64_t whole_numbers(double bytes) {
  return kReplayUnitBytes * std::max<std::int64_t>(1, std::llround(bytes / static_cast<double>(kReplayUnitBytes)));
}

}  // namespace

Replay replay_of(const LayerTable& table, const Cluster& cluster, const Practice& practice) {
  if (practice.zero != 0) {
    fail(ErrorKind::usage, "--zero {}: a replay adds gradients up on all ranks. Leave --zero out.", practice.zero);
  }
  if (practice.servers) {
    fail(ErrorKind::usage, "--servers: a replay adds gradients up by all_reduce. Leave --servers out.");
  }
  const auto times = static_cast<double>(practice.accumulation);
  Replay replay;
  replay.network = table.name;
  replay.batch = table.batch * practice.accumulation;
  replay.forward_seconds = times * table.forward_seconds() + (times - 1) * table.backward_seconds();
  replay.backward_seconds = table.backward_seconds();
  replay.update_seconds = table.update_seconds;
  const auto gradients = gradients_of(table, practice);
  const auto cost = all_reduce_cost(cluster, practice.all_reduce, {practice.call_seconds});
  for (const auto& bucket : fuse(gradients, practice.fusion, cost)) {
    replay.buckets.push_back({gradients[bucket.last].ready_seconds, whole_numbers(bucket.bytes)});
  }
  return replay;
}

}  // namespace assay::predict
