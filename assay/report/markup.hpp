#pragma once

#include <string>
#include <string_view>

#include "assay/core/text/json.hpp"

namespace assay::report {

/// Text as HTML and XML take it, in elements and in quoted attributes: nothing in it is markup. Control characters and
/// malformed UTF-8 are made visible, and what is beyond `limit` bytes is cut.
std::string escaped(std::string_view text, std::size_t limit = 2000);

/// An element of HTML with text, which is escaped here, and a line feed; attributes, each with a blank in front, are
/// written as they are.
std::string element(const char* tag, std::string_view text, const char* attributes = "");

/// JSON as a script element takes it: no character begins an element or a comment.
std::string script_json(const json& value);

/// One word of a command line for a POSIX shell, quoted where it must be.
std::string shell_word(const std::string& text);

}  // namespace assay::report
