#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/core/text/json.hpp"

namespace assay {

/// How the tokens after a prompt are chosen. The work is the same; forced ones are also the same tokens on every
/// engine.
enum class TokenChoice { forced, greedy };

template <>
struct EnumNames<TokenChoice> {
  static constexpr std::array<const char*, 2> names{"forced", "greedy"};
};

/// What a language model is asked for in one step: prompts of one length, and answers of one length to all of them.
struct Generation {
  std::int64_t prompt_tokens = 128;            ///< of each sequence
  std::int64_t output_tokens = 64;             ///< of each sequence
  std::int64_t sequences = 1;                  ///< at once
  std::optional<std::string> cache_precision;  ///< of keys and values; null: as the engine has it
  TokenChoice tokens = TokenChoice::forced;
};

template <typename V>
void describe(V& v, Generation& g) {
  v("prompt_tokens", g.prompt_tokens);
  v("output_tokens", g.output_tokens);
  v("sequences", g.sequences);
  v("cache_precision", g.cache_precision);
  v("tokens", g.tokens);
}

/// Throws Error{usage} naming the field where a value is outside its range.
void check(const Generation& generation);

/// "128+64 x4 cache=q8_0 greedy": tokens of prompt and answer, then what is not the default.
std::string title(const Generation& generation);

/// Names of the models that workers make themselves, with weights drawn from a seed; their shapes are in
/// workers/common/assay_llama.py.
const std::vector<std::string>& language_models();

/// Whether a network is one of them, or a file of weights: it generates and does nothing else.
bool is_language_model(const std::string& network);

/// Figures of a run that generates, from its steps after the warm-up. Times are medians over steps and sequences.
struct GeneratedSummary {
  std::int64_t first_token_ns = 0;         ///< from the beginning of a step to a sequence's first token
  std::optional<std::int64_t> token_ns;    ///< from the first token of a sequence to its last, over their number less 1
  std::vector<std::int64_t> curve_ns;      ///< time of the second token, the third, …: one context each, never pooled
  std::optional<std::int64_t> longest_ns;  ///< between two tokens of a sequence: a stall, if there was one
  double prompt_tokens_per_second = 0;     ///< of all sequences, until each has its first token
  double output_tokens_per_second = 0;     ///< of all sequences, over the whole step
  std::optional<double> output_tokens_per_joule;
  std::optional<std::int64_t> weights_bytes;  ///< as the engine holds them
  std::optional<std::int64_t> cache_bytes;    ///< of keys and values, for all sequences
};

template <typename V>
void describe(V& v, GeneratedSummary& s) {
  required(v, "first_token_ns", s.first_token_ns);
  v("token_ns", s.token_ns);
  v("curve_ns", s.curve_ns);
  v("longest_ns", s.longest_ns);
  required(v, "prompt_tokens_per_second", s.prompt_tokens_per_second);
  required(v, "output_tokens_per_second", s.output_tokens_per_second);
  v("output_tokens_per_joule", s.output_tokens_per_joule);
  v("weights_bytes", s.weights_bytes);
  v("cache_bytes", s.cache_bytes);
}

/// Which time of a run is meant: of a whole step, or of a part of it where it generates.
enum class TimeOf { step, first_token, token };

template <>
struct EnumNames<TimeOf> {
  static constexpr std::array<const char*, 3> names{"step", "first_token", "token"};
};

}  // namespace assay
