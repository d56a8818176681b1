#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "assay/store/records/record_row.hpp"
#include "assay/store/run_queue.hpp"

// A store notes of every record who wrote it and what its content hashes to. The receipts of one writer are a chain, so
// that a record that was changed, removed or slipped in by other means than Assay shows (docs/storing.md).

namespace assay::store {

/// The process in words that name it for ever.
std::string agent_of(const Owner& owner);

/// The user that this process works as: its name, or its number where it has none.
std::string this_user();

/// What a store keeps of a record, as its columns hold it.
struct RecordColumns {
  std::string trial;
  std::int64_t index = 0;
  std::int64_t attempt = 0;
  std::int64_t counted = 1;
  std::string outcome;
  std::string message;
  std::int64_t trusted = 1;
  std::string platform;
  std::string started_utc;
  std::int64_t duration_ns = 0;
  std::int64_t n = 0;
  std::int64_t steady_from = 0;
  std::optional<std::int64_t> median_ns;
  std::optional<std::int64_t> p90_ns;
  std::optional<std::int64_t> p99_ns;
  std::optional<double> samples_per_second;
  std::int64_t summary_version = 0;
  std::optional<std::int64_t> peak_memory_bytes;
  std::string digest;
  std::string json;
  std::string samples;
};

RecordColumns columns_of(const Record& record, const RecordBody& body);

/// Hash of all that a store keeps of a record.
std::string record_hash(const RecordColumns& columns);

/// The link of a chain after `previous`, which is empty for the first.
std::string link_of(const std::string& previous, const std::string& hash);

}  // namespace assay::store
