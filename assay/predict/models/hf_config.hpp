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

/// Whether a user's name of a model is the path of a config.json.
bool is_hf_config(const std::string& name);

/// The model that a user names: of the catalogue, or by the path of its config.json.
ModelShape named_or_read_model(const std::string& name);

}  // namespace assay::predict
