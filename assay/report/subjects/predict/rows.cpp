#include "assay/report/subjects/predict/rows.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string step_text(double seconds) {
  return format_duration(1e9 * seconds);
}

std::string memory_text(const predict::RowPrediction& row) {
  constexpr double kMostShownBytes = 9e18;
  const auto text = format_bytes(static_cast<std::int64_t>(std::min(row.memory_bytes, kMostShownBytes)));
  return row.fits ? text : text + ", does not fit";
}

std::string jobs_table(const predict::RowsPrediction& said, const Look& look) {
  const auto right = Table::Align::right;
  Table table({{"row", right},
               {"model"},
               {"device"},
               {"devices", right},
               {"step", right},
               {"90 % range", right, 1},
               {"measured", right},
               {"error", right},
               {"memory", right, 2},
               {"utilization", right, 3}});
  for (const auto& row : said.rows) {
    table.add({std::to_string(row.row), row.model, row.device, std::to_string(row.devices), step_text(row.seconds),
               step_text(row.low_seconds) + " to " + step_text(row.high_seconds),
               row.measured_seconds ? step_text(*row.measured_seconds) : "",
               row.error ? fmt::format("{:+.1f} %", 100 * *row.error) : "", memory_text(row),
               fmt::format("{:.1f} %", 100 * row.utilization)});
  }
  return table.text(look.width) + table.room_note(look.width);
}

}  // namespace

std::string rows_prediction_report(const predict::RowsPrediction& said, const Look& look) {
  std::string text = jobs_table(said, look);
  if (said.mean_error) {
    text +=
        fmt::format("\nError: mean {:.1f} %, median {:.1f} %, worst {:+.1f} %; {:.0f} % of the ranges hold.\n",
                    100 * *said.mean_error, 100 * *said.median_error, 100 * *said.worst_error, 100 * *said.held_share);
  }
  text += fmt::format("\nConstants of {} from {} rows:", said.stack, said.calibrated_rows);
  for (const auto& spec : predict::step_constant_specs()) {
    text += fmt::format(" {} {:.3g};", spec.name, said.constants.*spec.value);
  }
  text.back() = '.';
  text += "\n";
  for (const auto& row : said.rows) {
    for (const auto& what : row.assumed) text += fmt::format("Row {}: assumed {}.\n", row.row, what);
  }
  for (const auto& why : said.refused) text += fmt::format("Not predicted, {}.\n", why);
  for (const auto& note : said.notes) text += note + "\n";
  return text;
}

}  // namespace assay::report
