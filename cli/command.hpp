#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "assay/report/look.hpp"

namespace assay::cli {

// Exit codes: 0 ok, 1 error, 2 usage, 3 a gate failed, 4 finished with failed runs, 5 a gate cannot decide, 130 stopped
// by Ctrl-C.

/// How the program was called, and how it ends.
struct Invocation {
  std::vector<std::string> program;  ///< what follows "--": a program to measure or to start
  std::vector<std::string> words;    ///< what stands before it, the command first
  int exit_code = 0;
};

/// A subcommand: a source in commands/ and a line of commands.inc.
struct Command {
  const char* name;
  const char* summary;
  /// Declares its flags on `command`, which is made already; when chosen, it leaves its exit code in `invocation`.
  void (*add)(CLI::App& command, Invocation& invocation);
};

namespace commands {
#define COMMAND(name) extern const Command name;
#include "cli/commands/commands.inc"
#undef COMMAND
}  // namespace commands

/// `assay worker install`; `worker` is the subcommand above it.
void add_worker_install(CLI::App& worker, int& exit_code);
void add_worker_equal(CLI::App& worker, int& exit_code);
void add_worker_audit(CLI::App& worker, int& exit_code);

constexpr int kExitGate = 3;
constexpr int kExitFailedRuns = 4;
constexpr int kExitUndecided = 5;
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
