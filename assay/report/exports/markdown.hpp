#pragma once

#include <string>
#include <string_view>

namespace assay::report {

/// Text for a line or a cell of GitHub's Markdown: one line, and nothing in it is markup, a link or HTML.
std::string markdown_text(std::string_view text);

}  // namespace assay::report
