#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "cli/flags/answer.hpp"
#include "cli/flags/work.hpp"

namespace assay::cli {

/// How a host is made to tell its own noise.
struct CalibrateFlags {
  bool wanted = false;
  std::string worker;  ///< empty: the first one installed that has a gemm
  std::string network = "gemm";
  std::int64_t pairs = 20;
  std::string seconds = "2s";
};

void add_calibrate_flags(CLI::App& command, CalibrateFlags& flags);

/// Compares a trial with itself in lock-step pairs, keeps what that says of this host in the store, and prints it.
int calibrate(const CalibrateFlags& flags, const WorkFlags& work, const AnswerFlags& flags_of_answer);

}  // namespace assay::cli
