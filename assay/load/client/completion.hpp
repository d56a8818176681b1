#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "assay/core/text/json.hpp"
#include "assay/load/queries/schedule.hpp"

namespace assay::load {

/// What is spoken with a server.
enum class Api {
  completions,  ///< OpenAI's /v1/completions
  chat,         ///< OpenAI's /v1/chat/completions
  http,         ///< plain requests: GET, or POST with a body
};

}  // namespace assay::load

template <>
struct assay::EnumNames<assay::load::Api> {
  static constexpr std::array<const char*, 3> names{"completions", "chat", "http"};
};

namespace assay::load {

/// What every request of a run has in common.
struct Form {
  Api api = Api::http;
  std::string model;
  bool stream = true;
  bool ignore_eos = false;  ///< asks for all output tokens; servers that do not know it may refuse it
  std::string body;         ///< of plain requests; empty: GET
  std::int64_t seed = 1;    ///< prompts are drawn from it
  std::int64_t point = 0;   ///< prompts of different points of one command differ
};

/// Appends a text of so many short words; the first `prefix_words` are the same for all requests of a seed.
void append_prompt(std::string& out, const Form& form, const Arrival& arrival, std::int64_t prefix_words);

/// The body of a request as JSON, or of a plain one as it is.
void append_body(std::string& out, const Form& form, const Arrival& arrival, std::int64_t prefix_words);

/// What a completion, or one event of its stream, says.
struct CompletionPart {
  bool valid = false;  ///< it is JSON
  bool has_text = false;
  bool is_error = false;
  std::optional<std::int64_t> input_tokens;
  std::optional<std::int64_t> output_tokens;
  std::optional<std::int64_t> cached_tokens;
};

/// Reads it in one pass and keeps no tree. Text of any length and depth is read within its own size.
CompletionPart read_completion(std::string_view text);

}  // namespace assay::load
