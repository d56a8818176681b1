#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::command {

/// How a program ended.
struct Ended {
  std::int64_t took_ns = 0;  ///< from starting it to its end
  int exit_code = 0;
  int signal = 0;      ///< that ended it, or 0
  std::string output;  ///< the last 64 KiB of its stdout, where captured
};

/// Makes this process the reaper of all that programs leave behind, and lets SIGTERM end a running program too.
/// Call it once.
void adopt_orphans();

/// True where `program` can be started: a path, or a name on PATH.
bool is_program(const std::string& program);

/// Starts `argv` without a shell, stdin empty, stderr inherited, stdout captured or dropped, and waits for its end.
/// What it leaves running is killed before this returns, outside the time taken. Throws std::runtime_error where it
/// cannot be started.
Ended run_program(const std::vector<std::string>& argv, bool capture);

}  // namespace assay::command
