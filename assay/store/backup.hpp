#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace assay::store {

/// A copy of a store in one file.
struct Copied {
  std::string uuid;  ///< that of the store; empty where Assay 0.1 wrote it
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

/// Copies the store at `location` into a new file, as it is at one moment, while others go on writing to it. When it
/// returns, the copy is on the disk and was read back whole; until then no file has that name.
/// Throws Error{usage} where there is a file already, or the store is a database of a server, which has programs of its
/// own for this; else as Store does.
Copied back_up(const std::string& location, const std::filesystem::path& file);

struct Restored {
  Copied copied;
  std::filesystem::path aside;  ///< what was in its place; empty where nothing was
};

/// Puts a copy of `file`, a store in a file, at `location`. Where a store is there, or files of one, `replace` renames
/// them first; else that is Error{usage}. Throws Error{away} where another program uses the store that is there.
/// Whenever it is killed, the old store or the new one is whole, under its own name or the other.
Restored restore(const std::filesystem::path& file, const std::string& location, bool replace);

}  // namespace assay::store
