#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "assay/predict/scaling.hpp"

namespace assay::cli {

/// How a job of synchronous SGD trains, as flags say it.
struct PracticeFlags {
  std::string scaling = "weak";
  std::string overlap = "wait_free";
  std::string fusion = "buckets";
  std::string bucket;
  std::string first_bucket;
  std::string all_reduce;
  std::string servers;
  std::optional<std::int64_t> server_count;
  std::string call;
  double slow_down = 0;  ///< 0: nobody says
  std::int64_t accumulation = 1;
  std::int64_t zero = 0;
  std::string optimizer = "sgd";
};

void add_practice_flags(CLI::App& command, PracticeFlags& flags);

/// Throws Error{usage} where flags do not go together. How much slower computing is while gradients travel stays 1.
predict::Practice practice_of(const PracticeFlags& flags, bool simulate);

}  // namespace assay::cli
