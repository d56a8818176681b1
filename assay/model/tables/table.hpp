#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/model/role.hpp"

namespace assay::model {

/// Something that was varied, and may change a time.
struct Factor {
  std::string name;
  Role role = Role::intrinsic;
  /// Of its levels, where they are text: a value is the place of one, from 1.
  std::optional<std::vector<std::string>> names = std::nullopt;
};

template <typename V>
void describe(V& v, Factor& f) {
  required(v, "name", f.name);
  required(v, "role", f.role);
  v("names", f.names);
}

/// One measurement: what the factors were, and the time of a step.
struct Row {
  std::vector<double> values;  ///< in the order of the table's factors; positive
  double seconds = 0;
};

template <typename V>
void describe(V& v, Row& r) {
  required(v, "values", r.values);
  required(v, "seconds", r.seconds);
}

/// Measurements of one kind: all that tells rows apart are the factors. Rows with the same values are repeated runs.
struct Table {
  std::vector<Factor> factors;
  std::vector<Row> rows;
};

template <typename V>
void describe(V& v, Table& t) {
  required(v, "factors", t.factors);
  required(v, "rows", t.rows);
}

constexpr std::size_t kMostFactors = 24;
constexpr std::size_t kMostRows = 200'000;
constexpr std::size_t kMostLevels = 16;  ///< of a factor of text

/// Throws Error{bad_input} where a row has another number of values, a value or a time is not positive and finite, or a
/// factor of text is not the only one or has a value without a name.
void check(const Table& table);

/// The role that a factor of this name has where nobody says: batch and chunks are extrinsic; ranks, instances,
/// threads, gpus, nodes and such are parallel; anything else is intrinsic.
Role usual_role(std::string_view name);

/// Rows with the same values as one: what was measured of it, in the order of its runs.
struct Point {
  std::vector<double> values;
  std::vector<double> seconds;

  double median() const;
};

/// In the order of their first row.
std::vector<Point> points_of(const Table& table);

/// The medians of the points as a table of their own.
Table medians_of(const Table& table);

/// Distinct values of a factor, ascending.
std::vector<double> levels(const Table& table, std::size_t factor);

/// The factor of text; null where all are numbers.
const Factor* factor_of_text(const std::vector<Factor>& factors);

/// The rows of one level of a factor, without that factor.
Table rows_at(const Table& table, std::size_t factor, double level);

/// A table without the factors that were seen at one level; they are appended to `fixed`, with that level.
Table without_fixed(const Table& table, std::vector<std::pair<std::string, double>>& fixed);

/// A factor that goes with another throughout: each level of one is a level of the other.
struct Alias {
  std::string factor;
  std::string of;
};

/// The factors that go with the one of text, with FLOPs, which say most of a network, or with one before them.
std::vector<Alias> aliases_in(const Table& table);

bool is_alias(const std::vector<Alias>& aliases, const std::string& factor);

/// A table without those.
Table without_aliases(const Table& table, const std::vector<Alias>& aliases);

/// Identity of the data: a hash that does not depend on the order of its rows.
std::string identity(const Table& table);

/// The place of a factor; throws Error{bad_input} where there is none of that name.
std::size_t index_of(const std::vector<Factor>& factors, const std::string& name);

}  // namespace assay::model
