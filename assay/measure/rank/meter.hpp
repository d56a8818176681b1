#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/process/spawn.hpp"

namespace assay::measure {

/// A user's program that tells the energy used so far: for each empty line it gets, it answers with a line of joules.
/// Precondition: SIGPIPE is ignored.
class Meter {
 public:
  /// Starts it; a program that does not start or does not answer is told by `problem`.
  Meter(const std::string& program, const std::vector<std::string>& environment);
  ~Meter();
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  /// Joules so far; null from the first problem on.
  std::optional<double> read();

  const std::optional<std::string>& problem() const { return problem_; }
  pid_t pid() const { return process_.pid; }

 private:
  std::optional<std::string> ask();

  std::string program_;
  process::Fd questions_;
  process::Fd answers_;
  process::Spawned process_;
  std::optional<std::string> problem_;
};

/// A number of joules alone in a line: finite, not negative; null where it is not one.
std::optional<double> parse_joules(const std::string& line);

}  // namespace assay::measure
