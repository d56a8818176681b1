#include "assay/report/subjects/scaling.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

namespace assay::report {
namespace {

std::string curve_title(const compare::ScaleCurve& curve, bool text) {
  const bool strong = curve.kind == compare::ScalingKind::strong;
  const bool threads = curve.by == compare::ScaledBy::threads;
  return fmt::format("{} scaling by {}: {}", strong ? "Strong" : "Weak", name_of(curve.by),
                     strong    ? std::string("the same step on more CPUs")
                     : threads ? fmt::format("{} with the CPUs", text ? "sequences that grow" : "a batch that grows")
                               : fmt::format("more instances with {} each", text ? "sequences" : "a batch"));
}

std::string why_empty(const compare::CurvePoint& point) {
  if (point.disturbed == 0) return "no run that counts";
  return fmt::format("all {} runs were disturbed", point.disturbed);
}

std::vector<std::string> cells_of(const compare::CurvePoint& point, bool is_first) {
  std::string interval;
  if (point.speedup_low) interval = fmt::format("{:.2f} to {:.2f}", *point.speedup_low, *point.speedup_high);
  const auto efficiency = is_first ? std::optional(1.0) : point.efficiency;
  return {std::to_string(point.cpus),
          fmt::format("{} x {}", point.instances, point.threads),
          std::to_string(point.batch),
          point.samples_per_second ? format_rate(*point.samples_per_second) : "-",
          is_first        ? "1"
          : point.speedup ? fmt::format("{:.2f}", *point.speedup)
                          : "-",
          interval,
          point.samples_per_second && efficiency ? fmt::format("{:.0f} %", 100 * *efficiency) : "-",
          point.samples_per_second && efficiency ? efficiency_bar(*efficiency) : why_empty(point)};
}

/// Of the largest point that was measured.
std::string serial_text(const compare::ScaleCurve& curve) {
  for (auto it = curve.points.rbegin(); it != curve.points.rend(); ++it) {
    if (!it->serial_share) continue;
    const auto share = *it->serial_share;
    auto text = fmt::format("At {} CPUs it is as if {:.0f} % of the work did not scale", it->cpus, 100 * share);
    if (share > 0.005)
      text += fmt::format("; then no number of CPUs makes it more than {:.1f} times as fast", 1 / share);
    return text + ".";
  }
  return "";
}

}  // namespace

Document scaling_document(const compare::ScalingStudy& study) {
  Document out;
  out.paragraph(fmt::format("{} on {} {}", title(study.workload), study.worker.name, study.worker.release));
  using Align = Table::Align;
  const bool text = study.workload.generate.has_value();
  for (const auto& curve : study.curves) {
    out.heading(curve_title(curve, text));
    Table table({{"CPUs", Align::right},
                 {"instances x threads", Align::right},
                 {text ? "sequences of each" : "batch of each", Align::right, 1},
                 {text ? "sequences/s" : "samples/s", Align::right},
                 {"speed-up", Align::right},
                 {"95 % interval", Align::right},
                 {"efficiency", Align::right},
                 {"", Align::left, 2, true}});
    for (const auto& point : curve.points) table.add(cells_of(point, &point == &curve.points.front()));
    out.add(std::move(table));
    if (const auto serial = serial_text(curve); !serial.empty()) out.paragraph(serial);
  }
  if (!study.left_out.empty()) out.gap();
  for (const auto& one : study.left_out) out.paragraph("left out: " + one);
  return out;
}

}  // namespace assay::report
