#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace assay::cli {

/// Jobs of a table, as flags say it.
struct RowsFlags {
  std::string rows;     ///< CSV of jobs
  std::string columns;  ///< the map that says what its columns mean
};

void add_rows_flags(CLI::App& command, RowsFlags& flags);

/// Predicts every job of the table with constants of `calibrate`, or of the table's other jobs where that is empty, and
/// prints them.
void print_rows(const RowsFlags& flags, const std::string& calibrate, bool as_json);

/// Throws Error{usage} that names the first option a person gave besides these, with the reason.
void refuse_others(const CLI::App& command, const std::vector<std::string>& effective, const std::string& why);

}  // namespace assay::cli
