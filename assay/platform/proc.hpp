#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::platform {

/// The text of a small file of /proc or /sys; null where it cannot be read. What is beyond `most`
/// bytes is left out.
std::optional<std::string> read_small_file(const std::string& path, std::size_t most = 1U << 20);

/// The same without the white space around it.
std::optional<std::string> read_word(const std::string& path);

/// An integer that stands alone in a file; null where it cannot be read.
std::optional<std::int64_t> read_integer_file(const std::string& path);

/// The integer behind `key` at the beginning of a line ("voluntary_ctxt_switches:\t12"); null where there is none.
std::optional<std::int64_t> integer_after(const std::string& text, const std::string& key);

}  // namespace assay::platform
