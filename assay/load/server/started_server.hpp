#pragma once

#include <string>
#include <vector>

#include "assay/load/client/client.hpp"
#include "assay/process/spawn.hpp"

namespace assay::load {

/// Words of a command line, separated by blanks; 'single' and "double" quotes keep blanks, and a backslash the next
/// character. Nothing is expanded: no shell reads it. Throws Error{usage} where a quote is not closed, the line is
/// empty, or a word looks like a key, which would be in every record.
std::vector<std::string> words_of_command(const std::string& text);

/// A server that Assay started, in a process group of its own; ended with everything below this process.
class StartedServer {
 public:
  /// Starts the program with the environment of this process and asks it until it answers a request of the form that
  /// will be sent, with status 2xx. Throws Error{failure} with the last of what it wrote where it ends before, cannot
  /// be started, or does not answer within `limit_seconds`.
  StartedServer(const std::vector<std::string>& argv, const Target& target, const Sending& sending,
                double limit_seconds);
  ~StartedServer();
  StartedServer(const StartedServer&) = delete;
  StartedServer& operator=(const StartedServer&) = delete;

  bool is_ready() const { return ready_; }  ///< false where `sending.stop_fd` became readable before it answered
  bool has_ended() const;                   ///< by itself
  std::string tail() const;                 ///< the last of what it wrote to stdout and stderr, at most 4 KiB

 private:
  void wait_until_ready(const Target& target, const Sending& sending, double limit_seconds);

  process::Fd log_;
  process::Spawned server_;
  bool ready_ = false;
};

}  // namespace assay::load
