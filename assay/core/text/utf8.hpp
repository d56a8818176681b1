#pragma once

#include <string>
#include <string_view>

namespace assay {

/// Length in bytes of the well-formed UTF-8 character that begins at `at`; 0 where there is none (RFC 3629: no overlong
/// forms, no surrogates, nothing above U+10FFFF). Precondition: at < text.size().
std::size_t utf8_character(std::string_view text, std::size_t at);

/// True for C0, DEL and C1 (which UTF-8 writes as c2 80 to c2 9f): a terminal may obey any of them.
/// Precondition: one well-formed character.
bool is_control(std::string_view character);

bool is_utf8(std::string_view text);

/// `text` as valid UTF-8 fit for a terminal and for JSON: control characters and malformed bytes become \xNN, and what
/// is beyond `limit` bytes is cut at a character and replaced by "…".
std::string printable(std::string_view text, std::size_t limit);

}  // namespace assay
