#pragma once

#include <cstdint>
#include <vector>

#include "assay/core/workloads/generation.hpp"
#include "workers/fake/law.hpp"

namespace assay::fake {

/// How long the fake worker takes for an answer. README.md says the same in prose.
struct GenerationLaw {
  double first_token_ns = 2'000'000;
  double prompt_token_ns = 10'000;  ///< more to the first token, for each token of all prompts
  double token_ns = 500'000;
  double growth_ns = 1'000;      ///< more for each token of the context
  std::int64_t stall_token = 0;  ///< which one stalls; 0: none
  double stall_ns = 0;           ///< how long
  std::int64_t stall_every = 5;  ///< in every so many-th step
  std::int64_t token_cores =
      0;  ///< threads that shorten a token after the first, more cost time; 0: as the law of steps
};

/// The law at these settings: prompts are read by prefill_threads, or else by intra_op, and tokens written by intra_op.
/// A stall takes as long with any number of threads.
GenerationLaw on_threads(const GenerationLaw& law, const Law& steps, const Settings& settings);

/// Of a whole answer without a stall, at factor 1.
double answer_ns(const GenerationLaw& law, const Generation& asked);

/// Fills `tokens_ns`, sequence after sequence, with the times of step `step`, each multiplied by `factor`. The time of
/// the last one.
std::int64_t answer_times(const GenerationLaw& law, const Generation& asked, std::int64_t step, double factor,
                          std::vector<std::int64_t>& tokens_ns);

}  // namespace assay::fake
