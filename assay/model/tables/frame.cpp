#include "assay/model/tables/frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "assay/core/text/csv.hpp"
#include "assay/core/text/number.hpp"

namespace assay::model {
namespace {

struct Unit {
  const char* suffix;
  double seconds;
};
constexpr std::array kUnits{Unit{"_ms", 1e-3}, Unit{"_us", 1e-6}, Unit{"_ns", 1e-9}};

double unit_of(const std::string& column) {
  for (const auto& unit : kUnits) {
    if (column.ends_with(unit.suffix)) return unit.seconds;
  }
  return 1;
}

std::optional<double> number_in(const std::string& cell) {
  const auto value = parse_number<double>(cell);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::size_t column_named(const Frame& frame, const std::string& name, const char* flag) {
  const auto found = std::find(frame.columns.begin(), frame.columns.end(), name);
  if (found != frame.columns.end()) return static_cast<std::size_t>(found - frame.columns.begin());
  std::string names;
  for (const auto& column : frame.columns) names += (names.empty() ? "" : ", ") + column;
  fail(ErrorKind::usage, "{}: there is no column {}. There are {}.", flag, shown(name), shown(names, 300));
}

Frame chosen_rows(const Frame& frame, const std::map<std::string, std::string>& where) {
  Frame chosen{frame.columns, {}};
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [name, text] : where) wanted.emplace_back(column_named(frame, name, "--where"), text);
  for (const auto& row : frame.rows) {
    const auto fits = [&](const auto& one) { return row[one.first] == one.second; };
    if (std::all_of(wanted.begin(), wanted.end(), fits)) chosen.rows.push_back(row);
  }
  if (chosen.rows.empty()) fail(ErrorKind::usage, "no row is left to fit{}.", where.empty() ? "" : " after --where");
  return chosen;
}

/// Which columns are what.
struct Plan {
  std::size_t time = 0;
  std::vector<std::size_t> factors;
  std::vector<std::size_t> texts;
  std::optional<std::size_t> by;
};

Plan plan_of(const Frame& frame, const Columns& columns) {
  Plan plan;
  plan.time = column_named(frame, columns.time, "--time");
  for (const auto& name : columns.factors) plan.factors.push_back(column_named(frame, name, "--factors"));
  for (const auto& name : columns.ignored) static_cast<void>(column_named(frame, name, "--ignore"));
  for (const auto& [name, role] : columns.roles) static_cast<void>(column_named(frame, name, "--role"));
  if (!columns.by.empty()) plan.by = column_named(frame, columns.by, "--by");
  const auto also = std::find(plan.factors.begin(), plan.factors.end(), plan.by.value_or(frame.columns.size()));
  if (also != plan.factors.end() || plan.by == plan.time) {
    fail(ErrorKind::usage, "--by {}: that column is also named by --{}. A column is one thing.", shown(columns.by),
         plan.by == plan.time ? "time" : "factors");
  }
  for (std::size_t c = 0; c < frame.columns.size(); ++c) {
    const auto& name = frame.columns[c];
    const auto& ignored = columns.ignored;
    if (c == plan.time || c == plan.by || std::find(ignored.begin(), ignored.end(), name) != ignored.end()) continue;
    const auto is_gap = [&](const auto& row) { return row[c].empty(); };
    const auto is_number = [&](const auto& row) { return row[c].empty() || number_in(row[c]).has_value(); };
    const bool gaps = std::any_of(frame.rows.begin(), frame.rows.end(), is_gap);
    const bool all_gaps = std::all_of(frame.rows.begin(), frame.rows.end(), is_gap);
    const bool numbers = !all_gaps && std::all_of(frame.rows.begin(), frame.rows.end(), is_number);
    if (!numbers) {
      plan.texts.push_back(c);
    } else if (columns.factors.empty() && !gaps) {
      plan.factors.push_back(c);
    }
  }
  return plan;
}

double positive(const Frame& frame, std::size_t row, std::size_t column) {
  const auto& cell = frame.rows[row][column];
  const auto value = number_in(cell);
  if (value && *value > 0) return *value;
  fail(ErrorKind::usage,
       "column {}, row {}: {} is not a number above zero. Leave the row or, with --ignore, the column out.",
       shown(frame.columns[column]), row + 1, shown(cell));
}

/// The levels of a column, in the order of their names, and its factor.
Factor factor_by(const Frame& frame, std::size_t column) {
  std::set<std::string> names;
  for (std::size_t row = 0; row < frame.rows.size(); ++row) {
    const auto& cell = frame.rows[row][column];
    if (cell.empty()) {
      fail(ErrorKind::usage, "--by {}: row {} has no text there, so it has no level.", shown(frame.columns[column]),
           row + 1);
    }
    names.insert(cell);
  }
  return {frame.columns[column], Role::extrinsic, std::vector<std::string>(names.begin(), names.end())};
}

/// The place of a level, from 1.
double place_of(const Factor& factor, const std::string& name) {
  const auto at = std::find(factor.names->begin(), factor.names->end(), name);
  return static_cast<double>(at - factor.names->begin() + 1);
}

/// Leaves out the levels that other groups have and this one does not.
void keep_own_levels(Table& table) {
  auto& factor = table.factors.front();
  const auto seen = levels(table, 0);
  std::vector<std::string> names;
  for (const double level : seen) names.push_back((*factor.names)[static_cast<std::size_t>(level) - 1]);
  for (auto& row : table.rows) {
    row.values.front() =
        static_cast<double>(std::lower_bound(seen.begin(), seen.end(), row.values.front()) - seen.begin() + 1);
  }
  factor.names = std::move(names);
}

/// The texts that tell a group from the others.
std::string title_among(const std::vector<std::string>& texts, const std::map<std::vector<std::string>, Table>& all) {
  std::string title;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool differs = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first[i] != texts[i]; });
    if (differs && !texts[i].empty()) title += (title.empty() ? "" : ", ") + texts[i];
  }
  return title;
}

}  // namespace

std::string csv_of(const Frame& frame) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    text += "\n";
  };
  add(frame.columns);
  for (const auto& row : frame.rows) add(row);
  return text;
}

std::vector<Group> groups_of(const Frame& all, const Columns& columns) {
  const auto frame = chosen_rows(all, columns.where);
  const auto plan = plan_of(frame, columns);
  const double unit = unit_of(columns.time);
  std::vector<Factor> factors;
  if (plan.by) factors.push_back(factor_by(frame, *plan.by));
  for (const auto c : plan.factors) {
    const auto& name = frame.columns[c];
    const auto told = columns.roles.find(name);
    factors.push_back({name, told != columns.roles.end() ? told->second : usual_role(name), std::nullopt});
  }
  std::map<std::vector<std::string>, Table> tables;
  for (std::size_t i = 0; i < frame.rows.size(); ++i) {
    std::vector<std::string> texts;
    for (const auto c : plan.texts) texts.push_back(frame.rows[i][c]);
    auto& table = tables[texts];
    table.factors = factors;
    Row row;
    if (plan.by) row.values.push_back(place_of(factors.front(), frame.rows[i][*plan.by]));
    for (const auto c : plan.factors) row.values.push_back(positive(frame, i, c));
    row.seconds = unit * positive(frame, i, plan.time);
    table.rows.push_back(std::move(row));
  }
  std::vector<Group> groups;
  for (auto& [texts, table] : tables) {
    if (plan.by) keep_own_levels(table);
  }
  for (auto& [texts, table] : tables) groups.push_back({title_among(texts, tables), std::move(table)});
  return groups;
}

}  // namespace assay::model
