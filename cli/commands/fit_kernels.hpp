#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/flags/answer.hpp"

namespace assay::cli {

struct KernelFlags {
  std::vector<std::string> tables;
  std::string device;
};

void add_kernel_flags(CLI::App& command, KernelFlags& flags);

/// `assay fit --kernels` and `assay fit --device`: laws of a device's kernels, fitted or as the program knows them.
void fit_kernels(const KernelFlags& flags, const std::string& out, const AnswerFlags& wanted);

}  // namespace assay::cli
