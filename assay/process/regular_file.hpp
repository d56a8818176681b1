#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "assay/process/spawn.hpp"

namespace assay::process {

struct OpenedFile {
  Fd file;             ///< empty where it could not be opened
  int error = 0;       ///< errno of that; 0 where something is there that is not a regular file
  std::string reason;  ///< the same in words: "Permission denied", "it is a FIFO, not a regular file"
};

/// Opens a file at a path that others can guess, perhaps in a folder that they can write. A symbolic link is not
/// followed; a FIFO or a device in its place is refused, and never waited for. `flags` are those of open(2).
OpenedFile open_regular(const std::filesystem::path& path, int flags, mode_t mode = 0600);

/// The same for a file that must be there or be made. Throws FileError, or Error{failure} where it is not a regular
/// file: "cannot {what} {path}: why."
Fd open_or_fail(const std::filesystem::path& path, int flags, const char* what, mode_t mode = 0600);

/// The text of a regular file of at most `limit` bytes; null otherwise.
std::optional<std::string> read_regular(const std::filesystem::path& path, std::size_t limit);

}  // namespace assay::process
