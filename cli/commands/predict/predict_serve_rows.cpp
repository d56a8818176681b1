#include "cli/commands/predict/predict_serve_rows.hpp"

#include <algorithm>

#include "assay/core/text/file.hpp"
#include "assay/load/load.hpp"

namespace assay::cli {
namespace {

constexpr JsonLimits kResultLimits{64u << 20, 64, 4'000'000};

/// The median of a time, in seconds. A time per token has no beginning: it is listed under from_schedule alone.
std::optional<double> median_of(const load::LoadPoint& point, load::Metric metric) {
  for (const auto& summary : point.times) {
    if (summary.metric != metric) continue;
    for (const auto& one : metric == load::Metric::tpot ? summary.from_schedule : summary.from_send) {
      if (one.quantile == 0.5 && one.ns) return 1e-9 * *one.ns;
    }
  }
  return std::nullopt;
}

/// A point of a load, or why it says nothing of the server.
predict::ServingRow row_of(const load::LoadPoint& point, const PointsAsked& asked, std::string& why) {
  predict::ServingRow row;
  row.stack = {asked.server, "", asked.model.weights};
  row.device = asked.device;
  row.point.model = asked.model;
  row.first_token_seconds = median_of(point, load::Metric::ttft);
  row.token_seconds = median_of(point, load::Metric::tpot);
  const auto ok = point.outcomes.find(load::RequestOutcome::ok);
  const auto answered = ok == point.outcomes.end() ? 0 : ok->second;
  if (answered == 0 || !row.first_token_seconds || !row.token_seconds) {
    why = "it has no times of a first token and of tokens";
    return row;
  }
  if (!point.input_tokens || !point.output_tokens) {
    why = "the server gave no `usage`, so that lengths in tokens are not known";
    return row;
  }
  row.point.prompt_tokens = static_cast<double>(*point.input_tokens) / static_cast<double>(answered);
  row.point.output_tokens = std::max(2.0, static_cast<double>(*point.output_tokens) / static_cast<double>(answered));
  const double latency = *row.first_token_seconds + (row.point.output_tokens - 1) * *row.token_seconds;
  row.point.concurrency = point.arrivals.clients ? static_cast<double>(*point.arrivals.clients)
                                                 : std::max(1.0, point.answered_per_second * latency);
  // In a closed loop nothing piles up: its latency grows by chance alone.
  if (!point.arrivals.clients && point.growth > 0.05)
    why = "the server did not keep up, so that its times are those of a queue";
  return row;
}

predict::ServingTable load_points(const std::string& text, const std::string& path, const PointsAsked& asked) {
  const auto result = from_json<load::LoadResult>(parse_json(text, kResultLimits), path);
  if (result.version > load::kLoadVersion) {
    fail(ErrorKind::bad_input, "{} is of version {}; this program reads up to {}.", path, result.version,
         load::kLoadVersion);
  }
  predict::ServingTable table;
  for (const auto& point : result.points) {
    std::string why;
    auto row = row_of(point, asked, why);
    row.id = std::to_string(table.rows.size() + table.refused.size() + 1);
    if (why.empty()) {
      table.rows.push_back(std::move(row));
    } else {
      table.refused.push_back({row.id, why});
    }
  }
  return table;
}

}  // namespace

predict::ServingTable read_points(const std::string& path, const PointsAsked& asked) {
  const bool is_load = path.ends_with(".json");
  auto table =
      is_load ? load_points(read_file(path, kResultLimits.bytes), path, asked) : predict::read_serving_rows(path);
  if (table.rows.empty()) {
    fail(ErrorKind::bad_input, "{}: none of its points can be used{}{}", path, table.refused.empty() ? "." : ": ",
         table.refused.empty() ? "" : table.refused.front().why);
  }
  return table;
}

}  // namespace assay::cli
