#include "assay/report/subjects/verdicts/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/subjects/verdicts/gate.hpp"

namespace assay::report {
namespace {

using compare::Comparison;
using Align = Table::Align;

constexpr std::size_t kMostParts = 5;
constexpr std::array kRunsShown{6.0, 10.0, 20.0, 30.0};

/// What both sides have in common, and settings where they have not.
std::string subject(const Comparison& c) {
  return title(c.a.trial.workload) + (c.a.platform != c.b.platform ? " across platforms" : "");
}

std::string runs_text(const Comparison& c) {
  if (c.method == compare::Method::lockstep) return fmt::format("{} pairs", c.pairs);
  return fmt::format("{} + {}", c.a.runs, c.b.runs);
}

std::string left_out(const compare::Side& side, const char* which) {
  std::string out;
  if (side.disturbed > 0) out += fmt::format(" {} runs of the {} were disturbed and left out.", side.disturbed, which);
  if (side.failed > 0) out += fmt::format(" {} runs of the {} failed.", side.failed, which);
  return out;
}

std::string part_text(const compare::PartDifference& part) {
  return fmt::format("{} {}{} ({} -> {})", fit(part.name, 60), part.seconds() < 0 ? "-" : "+",
                     format_duration(std::fabs(part.seconds()) * 1e9), format_duration(part.a_seconds * 1e9),
                     format_duration(part.b_seconds * 1e9));
}

void add_parts(const std::vector<compare::PartDifference>& parts, const char* what, Document& out) {
  if (parts.empty()) return;
  out.item(fmt::format("{}: most in {}", what, part_text(parts[0])), 2);
  for (std::size_t i = 1; i < std::min(parts.size(), kMostParts); ++i) out.item(part_text(parts[i]), 3);
}

void add_explanation(const ComparisonData& data, std::size_t i, Document& out) {
  if (i >= data.explained.size()) return;
  const auto& one = data.explained[i];
  if (one.phases.empty() && one.layers.empty())
    return out.item("Neither phases nor layers were timed on both sides; measure with --layers.", 2);
  add_parts(one.phases, "by phase", out);
  add_parts(one.layers, "by layer", out);
}

json parts_json(const std::vector<compare::PartDifference>& parts) {
  json out = json::array();
  for (const auto& part : parts) {
    out.push_back({{"name", part.name}, {"a_seconds", part.a_seconds}, {"b_seconds", part.b_seconds}});
  }
  return out;
}

/// "12.3 ms *" where no undisturbed run is there.
std::string median_text(const compare::Side& side) {
  if (side.not_reached > 0 && !side.median_ns) return fmt::format("not reached ({})", compare::reached_text(side));
  return duration_or_dash(side.median_ns) + (side.of_disturbed ? " *" : "");
}

/// "~1.021" where the host's speed was taken off: then it is not the quotient of the two medians.
std::string ratio_text(const Comparison& c) {
  if (!c.ratio) return "-";
  return fmt::format("{}{:.3f}", c.method == compare::Method::covariate ? "~" : "", *c.ratio);
}

json side_json(const compare::Side& side) {
  return {{"trial_id", side.trial_id},
          {"trial", to_json(side.trial)},
          {"platform", side.platform},
          {"runs", side.runs},
          {"disturbed", side.disturbed},
          {"failed", side.failed},
          {"median_ns", to_json(side.median_ns)},
          {"not_reached", side.not_reached},
          {"of_disturbed", side.of_disturbed}};
}

json comparison_json(const ComparisonData& data, std::size_t i) {
  const auto& c = data.comparisons.all[i];
  json interval = nullptr;
  if (c.ratio_interval)
    interval = {{"low", c.ratio_interval->low}, {"high", c.ratio_interval->high}, {"confidence", 0.95}};
  json out = {{"a", side_json(c.a)},
              {"b", side_json(c.b)},
              {"method", name_of(c.method)},
              {"pairs", c.pairs},
              {"ratio", to_json(c.ratio)},
              {"ratio_interval", interval},
              {"p", to_json(c.p)},
              {"detectable", to_json(c.detectable)},
              {"threshold", c.threshold},
              {"verdict", name_of(c.verdict)},
              {"sentence", compare::sentence(c)},
              {"fails_gate", data.gate ? json(compare::fails_gate(c, *data.gate)) : json()},
              {"leaves_gate_open", data.gate ? json(compare::leaves_gate_open(c, *data.gate)) : json()}};
  if (i < data.explained.size()) {
    out["phases"] = parts_json(data.explained[i].phases);
    out["layers"] = parts_json(data.explained[i].layers);
  }
  return out;
}

Table comparison_table(const compare::Comparisons& comparisons) {
  Table table({{"workload", Align::left},
               {"settings", Align::left},
               {"first", Align::right},
               {"second", Align::right},
               {"ratio", Align::right},
               {"95 % interval", Align::right},
               {"p", Align::right, 2},
               {"runs", Align::right, 1},
               {"verdict", Align::left, 0, true}});
  for (const auto& c : comparisons.all) {
    const auto settings = conditions(c.a.trial);
    const auto other = conditions(c.b.trial);
    table.add({subject(c), settings == other ? settings : settings + " | " + other, median_text(c.a), median_text(c.b),
               ratio_text(c),
               c.ratio_interval ? fmt::format("{:.3f} to {:.3f}", c.ratio_interval->low, c.ratio_interval->high) : "-",
               c.p ? fmt::format("{:.2g}", *c.p) : "-", runs_text(c), words_of(name_of(c.verdict))});
  }
  return table;
}

/// What the signs in the table mean.
void add_legend(const compare::Comparisons& comparisons, Document& out) {
  const auto any = [&](const auto& is) { return std::any_of(comparisons.all.begin(), comparisons.all.end(), is); };
  if (any([](const Comparison& c) { return c.a.of_disturbed || c.b.of_disturbed; })) {
    out.paragraph("* Every run was disturbed: the medians are those of disturbed runs, and no verdict goes by them.");
  }
  if (any([](const Comparison& c) { return c.method == compare::Method::covariate; })) {
    out.paragraph("~ Adjusted: the host's own speed, by the probe in each run, is taken off the ratio.");
  }
}

std::string share_text(double log_difference) {
  return fmt::format("{:.1f} %", 100 * std::expm1(log_difference));
}

}  // namespace

std::int64_t ComparisonData::failed() const {
  if (!gate) return 0;
  return std::count_if(comparisons.all.begin(), comparisons.all.end(),
                       [&](const auto& c) { return compare::fails_gate(c, *gate); });
}

std::int64_t ComparisonData::open() const {
  if (!gate) return 0;
  return std::count_if(comparisons.all.begin(), comparisons.all.end(),
                       [&](const auto& c) { return compare::leaves_gate_open(c, *gate); });
}

Document comparison_document(const ComparisonData& data) {
  const auto& comparisons = data.comparisons;
  Document out;
  out.paragraph(fmt::format("first: {}, second: {}", fit(data.a, 100), fit(data.b, 100)));
  if (!comparisons.all.empty()) out.add(comparison_table(comparisons));
  add_legend(comparisons, out);
  for (std::size_t i = 0; i < comparisons.all.size(); ++i) {
    const auto& c = comparisons.all[i];
    out.item(
        fmt::format("{}: {}{}{}", subject(c), compare::sentence(c), left_out(c.a, "first"), left_out(c.b, "second")));
    add_explanation(data, i, out);
  }
  if (comparisons.only_a > 0) out.paragraph(fmt::format("{} trials only the first has.", comparisons.only_a));
  if (comparisons.only_b > 0) out.paragraph(fmt::format("{} trials only the second has.", comparisons.only_b));
  if (data.gate) {
    add_gate({*data.gate, data.failed(), data.open(), fmt::format(" of {}", comparisons.all.size()), "",
              data.next_command, !data.calibrated},
             out);
  } else if (!data.calibrated) {
    add_uncalibrated(out);
  }
  return out;
}

json json_comparison(const ComparisonData& data) {
  json out = {{"comparison_version", kComparisonVersion},
              {"a", data.a},
              {"b", data.b},
              {"comparisons", json::array()},
              {"only_a", data.comparisons.only_a},
              {"only_b", data.comparisons.only_b},
              {"gate", to_json(data.gate)},
              {"failed", data.failed()},
              {"open", data.open()},
              {"calibrated", data.calibrated}};
  for (std::size_t i = 0; i < data.comparisons.all.size(); ++i) out["comparisons"].push_back(comparison_json(data, i));
  return out;
}

std::vector<Check> checks_of(const ComparisonData& data) {
  std::vector<Check> out;
  for (const auto& c : data.comparisons.all) {
    out.push_back(check_of(c, data.gate, data.a, data.b, compare::sentence(c)));
  }
  return out;
}

Document noise_document(const compare::Calibration& calibration) {
  const auto& noise = calibration.noise;
  Document out;
  out.paragraph(fmt::format("{} pairs of {} with itself.", noise.pairs, fit(calibration.trial, 120)));
  out.paragraph("The smallest difference that would be found here (4 of 5 cases, p < .01):");
  Table table({{"method", Align::left},
               {"spread (sd)", Align::right},
               {"6 runs", Align::right},
               {"10", Align::right},
               {"20", Align::right},
               {"30", Align::right}});
  const auto add = [&](const char* name, compare::Method method, double sd) {
    std::vector<std::string> cells{name, share_text(sd)};
    for (const double n : kRunsShown) cells.push_back(share_text(compare::detectable(noise, method, n)));
    table.add(std::move(cells));
  };
  add("lock-step pairs", compare::Method::lockstep, noise.pair);
  if (noise.covariate) add("fresh processes, speed probe taken off", compare::Method::covariate, *noise.covariate);
  add("fresh processes", compare::Method::welch, noise.process);
  out.add(std::move(table));
  return out;
}

json json_calibration(const compare::Calibration& calibration) {
  json out = to_json(calibration);
  out["detectable"] = json::array();
  for (const auto method : {compare::Method::lockstep, compare::Method::covariate, compare::Method::welch}) {
    if (method == compare::Method::covariate && !calibration.noise.covariate) continue;
    for (const double n : kRunsShown) {
      out["detectable"].push_back({{"method", name_of(method)},
                                   {"runs", n},
                                   {"share", std::expm1(compare::detectable(calibration.noise, method, n))}});
    }
  }
  return out;
}

}  // namespace assay::report
