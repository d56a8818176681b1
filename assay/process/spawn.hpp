#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/process/descriptor.hpp"

namespace assay::process {

struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value", all of it
  int stdin_fd = -1;                     ///< -1: /dev/null
  int stdout_fd = -1;
  int stderr_fd = -1;
  std::vector<int> inherit;     ///< descriptors to leave open besides 0, 1, 2
  int parent_death_signal = 0;  ///< sent to the child when the calling thread ends
};

struct Spawned {
  pid_t pid = -1;
  Fd pidfd;       ///< readable when the process has ended
  int error = 0;  ///< errno of the step that failed; then pid is -1
};

/// Starts a program in a process group of its own, with default signals; no shell. argv[0] is looked up on PATH of the
/// *caller* where it has no slash. Every other descriptor of the caller is closed on exec (Assay opens all with
/// CLOEXEC).
Spawned spawn(const SpawnRequest& request);

/// Sends a signal to every process below this one; the number found.
std::size_t signal_descendants(int signal);

/// Ends every process below this one and reaps it: SIGTERM to `polite`, `grace_seconds` of patience, then SIGSTOP and
/// SIGKILL to all until none is left. The caller must be a subreaper, or escaped children would not be seen.
/// False where something survived 5 seconds of SIGKILL (in the kernel's hands only).
bool end_tree(pid_t polite, double grace_seconds);

}  // namespace assay::process
