#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/report/look.hpp"

namespace assay::cli {

// Each subcommand is one file: it declares its flags on `app` and, when chosen, leaves its exit code in `exit_code`.
// Exit codes: 0 ok, 1 error, 2 usage, 3 a gate failed, 4 finished with failed runs, 130 stopped by Ctrl-C.

/// `behind` is what stood behind "--": a program to measure.
void add_run(CLI::App& app, const std::vector<std::string>& behind, int& exit_code);
/// `behind` is a program to start.
void add_exec(CLI::App& app, const std::vector<std::string>& behind, int& exit_code);
void add_agent(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_fit(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_history(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_scale(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_submit(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_worker(CLI::App& app, int& exit_code);
/// `assay worker install`; `worker` is the subcommand above it.
void add_worker_install(CLI::App& worker, int& exit_code);
void add_worker_equal(CLI::App& worker, int& exit_code);
void add_worker_audit(CLI::App& worker, int& exit_code);

constexpr int kExitGate = 3;
constexpr int kExitFailedRuns = 4;
constexpr int kExitStopped = 130;

/// "name=value" in two. Throws Error{usage} that names `flag` where it has no such form.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* flag);

/// Declares --store on a subcommand.
void add_store_option(CLI::App& command, std::string& store);

/// Columns of the terminal that stdout is; 0 where it is none: then nothing is shortened.
std::size_t terminal_width();

/// Whether stdout is a terminal that takes escape codes, and NO_COLOR does not forbid them.
bool colour_wanted();

/// What the terminal that stdout is can show, by the variables that every program of the terminal goes by.
report::Look terminal_look();

/// Writes to stdout; throws Error where that fails, as on a full disk behind a redirection.
void print(const std::string& text);

}  // namespace assay::cli
