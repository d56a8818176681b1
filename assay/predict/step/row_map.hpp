#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/calibration/named_columns.hpp"
#include "assay/predict/step/step_law.hpp"

namespace assay::predict {

/// What a column of measured steps states.
enum class MeasuredKind { seconds, milliseconds, tokens_per_second_per_device };

/// Which rows are left out to choose the weights of a fit: what the jobs to predict are like.
enum class LeftOut {
  groups,  ///< each group in turn
  scale,   ///< those on the most devices
};

}  // namespace assay::predict

template <>
struct assay::EnumNames<assay::predict::MeasuredKind> {
  static constexpr std::array<const char*, 3> names{"seconds", "milliseconds", "tokens_per_second_per_device"};
};

template <>
struct assay::EnumNames<assay::predict::LeftOut> {
  static constexpr std::array<const char*, 2> names{"groups", "scale"};
};

namespace assay::predict {

/// How the columns of a table of training jobs are read, and which constants its software has. docs/predict.md has
/// every field of a job.
struct RowMap {
  std::string stack;                                                 ///< the software, for people
  std::map<std::string, std::string> columns;                        ///< field of a job -> column that has it
  std::map<std::string, std::string> fixed;                          ///< field of a job -> value of all rows
  std::map<std::string, std::map<std::string, std::string>> values;  ///< field -> text of a cell -> value
  std::string measured_column;
  MeasuredKind measured_kind = MeasuredKind::seconds;
  std::vector<std::string> group;       ///< columns whose values tell jobs apart, for ranges: whole groups are left out
  std::vector<std::string> constants;   ///< that rows of this table determine; the others stay where they start
  std::map<std::string, double> start;  ///< of constants, where it is not the usual one
  std::optional<double> pull;           ///< how strongly constants are held where they start; null: rows choose
  std::optional<double> softness;  ///< residuals beyond it count by their size and not their square; null: the same
  LeftOut choose_by = LeftOut::groups;  ///< where rows choose them
  bool by_device = false;               ///< constants for each device that has rows enough
  /// A factor for each value of these columns together, as far as rows show it. `model`, `device` and `kind` (dense, or
  /// with experts) are the job's own.
  std::vector<std::vector<std::string>> effects;
  std::map<std::string, ModelShape> models;    ///< by name, before those of the catalogue; not part of a file
  std::map<std::string, StepDevice> machines;  ///< the same for devices
};

template <typename V>
void describe(V& v, RowMap& m) {
  required(v, "stack", m.stack);
  required(v, "columns", m.columns);
  v("fixed", m.fixed);
  v("values", m.values);
  v("measured_column", m.measured_column);
  v("measured_kind", m.measured_kind);
  v("group", m.group);
  required(v, "constants", m.constants);
  v("start", m.start);
  v("pull", m.pull);
  v("softness", m.softness);
  v("choose_by", m.choose_by);
  v("by_device", m.by_device);
  v("effects", m.effects);
}

/// Reads a map of at most 1 MiB. Throws Error{bad_input} that names the file, and the field or constant that is not
/// known.
RowMap parse_row_map(std::string_view text, const std::string& file_name);
RowMap read_row_map(const std::string& path);

/// A row of a table as a job.
struct JobRow {
  std::size_t row = 0;  ///< from 0
  StepJob job;
  StepWork work;
  std::string model;   ///< as the row names it, or its shape
  std::string device;  ///< as the row names it
  std::string group;
  std::vector<std::string> effects;  ///< the row's value of each of the map's effects
  std::optional<double> measured_seconds;
  std::optional<double> measured_memory_bytes;
  std::vector<std::string> assumed;  ///< what the row did not state and was guessed
};

/// A row that no job could be made of, and why.
struct RefusedRow {
  std::size_t row = 0;
  std::string why;
};

struct JobRows {
  std::vector<JobRow> rows;
  std::vector<RefusedRow> refused;
};

/// Every row of a table. What one row lacks refuses that row alone. Throws Error{bad_input} where the table has no rows
/// or lacks a column that the map names and that no default stands for.
JobRows read_jobs(const NamedColumns& table, const RowMap& map);

}  // namespace assay::predict
