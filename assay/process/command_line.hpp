#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::process {

/// What a backslash outside of 'single' quotes does.
enum class Backslash {
  stands,   ///< for itself
  escapes,  ///< the next character, which then means nothing else
};

/// The words of a command line, separated by blanks; 'single' and "double" quotes keep blanks, and a quoted word may be
/// empty. Nothing is expanded: no shell reads it. Null where a quote is not closed.
std::optional<std::vector<std::string>> command_line_words(const std::string& text, Backslash backslash);

}  // namespace assay::process
