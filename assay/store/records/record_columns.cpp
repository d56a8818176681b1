#include "assay/store/records/record_columns.hpp"

#include <fmt/ranges.h>

#include <bit>
#include <vector>

#include "assay/core/text/hash.hpp"

namespace assay::store {
namespace {

constexpr const char* kBetween = "\x1f";  // JSON and our own texts escape it

struct HashedText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  /// By its bits: a text may be rounded.
  std::string operator()(double number) const { return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(number)); }
  std::string operator()(const PackedSamples& samples) const { return hash_hex(samples.bytes); }
  template <typename T>
  std::string operator()(const std::optional<T>& value) const {
    return value ? (*this)(*value) : "null";
  }
};

std::vector<std::string> names(bool all) {
  std::vector<std::string> out;
  const RecordColumns any;
  const auto note = [&](const char* name, const auto&) { out.emplace_back(name); };
  all ? each_column(any, note) : each_head_column(any, note);
  return out;
}

std::string with_table(const std::vector<std::string>& columns) {
  return fmt::format("record.{}", fmt::join(columns, ", record."));
}

void replace(std::string& sql, std::string_view mark, const std::string& by) {
  if (const auto at = sql.find(mark); at != std::string::npos) sql.replace(at, mark.size(), by);
}

}  // namespace

RecordColumns columns_of(const Record& record, const RecordBody& body) {
  const auto& summary = record.summary;
  return {.trial = record.trial,
          .index = record.index,
          .attempt = record.attempt,
          .counted = record.counted ? 1 : 0,
          .outcome = name_of(record.outcome.kind),
          .message = record.outcome.message,
          .trusted = record.validity.trusted ? 1 : 0,
          .platform = record.platform,
          .started_utc = record.started_utc,
          .duration_ns = record.duration_ns,
          .n = summary.n,
          .steady_from = summary.steady_from,
          .median_ns = summary.median_ns,
          .p90_ns = summary.p90_ns,
          .p99_ns = summary.p99_ns,
          .samples_per_second = summary.samples_per_second,
          .summary_version = summary.summary_version,
          .peak_memory_bytes = body.peak_memory_bytes,
          .digest = body.digest,
          .json = body.json,
          .samples = {body.samples}};
}

std::string record_hash(const RecordColumns& columns) {
  const HashedText text_of;
  std::vector<std::string> fields{columns.trial, text_of(columns.index)};
  each_column(columns, [&](const char*, const auto& value) { fields.push_back(text_of(value)); });
  return hash_hex(fmt::format("{}", fmt::join(fields, kBetween)));
}

std::string with_record_columns(std::string_view sql) {
  const auto all = names(true);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < all.size(); ++i) values.push_back(fmt::format("?{}", i + 2));
  std::string out(sql);
  replace(out, "{head}", with_table(names(false)));
  replace(out, "{record}", with_table(all));
  replace(out, "{names}", fmt::format("{}", fmt::join(all, ", ")));
  replace(out, "{values}", fmt::format("{}", fmt::join(values, ", ")));
  return out;
}

int head_column_count() {
  static const auto count = static_cast<int>(names(false).size());
  return count;
}

}  // namespace assay::store
