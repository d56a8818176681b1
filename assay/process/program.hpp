#pragma once

#include <functional>
#include <string>
#include <vector>

namespace assay::process {

/// How a program that was run to its end has ended.
struct ProgramEnd {
  bool stopped = false;  ///< before its end, because the user wanted so
  int error = 0;         ///< errno where it could not be started
  int exit_code = -1;    ///< -1 where a signal ended it
  int signal = 0;
  std::string output;  ///< what it wrote to stdout, at most 1 MiB
  std::string tail;    ///< the last of what it wrote to stdout and stderr together, at most 16 KiB

  bool ok() const { return error == 0 && !stopped && exit_code == 0; }
};

/// Runs a program to its end, without a shell, with what `input_fd` gives or no input; `line` is called with each line
/// it writes. Where `stop_fd` becomes readable, it and everything below this process is ended. The caller must be a
/// subreaper.
ProgramEnd run_program(const std::vector<std::string>& argv, const std::vector<std::string>& environment, int stop_fd,
                       const std::function<void(const std::string&)>& line, int input_fd = -1);

}  // namespace assay::process
