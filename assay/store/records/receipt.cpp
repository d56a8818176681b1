#include "assay/store/records/receipt.hpp"

#include <fmt/ranges.h>
#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <vector>

#include "assay/core/text/hash.hpp"

namespace assay::store {
namespace {

constexpr const char* kBetween = "\x1f";  // JSON and our own texts escape it

std::string text_or_null(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "null";
}

/// By its bits: a text may be rounded.
std::string bits_or_null(const std::optional<double>& value) {
  return value ? fmt::format("{:016x}", std::bit_cast<std::uint64_t>(*value)) : "null";
}

}  // namespace

std::string new_claim() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const auto got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got > 0) have += static_cast<std::size_t>(got);
    ASSAY_CHECK(got > 0 || errno == EINTR);
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string agent_of(const Owner& owner) {
  return fmt::format("{}:{}:{}", owner.boot_id, owner.pid, owner.start_ticks);
}

std::string this_user() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr && entry->pw_name != nullptr ? entry->pw_name : std::to_string(geteuid());
}

RecordColumns columns_of(const Record& record, const RecordBody& body) {
  const auto& summary = record.summary;
  return {record.trial,
          record.index,
          record.attempt,
          record.counted ? 1 : 0,
          name_of(record.outcome.kind),
          record.outcome.message,
          record.validity.trusted ? 1 : 0,
          record.platform,
          record.started_utc,
          record.duration_ns,
          summary.n,
          summary.steady_from,
          summary.median_ns,
          summary.p90_ns,
          summary.p99_ns,
          summary.samples_per_second,
          summary.summary_version,
          body.peak_memory_bytes,
          body.digest,
          body.json,
          body.samples};
}

std::string record_hash(const RecordColumns& columns) {
  const std::vector<std::string> fields{columns.trial,
                                        std::to_string(columns.index),
                                        std::to_string(columns.attempt),
                                        std::to_string(columns.counted),
                                        columns.outcome,
                                        columns.message,
                                        std::to_string(columns.trusted),
                                        columns.platform,
                                        columns.started_utc,
                                        std::to_string(columns.duration_ns),
                                        std::to_string(columns.n),
                                        std::to_string(columns.steady_from),
                                        text_or_null(columns.median_ns),
                                        text_or_null(columns.p90_ns),
                                        text_or_null(columns.p99_ns),
                                        bits_or_null(columns.samples_per_second),
                                        std::to_string(columns.summary_version),
                                        text_or_null(columns.peak_memory_bytes),
                                        columns.digest,
                                        columns.json,
                                        hash_hex(columns.samples)};
  return hash_hex(fmt::format("{}", fmt::join(fields, kBetween)));
}

std::string link_of(const std::string& previous, const std::string& hash) {
  return hash_hex(previous + hash);
}

}  // namespace assay::store
