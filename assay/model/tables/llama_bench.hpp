#pragma once

#include <string_view>

#include "assay/model/tables/frame.hpp"

namespace assay::model {

/// Whether a text looks like what `llama-bench -o json` prints.
bool is_llama_bench(std::string_view text);

/// A row for each repetition of each test: model, parameters, model_bytes, backend, release, threads, batch_tokens,
/// prefill_tokens, cache, phase, prompt_tokens, output_tokens, depth and seconds of the whole test. The phase is
/// "prefill" where only prompts were read, "decode" where only tokens were written, "answer" where both are in the
/// time. `depth` is what was in the cache before. Where a file has no single repetitions their mean is the one row of a
/// test. What it does not tell is "unknown", a number 0. Reads within limits; throws Error{bad_input} that names the
/// test.
Frame import_llama_bench(std::string_view text);

}  // namespace assay::model
