#include "assay/core/record.hpp"

#include <bit>
#include <cstring>

namespace assay {

static_assert(std::endian::native == std::endian::little, "samples are stored little-endian; swap bytes here first");

void check(const RankResult& rank) {
  std::int64_t covered = 0;
  for (const auto& slice : rank.slices) {
    if (slice.samples < 0 || slice.samples > static_cast<std::int64_t>(rank.samples_ns.size()) - covered) {
      fail(ErrorKind::bad_input, "rank {}: a slice claims {} samples where {} are left", rank.rank, slice.samples,
           static_cast<std::int64_t>(rank.samples_ns.size()) - covered);
    }
    covered += slice.samples;
  }
  if (covered != static_cast<std::int64_t>(rank.samples_ns.size())) {
    fail(ErrorKind::bad_input, "rank {}: slices cover {} of {} samples", rank.rank, covered, rank.samples_ns.size());
  }
  for (const auto sample : rank.samples_ns) {
    if (sample < 0) fail(ErrorKind::bad_input, "rank {}: a sample of {} ns", rank.rank, sample);
  }
  if (!rank.tokens_ns.empty() && (rank.samples_ns.empty() || rank.tokens_ns.size() % rank.samples_ns.size() != 0)) {
    fail(ErrorKind::bad_input, "rank {}: {} tokens in {} steps", rank.rank, rank.tokens_ns.size(),
         rank.samples_ns.size());
  }
}

void check(const Record& record) {
  if (record.record_version > kRecordVersion) {
    fail(ErrorKind::bad_input, "record_version {} is newer than this program knows ({}). Update Assay.",
         record.record_version, kRecordVersion);
  }
  for (const auto& rank : record.ranks) check(rank);
}

std::optional<std::int64_t> time_of(const Summary& summary, TimeOf what) {
  if (what == TimeOf::step) return summary.median_ns;
  if (!summary.generated) return std::nullopt;
  return what == TimeOf::first_token ? summary.generated->first_token_ns : summary.generated->token_ns;
}

std::string pack_samples(const std::vector<std::int64_t>& samples) {
  return {reinterpret_cast<const char*>(samples.data()), samples.size() * sizeof(std::int64_t)};
}

std::vector<std::int64_t> unpack_samples(const void* bytes, std::size_t size) {
  if (size % sizeof(std::int64_t) != 0) fail(ErrorKind::bad_input, "a sample blob of {} bytes is cut short", size);
  std::vector<std::int64_t> samples(size / sizeof(std::int64_t));
  if (size > 0) std::memcpy(samples.data(), bytes, size);
  return samples;
}

template json to_json_value<RankResult>(const RankResult&);
template void from_json_value<RankResult>(const json&, const std::string&, RankResult&);
template json to_json_value<Record>(const Record&);
template void from_json_value<Record>(const json&, const std::string&, Record&);

}  // namespace assay
