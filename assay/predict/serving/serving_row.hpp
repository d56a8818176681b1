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
  std::string id;  ///< the table's, else the row's number from 1 on
  StackName stack;
  std::string device;  ///< of the catalogue
  ServingPoint point;
  std::optional<double> first_token_seconds;
  std::optional<double> token_seconds;
  std::string guessed;  ///< what no catalogue has and was put in its place, as a sentence; else empty
};

/// A row that is not predicted, and the reason as a sentence.
struct RefusedServingRow {
  std::string id;
  std::string why;
};

struct ServingTable {
  std::vector<ServingRow> rows;
  std::vector<RefusedServingRow> refused;
};

/// Rows of a CSV table, known by its columns: aiconfigurator's (backend, gpu_system, tp, input_tokens, concurrency …)
/// or splitwise's (gpu, tensor_parallel, prompt_tokens, batch_size, ttft_ms_median …). A model that no catalogue has is
/// replaced by one of the size that its name states, which `guessed` says. A row whose device is not known, whose split
/// the model does not allow, or whose numbers are missing is refused. Throws Error{bad_input} that names the file where
/// columns are missing.
ServingTable parse_serving_rows(std::string_view csv, const std::string& file);
ServingTable read_serving_rows(const std::string& path);

}  // namespace assay::predict
