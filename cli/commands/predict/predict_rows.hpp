#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/predict/step/row_map.hpp"

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// Jobs of a table, as flags say it.
struct RowsFlags {
  std::string rows;     ///< CSV of jobs
  std::string columns;  ///< the map that says what its columns mean
};

void add_rows_flags(CLI::App& command, RowsFlags& flags);

/// Jobs of a table of at most 64 MiB. Throws Error{bad_input} that names the file.
predict::JobRows read_job_table(const std::string& path, const predict::RowMap& map);

/// Predicts every job of the table with constants of `calibrate`, or of the table's other jobs where that is empty, and
/// prints them.
void print_rows(const RowsFlags& flags, const std::string& calibrate, const AnswerFlags& wanted);

/// Throws Error{usage} that names the first option a person gave besides these, with the reason.
void refuse_others(const CLI::App& command, const std::vector<std::string>& effective, const std::string& why);

}  // namespace assay::cli
