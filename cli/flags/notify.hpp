#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/compare/alert.hpp"

namespace assay::cli {

/// A command that hears of a gate that failed.
struct NotifyFlags {
  std::string command;
  std::string limit;  ///< empty: 60 s
};

/// Declares --notify and --notify-limit.
void add_notify_flags(CLI::App& command, NotifyFlags& flags);

/// Throws Error{usage} where the flags cannot be followed: before the gate is judged, so that a misspelt command is
/// found on the first day and not on the first slow-down.
void check_notify(const NotifyFlags& flags, bool gate);

/// Runs the command with the alert as JSON on its stdin and its main facts in variables ASSAY_ALERT_…; says on stderr
/// how it ended where that was not well. The gate's own outcome is not touched. Nothing where no command is given or
/// nothing became slower.
void notify(const NotifyFlags& flags, const compare::Alert& alert);

/// A command line as words, without a shell: blanks part words, quotes of either kind keep them together, and nothing
/// is expanded. Throws Error{usage} that names `flag` where a quote is not closed or there is no word.
std::vector<std::string> command_words(const std::string& text, const char* flag);

}  // namespace assay::cli
