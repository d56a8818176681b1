#include "assay/core/replay.hpp"

#include "assay/core/text/naming.hpp"

namespace assay {
namespace {

constexpr JsonLimits kReplayLimits{16u << 20, 8, 1'000'000};
constexpr double kMostReplaySeconds = 86'400;
constexpr std::int64_t kMostReplayBytes = std::int64_t{1} << 32;
constexpr double kReplayRounding = 1e-9;  // of sums of times

void check_seconds(double seconds, const char* field) {
  if (seconds >= 0 && seconds <= kMostReplaySeconds) return;
  fail(ErrorKind::bad_input, "{}: {} is outside 0 to {} seconds.", field, seconds, kMostReplaySeconds);
}

void check_buckets(const Replay& replay) {
  const double end = replay.forward_seconds + replay.backward_seconds;
  double before = replay.forward_seconds;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < replay.buckets.size(); ++i) {
    const auto& bucket = replay.buckets[i];
    if (!(bucket.ready_seconds >= before - kReplayRounding && bucket.ready_seconds <= end + kReplayRounding)) {
      fail(ErrorKind::bad_input,
           "buckets[{}].ready_seconds: {} is outside {} (the bucket before it, or the end of forward) to {} (the end "
           "of backward).",
           i, bucket.ready_seconds, before, end);
    }
    if (bucket.bytes < kReplayUnitBytes || bucket.bytes % kReplayUnitBytes != 0 ||
        bucket.bytes > kMostReplayBytes - bytes) {
      fail(ErrorKind::bad_input, "buckets[{}].bytes: {} is not a multiple of {} above 0, or all are above {}.", i,
           bucket.bytes, kReplayUnitBytes, kMostReplayBytes);
    }
    before = bucket.ready_seconds;
    bytes += bucket.bytes;
  }
}

}  // namespace

std::int64_t Replay::bytes() const {
  std::int64_t sum = 0;
  for (const auto& bucket : buckets) sum += bucket.bytes;
  return sum;
}

Replay parse_replay(std::string_view text, const std::string& name) {
  return naming(name, [&] {
    auto replay = from_json<Replay>(parse_json(text, kReplayLimits), "replay");
    if (replay.batch < 1) fail(ErrorKind::bad_input, "batch: {} is below 1.", replay.batch);
    check_seconds(replay.forward_seconds, "forward_seconds");
    check_seconds(replay.backward_seconds, "backward_seconds");
    check_seconds(replay.update_seconds, "update_seconds");
    check_buckets(replay);
    return replay;
  });
}

}  // namespace assay
