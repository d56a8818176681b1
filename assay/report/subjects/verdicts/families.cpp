#include "assay/report/subjects/verdicts/families.hpp"

#include <algorithm>

#include "assay/core/text/units.hpp"
#include "assay/report/subjects/verdicts/gate.hpp"

namespace assay::report {
namespace {

using Align = Table::Align;

std::string interval_text(const std::optional<stats::Interval>& interval) {
  return interval ? fmt::format("{:.3f} to {:.3f}", interval->low, interval->high) : "-";
}

json interval_json(const std::optional<stats::Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", interval->low}, {"high", interval->high}, {"confidence", 0.95}};
}

/// What all sides have in common, and by how many groups or runs they are known.
std::string heading(const compare::Family& family) {
  std::int64_t groups = -1;
  for (const auto& pair : family.pairs) {
    const auto& c = pair.comparison;
    const auto own = c.method == compare::Method::lockstep ? c.pairs : 0;
    groups = groups < 0 ? own : std::min(groups, own);
  }
  return fmt::format(
      "{}, {}", title(family.sides.front().side.trial.workload),
      groups > 0 ? fmt::format("{} lock-step group{}", groups, groups == 1 ? "" : "s") : "independent processes");
}

void add_family(const FamiliesData& data, const compare::Family& family, Document& out) {
  Table table({{"side", Align::left},
               {"settings", Align::left},
               {"step", Align::right},
               {"ratio", Align::right},
               {"95 % interval", Align::right},
               {"runs", Align::right, 1}});
  for (std::size_t side = 0; side < family.sides.size(); ++side) {
    const auto& one = family.sides[side];
    const bool reference = side == family.reference;
    const bool never = one.side.not_reached > 0 && !one.side.median_ns;
    table.add({fit(data.names[side], 60), conditions(one.side.trial),
               never ? fmt::format("not reached ({})", compare::reached_text(one.side))
                     : duration_or_dash(one.side.median_ns),
               one.ratio ? fmt::format("{:.3f}", *one.ratio) : "-",
               reference ? "reference" : interval_text(one.ratio_interval), std::to_string(one.side.runs)});
  }
  out.paragraph(heading(family));
  out.add(std::move(table));
  for (const auto& pair : family.pairs) out.item(compare::sentence(pair, data.names));
}

json side_json(const FamiliesData& data, const compare::SideStanding& standing, std::size_t number) {
  const auto& side = standing.side;
  return {{"name", data.names[number]},
          {"trial_id", side.trial_id},
          {"trial", to_json(side.trial)},
          {"platform", side.platform},
          {"runs", side.runs},
          {"disturbed", side.disturbed},
          {"failed", side.failed},
          {"not_reached", side.not_reached},
          {"median_ns", to_json(side.median_ns)},
          {"ratio", to_json(standing.ratio)},
          {"ratio_interval", interval_json(standing.ratio_interval)}};
}

json pair_json(const FamiliesData& data, const compare::FamilyPair& pair) {
  const auto& c = pair.comparison;
  return {{"first", pair.first},
          {"second", pair.second},
          {"method", name_of(c.method)},
          {"groups", c.pairs},
          {"ratio", to_json(c.ratio)},
          {"ratio_interval", interval_json(c.ratio_interval)},
          {"p", to_json(c.p)},
          {"detectable", to_json(c.detectable)},
          {"threshold", c.threshold},
          {"verdict", name_of(c.verdict)},
          {"sentence", compare::sentence(pair, data.names)}};
}

json family_json(const FamiliesData& data, const compare::Family& family) {
  json out = {{"reference", family.reference}, {"sides", json::array()}, {"pairs", json::array()}};
  for (std::size_t i = 0; i < family.sides.size(); ++i) out["sides"].push_back(side_json(data, family.sides[i], i));
  for (const auto& pair : family.pairs) out["pairs"].push_back(pair_json(data, pair));
  return out;
}

/// Comparisons of a side with the first of which something is true.
template <typename Holds>
std::int64_t count_with_first(const compare::Families& families, const Holds& holds) {
  std::int64_t count = 0;
  for (const auto& family : families.all) {
    for (const auto& pair : family.pairs) count += pair.first == 0 && holds(pair.comparison) ? 1 : 0;
  }
  return count;
}

}  // namespace

std::int64_t FamiliesData::failed() const {
  return gate ? count_with_first(families, [&](const auto& c) { return compare::fails_gate(c, *gate); }) : 0;
}

std::int64_t FamiliesData::open() const {
  return gate ? count_with_first(families, [&](const auto& c) { return compare::leaves_gate_open(c, *gate); }) : 0;
}

Document families_document(const FamiliesData& data) {
  Document out;
  for (const auto& family : data.families.all) add_family(data, family, out);
  if (data.families.incomplete > 0) {
    out.paragraph(fmt::format("{} trials are not there for all sides and were left out.", data.families.incomplete));
  }
  out.paragraph(
      fmt::format("Ratios are of time, to {}. All verdicts together are wrong by chance in at most 1 % of cases.",
                  data.reference == compare::FamilyReference::first ? "the first side" : "the fastest side"));
  if (data.gate) {
    add_gate({*data.gate, data.failed(), data.open(), "", " than the first", data.next_command, !data.calibrated}, out);
  } else if (!data.calibrated) {
    add_uncalibrated(out);
  }
  return out;
}

json json_families(const FamiliesData& data) {
  json out = {{"families_version", kFamiliesVersion},
              {"sides", data.names},
              {"to", name_of(data.reference)},
              {"families", json::array()},
              {"incomplete", data.families.incomplete},
              {"gate", to_json(data.gate)},
              {"failed", data.failed()},
              {"open", data.open()},
              {"calibrated", data.calibrated}};
  for (const auto& family : data.families.all) out["families"].push_back(family_json(data, family));
  return out;
}

std::vector<Check> checks_of(const FamiliesData& data) {
  std::vector<Check> out;
  for (const auto& family : data.families.all) {
    for (const auto& pair : family.pairs) {
      if (pair.first != 0) continue;
      out.push_back(check_of(pair.comparison, data.gate, data.names[0], data.names[pair.second],
                             compare::sentence(pair, data.names)));
    }
  }
  return out;
}

}  // namespace assay::report
