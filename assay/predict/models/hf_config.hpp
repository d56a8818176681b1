#pragma once

#include <string>
#include <string_view>

#include "assay/predict/models/model_shape.hpp"

namespace assay::predict {

/// Reads a Hugging Face config.json: families Llama, Mistral, Mixtral, Qwen 2 and 3, DeepSeek, Kimi, GPT-OSS,
/// Nemotron-H, GPT-2, BERT and MPT. Throws Error{bad_input} that names the file, and the field that is missing or
/// wrong, or the family that is not known.
ModelShape parse_hf_config(std::string_view text, const std::string& file_name);

/// The same from a file of at most 1 MiB.
ModelShape read_hf_config(const std::string& path);

}  // namespace assay::predict
