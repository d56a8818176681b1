#pragma once

#include <string>
#include <string_view>

#include "assay/report/document.hpp"

namespace assay::report {

/// A document as GitHub's Markdown. Text of a store is never taken for markup.
std::string as_markdown(const Document& document);

/// Text for a line or a cell of GitHub's Markdown: one line, and nothing in it is markup, a link or HTML.
std::string markdown_text(std::string_view text);

}  // namespace assay::report
