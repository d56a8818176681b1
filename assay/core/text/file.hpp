#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace assay {

/// The first bytes of a file: `limit` and one more, so that its reader sees that it is longer. Throws FileError where
/// it cannot be read, also for a folder: "cannot {what} {path}: why."
std::string read_file(const std::filesystem::path& path, std::size_t limit, const char* what = "read");

/// `length` bytes of a file from `begin`; fewer where it ends before. For files too large to be held whole. Throws as
/// read_file().
std::string read_file_part(const std::filesystem::path& path, std::size_t begin, std::size_t length);

/// Writes a whole file that only its user may read, under another name first: whoever looks finds all of it or nothing.
/// On the disk when it returns. Throws FileError.
void write_durably(const std::filesystem::path& path, const std::string& text);

}  // namespace assay
