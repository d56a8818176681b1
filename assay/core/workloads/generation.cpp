#include "assay/core/workloads/generation.hpp"

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t kMostContext = 1 << 20;
constexpr std::int64_t kMostSequences = 4096;
constexpr std::int64_t kMostTokens = 100'000;  // the times of a step's tokens fit one line of the protocol

void check_tokens(const char* field, std::int64_t value, std::int64_t most) {
  if (value < 1 || value > most) fail(ErrorKind::usage, "{}: {} is outside 1 to {}.", field, value, most);
}

}  // namespace

void check(const Generation& generation) {
  check_tokens("prompt_tokens", generation.prompt_tokens, kMostContext);
  check_tokens("output_tokens", generation.output_tokens, kMostTokens);
  check_tokens("sequences", generation.sequences, kMostSequences);
  if (generation.output_tokens * generation.sequences > kMostTokens) {
    fail(ErrorKind::usage, "output_tokens: {} for each of {} sequences are more than {} in a step.",
         generation.output_tokens, generation.sequences, kMostTokens);
  }
  if (generation.cache_precision && generation.cache_precision->empty()) {
    fail(ErrorKind::usage, "cache_precision: it is empty. Write one, such as fp16, or leave it out.");
  }
}

const std::vector<std::string>& language_models() {
  static const std::vector<std::string> all{"llama_9m", "llama_60m", "llama_300m", "tinyllama_1b"};
  return all;
}

bool is_language_model(const std::string& network) {
  const auto& all = language_models();
  return network.ends_with(".gguf") || std::find(all.begin(), all.end(), network) != all.end();
}

std::string title(const Generation& generation) {
  auto out = fmt::format("{}+{}", generation.prompt_tokens, generation.output_tokens);
  if (generation.sequences > 1) out += fmt::format(" x{}", generation.sequences);
  if (generation.cache_precision) out += " cache=" + *generation.cache_precision;
  if (generation.tokens != TokenChoice::forced) out += std::string(" ") + name_of(generation.tokens);
  return out;
}

}  // namespace assay
