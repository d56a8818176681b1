#include "assay/report/subjects/predict/prediction.hpp"

#include <algorithm>
#include <map>

#include "assay/core/text/units.hpp"
#include "assay/report/subjects/predict/accuracy.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

using predict::Origin;
using predict::RangeKind;
using predict::ScaleLimit;

std::string seconds_text(double seconds) {
  return format_duration(seconds * 1e9);
}

std::string range_text(const predict::ScalePoint& point, RangeKind kind) {
  if (kind == RangeKind::none) return "";
  return seconds_text(point.low_seconds) + " to " + seconds_text(point.high_seconds);
}

std::string fits_text(const predict::ScalePoint& point) {
  const auto bytes = format_bytes(static_cast<std::int64_t>(point.memory.total()));
  return point.fits && !*point.fits ? bytes + ", does not fit" : bytes;
}

const char* range_title(RangeKind kind) {
  return kind == RangeKind::interval ? "90 % interval" : "what-if range";
}

Table::Column right(const char* title, int spare = 0) {
  return {title, Table::Align::right, spare};
}

Table points_table(const predict::ScalingPrediction& said) {
  std::vector<Table::Column> columns{right("devices"), right("batch of each", 3), right("step")};
  const bool ranged = said.range != RangeKind::none;
  const bool priced = !said.points.empty() && said.points.front().job_hours.has_value();
  const bool simulated = !said.points.empty() && said.points.front().simulated_seconds.has_value();
  if (ranged) columns.push_back(right(range_title(said.range)));
  if (simulated) columns.push_back(right("simulated"));
  const auto learnt = [](const auto& point) { return point.to_accuracy.has_value(); };
  const bool learns = std::any_of(said.points.begin(), said.points.end(), learnt);
  if (learns) columns.push_back(right("to accuracy"));
  for (const auto& column : {right("exposed", 4), right("samples/s"), right("memory", 2), right("limit")})
    columns.push_back(column);
  if (priced) columns.push_back(right("job"));
  columns.push_back(right("efficiency"));
  columns.push_back({"", Table::Align::left, 5, true});
  Table table(columns);
  for (const auto& point : said.points) {
    std::vector<std::string> cells{std::to_string(point.devices), std::to_string(point.batch),
                                   seconds_text(point.step.seconds)};
    if (ranged) cells.push_back(range_text(point, said.range));
    if (simulated) cells.push_back(seconds_text(point.simulated_seconds.value_or(0)));
    if (learns) cells.push_back(point.to_accuracy ? time_to_text(point.to_accuracy->time) : "-");
    cells.push_back(seconds_text(point.step.exposed_seconds));
    cells.push_back(format_rate(point.samples_per_second));
    cells.push_back(fits_text(point));
    cells.emplace_back(name_of(point.limit));
    if (priced) {
      cells.push_back(point.job_price ? fmt::format("{:.3g} h, {:.4g}", *point.job_hours, *point.job_price)
                                      : fmt::format("{:.3g} h", *point.job_hours));
    }
    cells.push_back(fmt::format("{:.1f} %", 100 * point.efficiency));
    cells.push_back(efficiency_bar(point.efficiency));
    table.add(cells);
  }
  return table;
}

std::string limit_sentence(const predict::ScalePoint& point) {
  const auto& step = point.step;
  const auto share = [&](double seconds) { return fmt::format("{:.0f} %", 100 * seconds / step.seconds); };
  if (point.limit == ScaleLimit::input) {
    return fmt::format(
        "On {} devices input limits it: loading and transfer take {}, the rest {} runs meanwhile.", point.devices,
        seconds_text(step.load_seconds + step.transfer_seconds),
        seconds_text(step.forward_seconds + step.backward_seconds + step.exposed_seconds + step.update_seconds));
  }
  if (point.limit == ScaleLimit::communication) {
    return fmt::format(
        "On {} devices communication limits it: {} travel in {} messages, {} of the step are not hidden by "
        "computing.",
        point.devices, seconds_text(step.communicate_seconds), step.messages, share(step.exposed_seconds));
  }
  return fmt::format("On {} devices computing limits it: {} of the step; {} of communication is not hidden.",
                     point.devices, share(step.forward_seconds + step.backward_seconds + step.update_seconds),
                     seconds_text(step.exposed_seconds));
}

void add_advice(const predict::ScalingPrediction& said, Document& document) {
  if (said.advice.empty()) return;
  document.gap();
  document.paragraph(fmt::format("What would help on {} devices:", said.points.back().devices));
  for (const auto& one : said.advice) document.item(fmt::format("{:.2f} x  {}", one.gain, one.change));
}

std::string origin_text(const predict::ScalingPrediction& said) {
  switch (said.origin) {
    case Origin::measured:
      return "layers as measured";
    case Origin::imported:
      return "layers of a table";
    case Origin::assumed:
      break;
  }
  return "assumed: peak and efficiency, so a what-if and no measurement";
}

}  // namespace

Document scaling_prediction_document(const predict::ScalingPrediction& said) {
  Document document;
  document.heading(
      fmt::format("{} on {}, {} scaling ({})", said.network, said.cluster, name_of(said.scaling), origin_text(said)));
  document.gap();
  document.add(points_table(said));
  document.gap();
  document.paragraph(limit_sentence(said.points.back()));
  add_advice(said, document);
  if (!said.notes.empty()) document.gap();
  for (const auto& note : said.notes) document.paragraph(note);
  return document;
}

json iteration_trace(const std::string& title, const std::vector<predict::Span>& spans) {
  const std::map<std::string, int> lanes{{"input", 1}, {"compute", 2}, {"communicate", 3}};
  json events = json::array();
  events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", title}}}});
  for (const auto& [lane, thread] : lanes) {
    events.push_back({{"name", "thread_name"}, {"ph", "M"}, {"pid", 1}, {"tid", thread}, {"args", {{"name", lane}}}});
  }
  for (const auto& span : spans) {
    events.push_back({{"name", span.name},
                      {"ph", "X"},
                      {"pid", 1},
                      {"tid", lanes.at(span.lane)},
                      {"ts", 1e6 * span.begin_seconds},
                      {"dur", 1e6 * (span.end_seconds - span.begin_seconds)}});
  }
  return {{"traceEvents", events}, {"displayTimeUnit", "ms"}};
}

}  // namespace assay::report
