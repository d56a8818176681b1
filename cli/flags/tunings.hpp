#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "assay/tune/tuning.hpp"

namespace assay::cli {

/// The tuning that --tuned names: the newest of this name in the store, or a file (it ends with .json or has a /).
/// Throws Error{usage} that lists what there is.
tune::Tuning find_tuning(const std::string& tuned, const std::string& store);

/// Declares --emit on a subcommand.
CLI::Option* add_emit_option(CLI::App& command, std::string& format);

/// A tuning in the format that --emit names.
void print_emitted(const std::string& format, const tune::Tuning& tuning);

}  // namespace assay::cli
