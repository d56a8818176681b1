#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags/answer.hpp"

namespace assay::cli {

struct LinkFlags {
  std::vector<std::string> collectives;  ///< files that other programs wrote
  std::string format;                    ///< of them; empty: seen from the text
  std::vector<std::int64_t> ranks;       ///< of each file, or one for all; empty: the files tell
  std::string collective;                ///< empty: the files tell
};

/// Declares --collectives, --format, --ranks and --collective.
void add_link_flags(CLI::App& command, LinkFlags& flags);

/// Fits links to the files of --collectives or, where there are none, to the collectives of a campaign in a store, and
/// prints them. Throws Error{usage} where there are no points.
void fit_link(const LinkFlags& flags, const std::string& store, const std::string& campaign, const AnswerFlags& wanted);

}  // namespace assay::cli
