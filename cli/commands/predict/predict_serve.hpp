#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/flags/answer.hpp"

namespace assay::cli {

/// A served model, as flags say it.
struct ServeFlags {
  std::string model;
  std::string server = "vllm";
  std::string weights = "bf16";
  double rate = 0;
  std::int64_t concurrency = 0;
  std::int64_t prompt_tokens = 1024;
  std::int64_t output_tokens = 256;
  std::string lengths;
  std::vector<std::string> limits;
  std::vector<std::string> devices;
  std::string splits;
  std::vector<std::string> prices;
  std::int64_t sequences = 256;
  std::int64_t step_tokens = 0;
  std::string routing = "least_work";
  bool disaggregated = false;
  std::int64_t seed = 1;
};

void add_serve_flags(CLI::App& command, ServeFlags& flags);

/// Whether --serve was given. Throws Error{usage} that names the first flag that is only for a served model where it
/// was not, and the first flag that changes nothing where it was.
bool is_serve_asked(const CLI::App& command, const ServeFlags& flags);

/// How many servers hold the load, printed. `calibrate`: points that were measured, or empty.
void print_service(const ServeFlags& flags, const std::string& calibrate, const AnswerFlags& wanted);

}  // namespace assay::cli
