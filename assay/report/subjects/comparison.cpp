#include "assay/report/subjects/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "assay/core/text/units.hpp"
#include "assay/report/table.hpp"

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
  if (side.disturbed > 0) out += fmt::format("{} runs of the {} were disturbed and left out. ", side.disturbed, which);
  if (side.failed > 0) out += fmt::format("{} runs of the {} failed. ", side.failed, which);
  return out;
}

std::string part_text(const compare::PartDifference& part) {
  return fmt::format("{} {}{} ({} -> {})", fit(part.name, 60), part.seconds() < 0 ? "-" : "+",
                     format_duration(std::fabs(part.seconds()) * 1e9), format_duration(part.a_seconds * 1e9),
                     format_duration(part.b_seconds * 1e9));
}

std::string parts_lines(const std::vector<compare::PartDifference>& parts, const char* what) {
  if (parts.empty()) return "";
  std::string out = fmt::format("    {}: most in {}\n", what, part_text(parts[0]));
  for (std::size_t i = 1; i < std::min(parts.size(), kMostParts); ++i) out += "      " + part_text(parts[i]) + "\n";
  return out;
}

std::string explanation_lines(const ComparisonData& data, std::size_t i) {
  if (i >= data.explained.size()) return "";
  const auto& one = data.explained[i];
  if (one.phases.empty() && one.layers.empty())
    return "    Neither phases nor layers were timed on both sides; measure with --layers.\n";
  return parts_lines(one.phases, "by phase") + parts_lines(one.layers, "by layer");
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
  return duration_or_dash(side.median_ns) + (side.of_disturbed ? " *" : "");
}

/// "~1.021" where the host's speed was taken off: then it is not the quotient of the two medians.
std::string ratio_text(const Comparison& c) {
  if (!c.ratio) return "-";
  return fmt::format("{}{:.3f}", c.method == compare::Method::covariate ? "~" : "", *c.ratio);
}

std::string gate_lines(const ComparisonData& data) {
  const auto all = data.comparisons.all.size();
  const double percent = 100 * *data.gate;
  if (data.failed() > 0) {
    return fmt::format("Gate: {} of {} are slower by {:.2g} % or more.\n", data.failed(), all, percent);
  }
  if (data.open() == 0) return fmt::format("Gate: none is proved to be slower by {:.2g} % or more.\n", percent);
  auto out =
      fmt::format("Gate: UNDECIDED. {} of {} may be slower by {:.2g} % or more: that is neither proved nor excluded.\n",
                  data.open(), all, percent);
  if (!data.next_command.empty()) out += "Next: " + data.next_command + "\n";
  return out;
}

json side_json(const compare::Side& side) {
  return {{"trial_id", side.trial_id},
          {"trial", to_json(side.trial)},
          {"platform", side.platform},
          {"runs", side.runs},
          {"disturbed", side.disturbed},
          {"failed", side.failed},
          {"median_ns", to_json(side.median_ns)},
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

std::string terminal_comparison(const ComparisonData& data, std::size_t width) {
  std::string out = fmt::format("first: {}, second: {}\n", fit(data.a, 100), fit(data.b, 100));
  Table table({{"workload", Align::left},
               {"settings", Align::left},
               {"first", Align::right},
               {"second", Align::right},
               {"ratio", Align::right},
               {"95 % interval", Align::right},
               {"p", Align::right, 2},
               {"runs", Align::right, 1},
               {"verdict", Align::left, 0, true}});
  const auto any = [&](const auto& is) {
    return std::any_of(data.comparisons.all.begin(), data.comparisons.all.end(), is);
  };
  for (const auto& c : data.comparisons.all) {
    const auto settings = conditions(c.a.trial);
    const auto other = conditions(c.b.trial);
    table.add({subject(c), settings == other ? settings : settings + " | " + other, median_text(c.a), median_text(c.b),
               ratio_text(c),
               c.ratio_interval ? fmt::format("{:.3f} to {:.3f}", c.ratio_interval->low, c.ratio_interval->high) : "-",
               c.p ? fmt::format("{:.2g}", *c.p) : "-", runs_text(c), words_of(name_of(c.verdict))});
  }
  if (!data.comparisons.all.empty()) out += table.text(width) + table.room_note(width);
  if (any([](const Comparison& c) { return c.a.of_disturbed || c.b.of_disturbed; })) {
    out += "* Every run was disturbed: the medians are those of disturbed runs, and no verdict goes by them.\n";
  }
  if (any([](const Comparison& c) { return c.method == compare::Method::covariate; })) {
    out += "~ Adjusted: the host's own speed, by the probe in each run, is taken off the ratio.\n";
  }
  for (std::size_t i = 0; i < data.comparisons.all.size(); ++i) {
    const auto& c = data.comparisons.all[i];
    out += fmt::format("  {}: {} {}{}\n", subject(c), compare::sentence(c), left_out(c.a, "first"),
                       left_out(c.b, "second"));
    while (out.ends_with(" \n")) out.erase(out.size() - 2, 1);
    out += explanation_lines(data, i);
  }
  if (data.comparisons.only_a > 0) out += fmt::format("{} trials only the first has.\n", data.comparisons.only_a);
  if (data.comparisons.only_b > 0) out += fmt::format("{} trials only the second has.\n", data.comparisons.only_b);
  if (!data.calibrated) {
    out += "This host's own noise is not known here; `assay doctor --calibrate` learns it, and verdicts use it.\n";
  }
  if (data.gate) out += gate_lines(data);
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
    Check check;
    check.group = "assay compare";
    check.name = fmt::format("{}: {} against {}", title(c.a.trial), data.b, data.a);
    const bool open = data.gate ? compare::leaves_gate_open(c, *data.gate) : c.verdict == compare::Verdict::undecided;
    check.status = open                                            ? CheckStatus::undecided
                   : compare::fails_gate(c, data.gate.value_or(0)) ? CheckStatus::failed
                                                                   : CheckStatus::passed;
    check.message = compare::sentence(c);
    check.detail = fmt::format("first: {} (trial {})\nsecond: {} (trial {})", title(c.a.trial), c.a.trial_id,
                               title(c.b.trial), c.b.trial_id);
    out.push_back(std::move(check));
  }
  return out;
}

std::string terminal_calibration(const compare::Calibration& calibration, std::size_t width) {
  const auto& noise = calibration.noise;
  std::string out = fmt::format(
      "{} pairs of {} with itself.\nThe smallest difference that would be found here (4 of 5 cases, p < .01):\n",
      noise.pairs, fit(calibration.trial, 120));
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
  return out + table.text(width);
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
