#include "cli/commands/predict/predict_rows.hpp"

#include <algorithm>
#include <array>

#include "assay/core/text/file.hpp"
#include "assay/report/subjects/predict/rows.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kMostJobsBytes = 64u << 20;
/// Every form of the command answers to them.
constexpr std::array kAlwaysTaken{"--help", "--json", "--markdown"};

}  // namespace

predict::JobRows read_job_table(const std::string& path, const predict::RowMap& map) {
  const auto text = read_file(path, kMostJobsBytes);
  if (text.size() > kMostJobsBytes) fail(ErrorKind::bad_input, "{} is larger than 64 MiB. Leave out rows.", path);
  const predict::NamedColumns table(text, path, "A table of training jobs, one a row; docs/predict.md.");
  return read_jobs(table, map);
}

void add_rows_flags(CLI::App& command, RowsFlags& flags) {
  const char* group = "Jobs of a table";
  command
      .add_option("--rows", flags.rows,
                  "Predict every training job of this table (CSV; docs/predict.md), and score those that were measured")
      ->type_name("PATH")
      ->group(group);
  command
      .add_option("--columns", flags.columns, "Read the columns of --rows by this map (JSON; examples/rows has some)")
      ->type_name("PATH")
      ->group(group);
}

void print_rows(const RowsFlags& flags, const std::string& calibrate, const AnswerFlags& wanted) {
  if (flags.columns.empty()) {
    fail(ErrorKind::usage, "--columns is missing: a map that says what the columns of {} mean. examples/rows has some.",
         shown(flags.rows));
  }
  if (flags.rows.empty()) fail(ErrorKind::usage, "--columns is for a table of jobs. Name it: --rows FILE.");
  const auto map = predict::read_row_map(flags.columns);
  const auto jobs = read_job_table(flags.rows, map);
  predict::RowsPrediction said;
  if (calibrate.empty()) {
    said = predict_rows(map, jobs, nullptr);
  } else {
    const auto known = read_job_table(calibrate, map);
    said = predict_rows(map, jobs, &known);
  }
  answer(wanted, report::rows_prediction_document(said), [&] { return to_json(said); });
}

void refuse_others(const CLI::App& command, const std::vector<std::string>& effective, const std::string& why) {
  for (const auto* option : command.get_options()) {
    const auto name = option->get_name();
    if (option->count() == 0 || std::find(kAlwaysTaken.begin(), kAlwaysTaken.end(), name) != kAlwaysTaken.end())
      continue;
    if (std::find(effective.begin(), effective.end(), name) != effective.end()) continue;
    fail(ErrorKind::usage, "{} changes nothing here: {}. Leave it out.", name, why);
  }
}

}  // namespace assay::cli
