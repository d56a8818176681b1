#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assay/store/records/record_row.hpp"

namespace assay::store {

/// Times of a run, packed: a column of bytes, not of text.
struct PackedSamples {
  std::string bytes;
};

/// What a store keeps of a record, as its columns hold it.
struct RecordColumns {
  std::string trial;  ///< of its run, and so is `index`; the other members are columns of the table
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
  PackedSamples samples;
};

/// Calls `visit(name, value)` for each column that lists of runs need. Together with each_column this is the one list
/// of columns: what is selected, inserted, read, sent to a server and hashed follows it, and so does the hash's order.
template <typename Columns, typename Visit>
void each_head_column(Columns& c, Visit&& visit) {
  visit("attempt", c.attempt);
  visit("counted", c.counted);
  visit("outcome", c.outcome);
  visit("message", c.message);
  visit("trusted", c.trusted);
  visit("platform", c.platform);
  visit("started_utc", c.started_utc);
  visit("duration_ns", c.duration_ns);
  visit("n", c.n);
  visit("steady_from", c.steady_from);
  visit("median_ns", c.median_ns);
  visit("p90_ns", c.p90_ns);
  visit("p99_ns", c.p99_ns);
  visit("samples_per_second", c.samples_per_second);
  visit("summary_version", c.summary_version);
  visit("peak_memory_bytes", c.peak_memory_bytes);
  visit("digest", c.digest);
}

/// The same for every column of the table.
template <typename Columns, typename Visit>
void each_column(Columns& c, Visit&& visit) {
  each_head_column(c, visit);
  visit("json", c.json);
  visit("samples", c.samples);
}

RecordColumns columns_of(const Record& record, const RecordBody& body);

/// Hash of all that a store keeps of a record.
std::string record_hash(const RecordColumns& columns);

/// `sql` with the columns in place of {head} or {record}, as "record.attempt, record.counted, …", or of {names} and
/// {values} where they are inserted after one other value: "attempt, counted, …" and "?2, ?3, …".
std::string with_record_columns(std::string_view sql);

/// How many columns {head} has.
int head_column_count();

/// The columns of {head} in a row, from `first` on. `Row` is a statement at a row, with get<T>(column).
template <typename Row>
RecordColumns read_head_columns(const Row& row, int first) {
  RecordColumns out;
  each_head_column(out, [&]<typename T>(const char*, T& value) { value = row.template get<T>(first++); });
  return out;
}

/// The columns of {record}; `Row` has bytes(column) too.
template <typename Row>
RecordColumns read_record_columns(const Row& row, int first) {
  RecordColumns out = read_head_columns(row, first);
  first += head_column_count();
  out.json = row.template get<std::string>(first);
  out.samples.bytes = row.bytes(first + 1);
  return out;
}

}  // namespace assay::store
