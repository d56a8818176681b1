#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "assay/report/exports/check.hpp"

namespace assay::cli {

/// Files in which a gate leaves what it found; empty names are left out.
struct CheckFiles {
  std::string junit;
  std::string markdown;
};

/// Declares --junit and --markdown on a subcommand.
void add_check_files(CLI::App& command, CheckFiles& files);

/// Writes the files that were asked for; throws Error where one cannot be written whole.
void write_check_files(const CheckFiles& files, const std::string& title, const std::vector<report::Check>& checks);

}  // namespace assay::cli
