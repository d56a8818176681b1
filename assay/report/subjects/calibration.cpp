#include "assay/report/subjects/calibration.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

/// A latency at the least that is tried is one that the rows do not show.
std::string latency_text(double seconds) {
  constexpr double kNotSeen = 2e-9;
  return seconds < kNotSeen ? "not seen" : format_seconds(seconds);
}

std::string rate_text(double byte_seconds) {
  return fmt::format("{:.4g} GB/s", 1e-9 / byte_seconds);
}

Table links_table(const predict::ClusterCalibration& found) {
  const auto right = Table::Align::right;
  Table table({{"link"}, {"each crossing", right}, {"bytes", right}, {"spread of links", right}});
  for (const auto& [name, link] : found.constants.links) {
    table.add({name, latency_text(link.crossing_seconds), rate_text(link.byte_seconds),
               fmt::format("{:.1f} %", 100 * link.spread)});
  }
  return table;
}

Table jobs_table(const predict::ClusterCalibration& found) {
  const auto right = Table::Align::right;
  Table table({{"job"}, {"host", right}, {"slow-down while sending", right}});
  for (const auto& [name, job] : found.constants.jobs) {
    const bool overlaps = std::find(found.no_overlap.begin(), found.no_overlap.end(), name) == found.no_overlap.end();
    table.add({name, format_seconds(job.host_seconds), overlaps ? fmt::format("{:.2f}", job.slow_down) : "-"});
  }
  return table;
}

Table calibrated_table(const predict::ClusterCalibration& found) {
  const auto right = Table::Align::right;
  Table table({{"job"},
               {"link"},
               {"devices", right},
               {"messages", right},
               {"step", right},
               {"range", right},
               {"efficiency", right},
               {""}});
  for (const auto& point : found.points) {
    table.add(
        {point.job, point.link, std::to_string(point.devices), std::to_string(point.messages),
         format_seconds(point.seconds),
         point.low_seconds ? format_seconds(*point.low_seconds) + " to " + format_seconds(*point.high_seconds) : "",
         fmt::format("{:.1f} %", 100 * point.efficiency), efficiency_bar(point.efficiency)});
  }
  return table;
}

}  // namespace

Document calibration_document(const predict::ClusterCalibration& found) {
  const auto& constants = found.constants;
  Document out;
  out.paragraph(fmt::format("What every message costs: {}; bytes within a node: {}.",
                            latency_text(constants.call_seconds), rate_text(constants.inside_byte_seconds)));
  out.gap();
  if (!constants.links.empty()) {
    out.add(links_table(found));
    out.gap();
  }
  out.add(jobs_table(found));
  if (!found.no_overlap.empty()) out.paragraph("-: nothing is sent during the backward pass in these rows.");
  out.gap();
  out.paragraph(fmt::format("Error on the {} rows these are from: mean {:.1f} %, worst {:.1f} %. Other rows tell more.",
                            found.rows.size(), 100 * found.mean_error, 100 * found.worst_error));
  if (!found.points.empty()) {
    out.gap();
    out.add(calibrated_table(found));
    if (found.range_rows > 0) {
      constexpr std::int64_t kLeastForNineOfTen = 9;
      out.paragraph(fmt::format(
          "Ranges: as near as {} of {} rows are to what the others say of them, and as much again for each doubling of "
          "the devices beyond all rows.",
          found.range_rows < kLeastForNineOfTen ? "all" : "nine of ten", found.range_rows));
    }
  }
  return out;
}

}  // namespace assay::report
