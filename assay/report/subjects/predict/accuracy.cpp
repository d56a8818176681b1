#include "assay/report/subjects/predict/accuracy.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string duration_text(double seconds) {
  return format_duration(seconds * 1e9);
}

std::string ends_text(const model::TimeTo& time) {
  if (!time.low_seconds || !time.high_seconds) return "-";
  return duration_text(*time.low_seconds) + " to " + duration_text(*time.high_seconds);
}

/// Lines that differ, each once, in their order.
void add_line(std::vector<std::string>& lines, const std::string& line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
}

}  // namespace

std::string time_to_text(const model::TimeTo& time) {
  const auto ends = ends_text(time);
  return duration_text(time.seconds) + (ends == "-" ? "" : ", " + ends);
}

std::string steps_text(const model::StepsNeeded& needed) {
  auto out = fmt::format("{:.0f} steps", needed.steps);
  if (needed.low_steps && needed.high_steps)
    out += fmt::format(" ({:.0f} to {:.0f})", *needed.low_steps, *needed.high_steps);
  return out + fmt::format(" of batches of {}: median of {} runs, of which {} reached {:.4g} %", needed.batch,
                           needed.runs, needed.reached, 100 * needed.accuracy);
}

std::string to_accuracy_sentence(const model::ToAccuracy& said) {
  return fmt::format("To {:.4g} %: {}; {}.", 100 * said.needed.accuracy, time_to_text(said.time),
                     steps_text(said.needed));
}

Document accuracy_prediction_document(const predict::AccuracyPrediction& said) {
  const auto right = [](std::string name, int spare = 0) {
    return Table::Column{std::move(name), Table::Align::right, spare};
  };
  const auto& first = said.rows.front().platform;
  const bool several =
      std::any_of(said.rows.begin(), said.rows.end(), [&](const auto& r) { return r.platform != first; });
  std::vector<Table::Column> columns{{"trial"}};
  if (several) columns.push_back({"platform", Table::Align::left, 3});
  for (const auto& column : {right("step"), right("95 % interval", 2), right("steps", 1),
                             right(fmt::format("to {:.4g} %", 100 * said.accuracy)), right("90 % interval")}) {
    columns.push_back(column);
  }
  Table table(columns);
  std::vector<std::string> lines;
  for (const auto& row : said.rows) {
    std::vector<std::string> cells{row.title};
    if (several) cells.push_back(row.platform.substr(0, 8));
    cells.push_back(duration_text(row.step.seconds));
    cells.push_back(ends_text(row.step));
    cells.push_back(row.reached ? fmt::format("{:.0f}", row.reached->needed.steps) : "-");
    cells.push_back(row.reached ? duration_text(row.reached->time.seconds) : "-");
    cells.push_back(row.reached ? ends_text(row.reached->time) : "-");
    table.add(cells);
    add_line(lines, row.reached ? "Steps needed: " + steps_text(row.reached->needed) + "." : *row.refused);
  }
  Document out;
  out.heading(fmt::format("{} to {:.4g} %: time of a step x steps needed", said.network, 100 * said.accuracy));
  out.gap();
  out.add(table);
  out.gap();
  for (const auto& line : lines) out.paragraph(line);
  return out;
}

}  // namespace assay::report
