#include "workers/fake/generation.hpp"

#include <cmath>

#include "assay/core/error.hpp"

namespace assay::fake {
namespace {

double first_ns(const GenerationLaw& law, const Generation& asked) {
  return law.first_token_ns + law.prompt_token_ns * static_cast<double>(asked.prompt_tokens * asked.sequences);
}

double gap_ns(const GenerationLaw& law, const Generation& asked, std::int64_t token) {
  return law.token_ns + law.growth_ns * static_cast<double>(asked.prompt_tokens + token);
}

}  // namespace

GenerationLaw on_threads(const GenerationLaw& law, const Law& steps, const Settings& settings) {
  Settings reading = settings;
  if (settings.prefill_threads) reading.intra_op = settings.prefill_threads;
  Law writing = steps;
  if (law.token_cores > 0) writing.cores = writing.intra_most = law.token_cores;
  const double prefill = threads_factor(steps, reading) * steps.scale;
  const double decode = threads_factor(writing, settings) * steps.scale;
  GenerationLaw out = law;
  out.first_token_ns *= prefill;
  out.prompt_token_ns *= prefill;
  out.token_ns *= decode;
  out.growth_ns *= decode;
  return out;
}

double answer_ns(const GenerationLaw& law, const Generation& asked) {
  double total = first_ns(law, asked);
  for (std::int64_t i = 1; i < asked.output_tokens; ++i) total += gap_ns(law, asked, i);
  return total;
}

std::int64_t answer_times(const GenerationLaw& law, const Generation& asked, std::int64_t step, double factor,
                          std::vector<std::int64_t>& tokens_ns) {
  if (tokens_ns.empty()) return std::llround(answer_ns(law, asked) * factor);  // a detail was asked for
  ASSAY_CHECK(std::ssize(tokens_ns) == asked.sequences * asked.output_tokens);
  const bool stalls = law.stall_token > 0 && step % law.stall_every == law.stall_every - 1;
  double now = first_ns(law, asked) * factor;
  for (std::int64_t i = 0; i < asked.output_tokens; ++i) {
    if (i > 0) now += gap_ns(law, asked, i) * factor;
    if (stalls && i == law.stall_token) now += law.stall_ns;
    for (std::int64_t s = 0; s < asked.sequences; ++s)
      tokens_ns[static_cast<std::size_t>(s * asked.output_tokens + i)] = std::llround(now);
  }
  return std::llround(now);
}

}  // namespace assay::fake
