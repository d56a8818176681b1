#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/predict/serving/stack.hpp"

namespace assay::predict {

/// The software that a point ran on: "trtllm", "1.0.0rc3", and the type of its weights.
struct StackName {
  std::string server;
  std::string version;
  ProductType weights = ProductType::bf16;

  std::string text() const;
  bool operator==(const StackName&) const = default;
};

/// A served point as somebody measured it.
struct ServingRow {
  std::string id;
  StackName stack;
  std::string device;  ///< of the catalogue
  ServingPoint point;
  std::optional<double> first_token_seconds;
  std::optional<double> token_seconds;
  std::string guessed;  ///< what no catalogue has and was put in its place, as a sentence; else empty
};

/// Rows of a CSV table, told by its columns: aiconfigurator's (backend, gpu_system, tp, input_tokens, concurrency …) or
/// splitwise's (gpu, tensor_parallel, prompt_tokens, batch_size, ttft_ms_median …). A model or a device that no
/// catalogue has is replaced by the nearest guess, which `guessed` says. Throws Error{bad_input} that names the file
/// where columns are missing.
std::vector<ServingRow> parse_serving_rows(std::string_view csv, const std::string& file);
std::vector<ServingRow> read_serving_rows(const std::string& path);

}  // namespace assay::predict
