#include "assay/model/tables/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "assay/core/text/hash.hpp"
#include "assay/stats/quantile.hpp"

namespace assay::model {
namespace {

constexpr std::array kExtrinsic{"batch", "chunks",           "shards",       "loaders",       "prefetch",
                                "peak",  "memory_bandwidth", "link_latency", "link_bandwidth"};
constexpr std::array kParallel{"ranks", "instances", "threads", "intra_op", "inter_op",  "library_threads", "workers",
                               "gpus",  "devices",   "nodes",   "machines", "processes", "cores",           "cpus"};

void check_value(double value, const std::string& what, std::size_t row) {
  if (!std::isfinite(value) || value <= 0) {
    fail(ErrorKind::bad_input, "row {}: {} is {}; laws of powers need positive numbers.", row + 1, what, value);
  }
}

Table with_factors(const Table& table, const std::vector<std::size_t>& kept) {
  Table some;
  for (const auto f : kept) some.factors.push_back(table.factors[f]);
  for (const auto& row : table.rows) {
    auto& copy = some.rows.emplace_back();
    copy.seconds = row.seconds;
    for (const auto f : kept) copy.values.push_back(row.values[f]);
  }
  return some;
}

void check_names(const Table& table, std::size_t factor) {
  const auto& one = table.factors[factor];
  if (&one != factor_of_text(table.factors)) {
    fail(ErrorKind::bad_input, "{} and {} are both text: one law has one such factor.",
         shown(factor_of_text(table.factors)->name), shown(one.name));
  }
  if (one.names->size() > kMostLevels) {
    fail(ErrorKind::bad_input, "{} has {} levels: constants of their own are found for at most {}.", shown(one.name),
         one.names->size(), kMostLevels);
  }
  for (const auto& row : table.rows) {
    const double value = row.values[factor];
    if (value != std::floor(value) || value > static_cast<double>(one.names->size())) {
      fail(ErrorKind::bad_input, "{}: there is no level {}.", shown(one.name), value);
    }
  }
}

/// Whether each level of one factor is met with one level of the other only.
bool go_together(const Table& table, std::size_t one, std::size_t other) {
  std::map<double, double> forth;
  std::map<double, double> back;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
    const double a = row.values[one];
    const double b = row.values[other];
    return forth.emplace(a, b).first->second == b && back.emplace(b, a).first->second == a;
  });
}

}  // namespace

void check(const Table& table) {
  if (table.factors.size() > kMostFactors) {
    fail(ErrorKind::bad_input, "{} factors: at most {} can be separated.", table.factors.size(), kMostFactors);
  }
  if (table.rows.size() > kMostRows) {
    fail(ErrorKind::bad_input, "{} rows: at most {} are fitted.", table.rows.size(), kMostRows);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    if (row.values.size() != table.factors.size()) {
      fail(ErrorKind::bad_input, "row {} has {} values for {} factors.", i + 1, row.values.size(),
           table.factors.size());
    }
    for (std::size_t f = 0; f < row.values.size(); ++f) check_value(row.values[f], table.factors[f].name, i);
    check_value(row.seconds, "the time", i);
  }
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    if (table.factors[f].names) check_names(table, f);
  }
}

const Factor* factor_of_text(const std::vector<Factor>& factors) {
  const auto found = std::find_if(factors.begin(), factors.end(), [](const Factor& f) { return f.names.has_value(); });
  return found == factors.end() ? nullptr : &*found;
}

Table rows_at(const Table& table, std::size_t factor, double level) {
  std::vector<std::size_t> kept;
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    if (f != factor) kept.push_back(f);
  }
  Table some{table.factors, {}};
  std::copy_if(table.rows.begin(), table.rows.end(), std::back_inserter(some.rows),
               [&](const Row& row) { return row.values[factor] == level; });
  return with_factors(some, kept);
}

Role usual_role(std::string_view name) {
  const auto is = [&](const char* known) { return name == known; };
  if (std::any_of(kParallel.begin(), kParallel.end(), is)) return Role::parallel;
  if (std::any_of(kExtrinsic.begin(), kExtrinsic.end(), is)) return Role::extrinsic;
  return Role::intrinsic;
}

double Point::median() const {
  return stats::median(seconds);
}

std::vector<Point> points_of(const Table& table) {
  std::vector<Point> points;
  std::map<std::vector<double>, std::size_t> places;
  for (const auto& row : table.rows) {
    const auto [place, is_new] = places.emplace(row.values, points.size());
    if (is_new) points.push_back({row.values, {}});
    points[place->second].seconds.push_back(row.seconds);
  }
  return points;
}

Table medians_of(const Table& table) {
  Table medians{table.factors, {}};
  for (const auto& point : points_of(table)) medians.rows.push_back({point.values, point.median()});
  return medians;
}

std::vector<double> levels(const Table& table, std::size_t factor) {
  std::vector<double> found;
  for (const auto& row : table.rows) found.push_back(row.values[factor]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Table without_fixed(const Table& table, std::vector<std::pair<std::string, double>>& fixed) {
  std::vector<std::size_t> kept;
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    const auto seen = levels(table, f);
    if (seen.size() == 1) {
      fixed.emplace_back(table.factors[f].name, seen.front());
    } else {
      kept.push_back(f);
    }
  }
  return with_factors(table, kept);
}

std::vector<Alias> aliases_in(const Table& table) {
  std::vector<Alias> aliases;
  std::vector<std::size_t> order(table.factors.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), [&](std::size_t f) { return table.factors[f].name == "flops"; });
  std::stable_partition(order.begin(), order.end(), [&](std::size_t f) { return table.factors[f].names.has_value(); });
  std::vector<std::size_t> kept;
  for (const auto f : order) {
    const auto other = std::find_if(kept.begin(), kept.end(), [&](std::size_t k) { return go_together(table, k, f); });
    if (other == kept.end()) {
      kept.push_back(f);
    } else {
      aliases.push_back({table.factors[f].name, table.factors[*other].name});
    }
  }
  return aliases;
}

bool is_alias(const std::vector<Alias>& aliases, const std::string& factor) {
  return std::any_of(aliases.begin(), aliases.end(), [&](const Alias& alias) { return alias.factor == factor; });
}

Table without_aliases(const Table& table, const std::vector<Alias>& aliases) {
  std::vector<std::size_t> kept;
  for (std::size_t f = 0; f < table.factors.size(); ++f) {
    if (!is_alias(aliases, table.factors[f].name)) kept.push_back(f);
  }
  return with_factors(table, kept);
}

std::string identity(const Table& table) {
  json rows = json::array();
  auto sorted = table.rows;
  std::sort(sorted.begin(), sorted.end(),
            [](const Row& a, const Row& b) { return std::tie(a.values, a.seconds) < std::tie(b.values, b.seconds); });
  for (const auto& row : sorted) rows.push_back(to_json(row));
  return hash_hex(canonical_json({{"factors", to_json(table.factors)}, {"rows", rows}}));
}

std::size_t index_of(const std::vector<Factor>& factors, const std::string& name) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].name == name) return f;
  }
  fail(ErrorKind::bad_input, "there is no factor {}.", shown(name));
}

}  // namespace assay::model
