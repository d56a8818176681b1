#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace assay::cli {

// Groups of flags that several commands have. Help shows them in this order, a command's own between Workload and
// Settings: what is measured, how, what is printed, and where it is kept and carried out.
constexpr const char* kWorkloadGroup = "What to measure";
constexpr const char* kSettingsGroup = "Settings to measure with";
constexpr const char* kMeasureGroup = "How to measure";
constexpr const char* kOutputGroup = "Output";
constexpr const char* kHostGroup = "Store and hosts";

/// Help in that order. Variables of the environment are named once, and not for every flag.
std::shared_ptr<CLI::Formatter> help_formatter();

/// Declares --json.
void add_json_flag(CLI::App& command, bool& json, const char* help = "Print as JSON");

}  // namespace assay::cli
