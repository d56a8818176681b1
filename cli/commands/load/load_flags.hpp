#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "assay/load/load.hpp"
#include "cli/commands/load/load_runs.hpp"
#include "cli/flags/answer.hpp"

namespace assay::cli {

/// `assay load`, as flags say it.
struct LoadFlags {
  std::string url;
  std::string null_server;
  std::string arrivals = "poisson";
  std::vector<double> rates;
  std::int64_t clients = 0;
  std::int64_t burst = 0;
  std::int64_t turns = 0;
  std::string turn_gap;
  std::string trace;
  std::string duration;
  std::int64_t requests = 0;
  std::string warm_up = "1s";
  std::int64_t input = 128;
  std::int64_t output = 64;
  std::int64_t prefix = 0;
  std::int64_t seed = 1;
  std::string api;
  std::string model;
  std::string body;
  bool no_stream = false;
  bool ignore_eos = false;
  std::string key_file;
  std::string key_variable;
  std::vector<std::string> limits;
  bool find_rate = false;
  double most_rate = 10'000;
  std::string most_time = "60m";
  std::string precision = "5%";
  std::int64_t connections = 4096;
  std::string timeout = "60s";
  std::string lateness;
  double price = 0;
  bool no_certification = false;
  LoadRunFlags runs;
  std::string stamps;
  AnswerFlags answer;
  bool gate = false;
};

void add_load_flags(CLI::App& command, LoadFlags& flags);

/// Throws Error{usage} where flags contradict each other or would do nothing; reads the files that they name.
load::LoadQuestion question_of(const LoadFlags& flags, int stop_fd);
load::RateQuestion rates_of(const LoadFlags& flags, const load::LoadQuestion& question);

}  // namespace assay::cli
