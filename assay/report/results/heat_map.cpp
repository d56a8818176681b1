#include <algorithm>
#include <map>
#include <set>

#include "assay/report/report.hpp"
#include "assay/report/subjects/tuning.hpp"
#include "assay/report/table.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::report {
namespace {

/// Backgrounds of 256 colours from the best (green) to twice its cost and more (red), all readable under black text.
struct Shade {
  double most;
  int colour;
};
constexpr std::array<Shade, 7> kShades{
    {{1.02, 46}, {1.05, 82}, {1.1, 154}, {1.2, 226}, {1.5, 214}, {2, 208}, {1e300, 203}}};

std::string shaded(double ratio, const std::string& text) {
  const auto* shade = std::find_if(kShades.begin(), kShades.end(), [&](const Shade& one) { return ratio <= one.most; });
  return fmt::format("\033[30;48;5;{}m{}\033[0m", shade->colour, text);
}

/// Thread counts of a row or a column; null is what the framework chose.
using Count = std::optional<std::int64_t>;

std::string count_text(const Count& count) {
  return count ? std::to_string(*count) : "default";
}

using RowKey = std::pair<std::int64_t, Count>;  ///< instances, inter_op

/// Results that differ in numbers of threads and instances alone.
struct ThreadGroup {
  std::string name;
  std::string platform;
  bool instances = false;  ///< some have several
  std::set<RowKey> rows;
  std::set<Count> columns;
  std::vector<const Result*> results;
};

std::vector<ThreadGroup> thread_groups(const std::vector<Result>& results) {
  std::vector<ThreadGroup> groups;
  for (const auto& result : results) {
    if (!result.median_ns) continue;
    const auto& settings = result.trial.settings;
    Trial common = result.trial;
    common.settings.instances = common.settings.inter_op = common.settings.intra_op = std::nullopt;
    const auto name = title(common);
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& one) { return one.name == name && one.platform == result.platform; });
    if (group == groups.end()) {
      groups.push_back({name, result.platform, false, {}, {}, {}});
      group = groups.end() - 1;
    }
    group->instances = group->instances || settings.instances.value_or(1) > 1;
    group->rows.insert({settings.instances.value_or(1), settings.inter_op});
    group->columns.insert(settings.intra_op);
    group->results.push_back(&result);
  }
  return groups;
}

}  // namespace

Document settings_maps(const std::vector<Result>& results) {
  Document out;
  for (const auto& group : thread_groups(results)) {
    if (group.rows.size() < 2 || group.columns.size() < 2) continue;
    std::vector<tune::Tried> tried;
    for (const auto* result : group.results) {
      // Several instances take no less time for a step; what they do together is samples.
      if (group.instances && !result->samples_per_second) continue;
      tune::Tried one;
      one.settings = result->trial.settings;
      one.seconds = {group.instances ? 1 / *result->samples_per_second : *result->median_ns / 1e9};
      tried.push_back(std::move(one));
    }
    out.gap();
    out.paragraph(fmt::format("{} relative to the least, over numbers of threads: {}",
                              group.instances ? "Time for a sample" : "Time of a step", fit(group.name, 200)));
    out.add(CharacterMap{heat_map(tried, false), heat_map(tried, true)});
  }
  return out;
}

std::string heat_map(const std::vector<tune::Tried>& tried, bool colour) {
  std::map<RowKey, std::map<Count, double>> cells;
  std::map<Count, bool> columns;
  double best = 1e300;
  bool has_inter_op = false;
  for (const auto& one : tried) {
    if (one.seconds.empty()) continue;
    const auto& s = one.settings;
    const double seconds = stats::median(one.seconds);
    best = std::min(best, seconds);
    has_inter_op = has_inter_op || s.inter_op;
    auto [cell, is_new] = cells[{s.instances.value_or(1), s.inter_op}].emplace(s.intra_op, seconds);
    if (!is_new) cell->second = std::min(cell->second, seconds);
    columns[s.intra_op] = true;
  }
  if (columns.size() * cells.size() < 2) return {};
  constexpr std::size_t kCell = 9;
  std::string text = fmt::format("{:>9}", "instances");
  if (has_inter_op) text += fmt::format("{:>{}}", "inter_op", kCell + 1);
  for (const auto& [column, unused] : columns) text += fmt::format("{:>{}}", count_text(column), kCell);
  text += "   intra_op\n";
  for (const auto& [row, values] : cells) {
    text += fmt::format("{:>9}", row.first);
    if (has_inter_op) text += fmt::format("{:>{}}", count_text(row.second), kCell + 1);
    for (const auto& [column, unused] : columns) {
      const auto value = values.find(column);
      if (value == values.end()) {
        text += fmt::format("{:>{}}", ".", kCell);
        continue;
      }
      const double ratio = value->second / best;
      const auto number = fmt::format("{:.2f}", ratio);
      text += std::string(kCell - number.size(), ' ') + (colour ? shaded(ratio, number) : number);
    }
    text += "\n";
  }
  return text;
}

}  // namespace assay::report
